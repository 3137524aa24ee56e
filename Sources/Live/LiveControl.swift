internal import Orientation
internal import RotationPolicy
internal import Synchronization
internal import UprightMediaIO
internal import UprightOrienting

/// What the threads of a live session share: its policy, what can be seen of it, and the wish to end.
final class LiveControl: Sendable {
  /// Ends reading.
  let interrupt = Interrupt()
  private let isResumed = Atomic(false)
  private let policyState = Mutex(LivePolicy())
  private let seen: Mutex<LiveSnapshot>
  private let observer = Mutex<Observer?>(nil)

  /// In a box: a bare closure would be wrapped anew for the mutex each time that it is read, and the
  /// wrappings stay.
  private struct Observer {
    let tell: @Sendable (LiveUpdate) -> Void
  }

  /// Measured times that are kept.
  private static let history = 1024

  init() {
    seen = Mutex(
      LiveSnapshot(
        state: .waiting, reason: nil, counters: LiveCounters(), appOrientation: nil,
        encodeResolution: nil, seconds: 0))
  }

  var snapshot: LiveSnapshot { seen.withLock { $0 } }

  var state: LiveState { seen.withLock { $0.state } }

  /// Whether the stream goes on in a later run.
  var comesBack: Bool {
    get { isResumed.load(ordering: .acquiring) }
    set { isResumed.store(newValue, ordering: .releasing) }
  }

  /// Whom to tell what happens.
  func observe(_ body: @escaping @Sendable (LiveUpdate) -> Void) {
    observer.withLock { $0 = Observer(tell: body) }
  }

  func tell(_ update: LiveUpdate) { observer.withLock { $0 }?.tell(update) }

  /// Asks or changes the policy.
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

  /// The same where nothing can go wrong.
  func policy<R>(_ body: (inout LivePolicy) -> R) -> R { policyState.withLock { body(&$0) } }

  /// Changes the state, and says so where it is another.
  func enter(_ state: LiveState, reason: String? = nil) {
    let isNew = seen.withLock { snapshot in
      // One that waits may have another reason to than before.
      let isOtherReason = state == .waiting && reason != nil && snapshot.reason != reason
      guard snapshot.state != state || isOtherReason else { return false }
      if state == .inputLost { snapshot.counters.inputLosses += 1 }
      (snapshot.state, snapshot.reason) = (state, reason)
      return true
    }
    if isNew { tell(.state(state, reason: reason)) }
  }

  /// Says how many seconds the session is behind while it is overloaded, `nil` if it keeps up; tells the
  /// observer when that begins and ends.
  func noteBehind(_ seconds: Double?) {
    let reason: String?? = seen.withLock { snapshot in
      let isChange = (snapshot.behind == nil) != (seconds == nil)
      snapshot.behind = seconds
      guard isChange, snapshot.state == .live else { return nil }
      snapshot.reason = seconds.map {
        "overloaded: \(($0 * 10).rounded() / 10) s behind the input, frames are dropped"
      }
      return .some(snapshot.reason)
    }
    if let reason { tell(.state(.live, reason: reason)) }
  }

  /// Counts a picture that was left out.
  func drop(_ reason: String) {
    seen.withLock { $0.counters.dropped[reason, default: 0] += 1 }
  }

  /// Notes a picture that was encoded, and when the turns were asked for that it is the first to obey.
  func note(_ direction: FrameDirection?, at seconds: Double, arrivals: [ContinuousClock.Instant]) {
    seen.withLock { snapshot in
      snapshot.seconds = seconds
      if let format = direction?.format {
        snapshot.appOrientation = format.appOrientation.name
        snapshot.encodeResolution = format.encodeResolution.description
      }
      guard !arrivals.isEmpty else { return }
      let times = arrivals.map(\.secondsUntilNow)
      snapshot.counters.eventToPicture += times
      for time in times { snapshot.counters.eventToPictureTimes.add(time) }
      let extra = snapshot.counters.eventToPicture.count - Self.history
      if extra > 0 { snapshot.counters.eventToPicture.removeFirst(extra) }
    }
  }

  func update(_ body: (inout LiveSnapshot) -> Void) { seen.withLock { body(&$0) } }

  /// Tells the answers that have come since the last time.
  func tellAnswers() {
    let (answers, refused) = policyState.withLock { ($0.takeAnswers(), $0.refused) }
    if refused > 0 { seen.withLock { $0.counters.dropped["event"] = refused } }
    for answer in answers { tell(.decision(answer)) }
  }
}
