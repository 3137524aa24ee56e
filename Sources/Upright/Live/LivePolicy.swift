internal import MediaIO
internal import Orientation
internal import RotationPolicy

/// The policy of a live session: answers events when they come, and says for each picture how it is laid
/// out. Each form has a director of its own; all are told the same and decide the same.
struct LivePolicy {
  private var directors: [FrameDirector] = []
  /// Those whose time has not come, in its order.
  private var waiting: [RotationEvent] = []
  /// Those that came before the first picture, in their own order.
  private var early: [RotationEvent] = []
  /// Answers that the observer has not been told.
  private var untold: [RotationDecision] = []
  /// When turns that no picture has shown yet were asked for.
  private var arrivals: [ContinuousClock.Instant] = []
  /// The last picture's time.
  private(set) var seconds = 0.0

  /// Events that may wait.
  private static let capacity = 10_000

  /// Whether the first picture has been.
  var hasBegun: Bool { !directors.isEmpty }

  /// Begins at the first picture.
  mutating func begin(_ directors: [FrameDirector]) throws(MediaError) {
    self.directors = directors
    let early = self.early
    self.early = []
    for event in early { try place(event) }
  }

  /// Whether events came before the first picture.
  var hasEarly: Bool { !early.isEmpty }

  /// Takes events; returns the answers that came at once.
  ///
  /// - Throws: `badData` for an event that no state of the policy could answer, `usage` where too many
  ///   wait; those before it stand.
  mutating func post(_ events: [RotationEvent]) throws(MediaError) -> [RotationDecision] {
    let told = untold.count
    for event in events {
      guard !event.at.isNaN, event.at <= RotationEvent.latest else {
        throw MediaError(.badData, "\(event.at) is no time", at: "at", remedy: "give seconds")
      }
      guard waiting.count + early.count < Self.capacity else {
        throw MediaError(
          .usage, "\(Self.capacity) events wait already", at: "at", remedy: "send them later")
      }
      if hasBegun { try place(event) } else { early.append(event) }
    }
    return Array(untold[told...])
  }

  private mutating func place(_ event: RotationEvent) throws(MediaError) {
    guard event.at > seconds else { return try answer(event) }
    let index = waiting.firstIndex { $0.at > event.at } ?? waiting.count
    waiting.insert(event, at: index)
  }

  /// Answers an event as of the last picture: the next one obeys it.
  private mutating func answer(_ event: RotationEvent) throws(MediaError) {
    var event = event
    event.at = seconds
    for index in directors.indices { try directors[index].push(event) }
    collect()
  }

  private mutating func collect() {
    for index in directors.indices {
      let entries = directors[index].takeEntries()
      guard index == 0 else { continue }
      untold += entries
      if entries.contains(where: { $0.outcome == .rotate }), arrivals.count < 1024 {
        arrivals.append(.now)
      }
    }
  }

  /// What is to be done with the picture at `seconds`, form by form.
  mutating func direct(
    at seconds: Double, size: PixelSize, signal: OrientationSignal?
  ) throws(MediaError) -> [Direction] {
    self.seconds = seconds
    while let event = waiting.first, event.at <= seconds + OrientationTimeline.grain {
      waiting.removeFirst()
      // An unknown name is found out when its time comes; the stream goes on.
      do throws(MediaError) { try answer(event) } catch { refused += 1 }
    }
    var directions: [Direction] = []
    for index in directors.indices {
      directions.append(
        try directors[index].direct(at: seconds, size: size, signal: signal))
      directors[index].forget(before: seconds)
    }
    collect()
    return directions
  }

  /// Events whose time came and that made no sense then.
  private(set) var refused = 0

  /// Answers what is still open.
  mutating func finish() {
    for index in directors.indices { directors[index].finish() }
    collect()
  }

  /// The answers since the last call.
  mutating func takeAnswers() -> [RotationDecision] {
    defer { untold.removeAll() }
    return untold
  }

  /// When the turns were asked for that the picture just made is the first to obey.
  mutating func takeArrivals() -> [ContinuousClock.Instant] {
    defer { arrivals.removeAll() }
    return arrivals
  }
}
