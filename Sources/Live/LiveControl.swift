internal import UprightOrientation
internal import UprightPolicy
internal import Synchronization
internal import UprightFrames
internal import UprightMediaIO
internal import UprightMedia

/// State shared by the threads of a live session: its policy, its snapshot, its interrupt and its input.
final class LiveControl: Sendable {
  /// Stops reading.
  let interrupt = Interrupt()
  /// What the reading thread passes to the decoding thread.
  let packets = ArrivedPackets()
  /// What the decoding thread passes to the session's thread. Further input waits undecoded: one decoded frame of 640x360
  /// takes as much memory as seconds of encoded video.
  let items = BoundedQueue<LiveItem>(capacity: 4)
  private let isResumed = Atomic(false)
  private let policyState = Mutex(LivePolicy())
  private let currentSnapshot: Mutex<LiveSnapshot>
  private let commands = Mutex(WaitingCommands())
  /// Who waits for a picture of the next frame.
  private let pictures = Mutex<[@Sendable (RGBPicture?) -> Void]>([])
  private let observer = Mutex<Observer?>(nil)

  /// A wrapper for the closure. A bare closure in a mutex would be wrapped again on each read, and the
  /// wrappers would accumulate.
  private struct Observer {
    let notify: @Sendable (LiveUpdate) -> Void
  }

  /// The number of latencies that are kept.
  private static let maxLatencies = 1024

  init() {
    currentSnapshot = Mutex(
      LiveSnapshot(
        state: .waiting, reason: nil, counters: LiveCounters(), appOrientation: nil,
        encodeResolution: nil, seconds: 0))
  }

  var snapshot: LiveSnapshot { currentSnapshot.withLock { $0 } }

  var state: LiveState { currentSnapshot.withLock { $0.state } }

  /// Whether the stream continues in a later run.
  var comesBack: Bool {
    get { isResumed.load(ordering: .acquiring) }
    set { isResumed.store(newValue, ordering: .releasing) }
  }

  /// Sets the closure that receives updates.
  func observe(_ body: @escaping @Sendable (LiveUpdate) -> Void) {
    observer.withLock { $0 = Observer(notify: body) }
  }

  func notify(_ update: LiveUpdate) { observer.withLock { $0 }?.notify(update) }

  /// The longer side of a picture, in pixels.
  static let pictureSide = 320

  /// The number of callers that may wait for a picture. Without frames nobody is answered.
  private static let maxPictures = 64

  /// Calls `reply` with a picture of the next frame, or with `nil` at once if too many wait.
  func askForPicture(_ reply: @escaping @Sendable (RGBPicture?) -> Void) {
    let isTaken = pictures.withLock { pictures in
      guard pictures.count < Self.maxPictures else { return false }
      pictures.append(reply)
      return true
    }
    if !isTaken { reply(nil) }
  }

  /// Whether somebody waits for a picture.
  var wantsPicture: Bool { pictures.withLock { !$0.isEmpty } }

  /// Gives a picture to all that wait for one; `nil` if no frame follows.
  func give(_ picture: RGBPicture?) {
    let waiting = pictures.withLock { pictures in
      defer { pictures = [] }
      return pictures
    }
    for reply in waiting { reply(picture) }
  }

  /// Accepts commands from now on.
  func acceptCommands() { commands.withLock { $0.open() } }

  /// Queues a command for the session's thread, or answers it if that isn't possible.
  func perform(_ command: LiveCommand) {
    if let error = commands.withLock({ $0.add(command) }) {
      command.fail(error)
    } else {
      items.wake()
    }
  }

  /// Stops reading, and ends the session.
  func stop() {
    interrupt.raise()
    items.wake()
  }

  /// Returns the commands since the last call.
  func takeCommands() -> [LiveCommand] { commands.withLock { $0.take() } }

  /// Answers all waiting commands, and accepts no others.
  func endCommands() {
    for command in commands.withLock({ $0.end() }) { command.fail(WaitingCommands.ended) }
  }

  /// Sets the status of the outputs, and notifies the observer of those whose state changed.
  func report(_ outputs: [LiveOutputStatus]) {
    let (changed, gone) = currentSnapshot.withLock { snapshot in
      let old = snapshot.outputs
      snapshot.outputs = outputs
      let changed = outputs.filter { new in
        !old.contains { $0.id == new.id && $0.state == new.state && $0.reason == new.reason }
      }
      return (changed, old.map(\.id).filter { id in !outputs.contains { $0.id == id } })
    }
    for id in gone { notify(.outputRemoved(id: id)) }
    for output in changed { notify(.output(output)) }
  }

