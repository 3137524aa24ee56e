internal import Synchronization
internal import Upright
internal import UprightOrientation
internal import UprightPolicy

/// The publisher of the sample: a phone that films the scene and is held as the console's drawn phone is.
///
/// The frames turn with the phone. An event that turns it gets the time of the first frame that was filmed so.
final class SamplePublisher: Sendable {
  private struct State: Sendable {
    /// How the phone is held in the group that is sent now. Flat, it goes on as before.
    var held = DeviceOrientation.portrait
    /// How it is held from a later group on.
    var next: (group: Int, held: DeviceOrientation)?
    /// The number of the group that is sent now, since the start.
    var group = 0
    var start: ContinuousClock.Instant?
    var run: Task<Void, Never>?
    var turns: Task<Void, Never>?
  }

  private static let streams = SampleStreams()
  /// A group begins at least this long after the event that it answers, so that the session has the event before.
  private static let lead = Duration.milliseconds(80)
  /// An event precedes its frame by less than the distance of two frames, in seconds.
  private static let margin = 0.01
  /// How long the phone that turns by itself stays as it is.
  private static let pause = Duration.seconds(3)
  private static let order: [DeviceOrientation] = [
    .landscapeLeft, .portrait, .landscapeRight, .portrait,
  ]

  private let feed: PublishedFeed
  private let state = Mutex(State())

  init(_ feed: PublishedFeed) { self.feed = feed }

  /// Begins to publish, until `end`.
  func start() {
    state.withLock { state in
      guard state.run == nil else { return }
      state.run = Task { await self.publish() }
    }
  }

  /// Ends the stream.
  func end() {
    let tasks = state.withLock { [$0.run, $0.turns] }
    for case let task? in tasks { task.cancel() }
    feed.end()
  }

  private func publish() async {
    guard feed.begin() else { return }
    let start = ContinuousClock.now
    state.withLock { $0.start = start }
    for tag in Self.streams.parameters { _ = feed.write(tag.bytes(at: 0)) }
    let scene = Self.streams.groups * SampleStreams.groupMilliseconds
    guard scene > 0 else { return }
    for number in 0... {
      let held = begin(number)
      let round = number / Self.streams.groups * scene
      for tag in Self.streams.group(number, held: held) {
        let time = round + tag.milliseconds
        try? await Task.sleep(until: start + .milliseconds(time), clock: .continuous)
        if Task.isCancelled || feed.isClosed { return }
        // A session that can't keep up loses what comes until there is room.
        _ = feed.write(tag.bytes(at: time))
      }
    }
  }

  /// Returns how the phone is held in the group that begins.
  private func begin(_ group: Int) -> DeviceOrientation {
    state.withLock { state in
      state.group = group
      if let next = state.next, next.group <= group { (state.held, state.next) = (next.held, nil) }
      return state.held
    }
  }

  // MARK: - Turns

  /// Turns the phone by itself, until `stopTurning`. `post` is called with each event.
  func turn(post: @escaping @Sendable (StreamEvent) async -> Void) {
    state.withLock { state in
      guard state.turns == nil else { return }
      state.turns = Task {
        for number in 0... {
          try? await Task.sleep(for: Self.pause)
          if Task.isCancelled { return }
          await post(self.placed(.now(.device(Self.order[number % Self.order.count]))))
        }
      }
    }
  }

  /// Stops turning the phone, because somebody else does.
  func stopTurning() {
    state.withLock { state in
      state.turns?.cancel()
      state.turns = nil
    }
  }

  /// Returns an event for the next frame with the time of the first frame that shows it, and holds the phone so from then
  /// on. Of a phone's gravity the nearest orientation counts. Other events are returned as they are.
  func placed(_ event: StreamEvent) -> StreamEvent {
    guard case .now(let action) = event else { return event }
    switch action {
    case .device(let held): return .at(hold(held), .device(held))
    case .gravity(let x, let y, let z):
      guard let held = Self.held(x, y, z) else { return event }
      return .at(hold(held), .device(held))
    default: return event
    }
  }

  /// Holds the phone like this from the next possible group on. Returns the time of its event, in seconds.
  private func hold(_ held: DeviceOrientation) -> Double {
    let now = ContinuousClock.now
    return state.withLock { state in
      guard let start = state.start else {
        if held.interface != nil { state.held = held }
        return 0
      }
      var group = state.group + 1
      let begins = start + .milliseconds(group * SampleStreams.groupMilliseconds)
      if begins < now + Self.lead { group += 1 }
      group = max(group, state.next?.group ?? 0)
      if held.interface != nil { state.next = (group, held) }
      return Double(group * SampleStreams.groupMilliseconds) / 1000 - Self.margin
    }
  }

  /// Returns how a phone with this gravity is held; `nil` where that isn't clear.
  private static func held(_ x: Double, _ y: Double, _ z: Double) -> DeviceOrientation? {
    let (across, along) = (abs(x), abs(y))
    if abs(z) > 2 * max(across, along) { return z < 0 ? .faceUp : .faceDown }
    if along > 1.5 * across { return y < 0 ? .portrait : .portraitUpsideDown }
    if across > 1.5 * along { return x < 0 ? .landscapeLeft : .landscapeRight }
    return nil
  }
}