  /// The same for one output that has not been removed.
  func report(_ output: LiveOutputStatus) {
    let isNew = currentSnapshot.withLock { snapshot in
      guard let index = snapshot.outputs.firstIndex(where: { $0.id == output.id }) else {
        return false
      }
      defer { snapshot.outputs[index] = output }
      return snapshot.outputs[index].state != output.state
    }
    if isNew { notify(.output(output)) }
  }

  /// Calls `body` with exclusive access to the policy.
  func policy<R>(
    _ body: (inout LivePolicy) throws(UprightError) -> R
  ) throws(UprightError) -> R {
    let result: Result<R, UprightError> = policyState.withLock { policy in
      do throws(UprightError) { return .success(try body(&policy)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Calls `body`, which can't throw, with exclusive access to the policy.
  func policy<R>(_ body: (inout LivePolicy) -> R) -> R { policyState.withLock { body(&$0) } }

  /// Changes the state, and notifies the observer if it is a new one.
  func enter(_ state: LiveState, reason: String? = nil) {
    let isNew = currentSnapshot.withLock { snapshot in
      // A waiting session may get another reason for waiting.
      let isOtherReason = state == .waiting && reason != nil && snapshot.reason != reason
      guard snapshot.state != state || isOtherReason else { return false }
      if state == .inputLost { snapshot.counters.inputLosses += 1 }
      (snapshot.state, snapshot.reason) = (state, reason)
      return true
    }
    if isNew { notify(.state(state, reason: reason)) }
  }

  /// Gives a live session a reason, if it has none.
  func explain(_ reason: String) {
    let isNew = currentSnapshot.withLock { snapshot in
      guard snapshot.state == .live, snapshot.reason == nil else { return false }
      snapshot.reason = reason
      return true
    }
    if isNew { notify(.state(.live, reason: reason)) }
  }

  /// Records how many seconds the session is behind while it is overloaded, or `nil` if it keeps up. Notifies
  /// the observer when an overload starts or ends.
  func recordBehind(_ seconds: Double?) {
    let reason: String?? = currentSnapshot.withLock { snapshot in
      let isChange = (snapshot.behind == nil) != (seconds == nil)
      snapshot.behind = seconds
      guard isChange, snapshot.state == .live else { return nil }
      // The number of seconds is `behind`, which changes with every frame.
      snapshot.reason = seconds.map { _ in "overloaded: frames are dropped" }
      return .some(snapshot.reason)
    }
    if let reason { notify(.state(.live, reason: reason)) }
  }

  /// Counts a dropped frame.
  func countDrop(_ reason: String) {
    currentSnapshot.withLock { $0.counters.dropped[reason, default: 0] += 1 }
  }

  /// Records an encoded frame, its layout on each canvas, and the arrival times of the rotations that it is the
  /// first to show.
  func recordFrame(
    _ direction: FrameDirection?, at seconds: Double, layouts: some Sequence<LiveLayout>,
    arrivals: [ContinuousClock.Instant]
  ) {
    currentSnapshot.withLock { snapshot in
      snapshot.seconds = seconds
      if !snapshot.layouts.elementsEqual(layouts) { snapshot.layouts = Array(layouts) }
      if let format = direction?.format {
        snapshot.appOrientation = format.appOrientation.name
        snapshot.encodeResolution = format.encodeResolution.description
      }
      guard !arrivals.isEmpty else { return }
      let times = arrivals.map(\.secondsUntilNow)
      snapshot.counters.eventToFrame += times
      for time in times { snapshot.counters.eventToFrameTimes.add(time) }
      let extra = snapshot.counters.eventToFrame.count - Self.maxLatencies
      if extra > 0 { snapshot.counters.eventToFrame.removeFirst(extra) }
    }
  }

  func update(_ body: (inout LiveSnapshot) -> Void) { currentSnapshot.withLock { body(&$0) } }

  /// Notifies the observer of the decisions since the last call.
  func reportDecisions() {
    let (decisions, refused) = policyState.withLock { ($0.takeDecisions(), $0.refused) }
    if refused > 0 { currentSnapshot.withLock { $0.counters.dropped["event"] = refused } }
    for decision in decisions { notify(.decision(decision)) }
  }
}
