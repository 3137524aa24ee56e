internal import Orientation
internal import RotationPolicy
internal import UprightFrames
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// The policy of a live session: evaluates events as they arrive, and returns the layout of each frame. Each
/// encode has its own director. All directors receive the same events and make the same decisions.
struct LivePolicy {
  /// Receives the decisions on a group of events, once.
  typealias Reply = @Sendable (Result<[RotationDecision], UprightError>) -> Void

  /// A group of events, posted together and evaluated at the next frame.
  private struct Post {
    var left: Int
    var answers: [RotationDecision] = []
    let reply: Reply
  }

  private var directors: [FrameDirector] = []
  /// Events that are not evaluated yet, in the order of their times, each with the number of the post that
  /// receives the decision.
  private var waiting: [(event: RotationEvent, post: Int?)] = []
  private var posts: [Int: Post] = [:]
  private var postCount = 0
  private var hasEnded = false
  /// Decisions that the observer has not received.
  private var untold: [RotationDecision] = []
  /// The arrival times of rotations that no frame has shown yet.
  private var arrivals: [ContinuousClock.Instant] = []
  /// The last frame's time; minus infinity before the first.
  private var seconds = -Double.infinity

  /// The number of events that may wait.
  private static let capacity = 10_000

  /// Starts with the first frame.
  mutating func begin(_ directors: [FrameDirector]) { self.directors = directors }

  /// Whether events arrived before the first frame.
  var hasEarly: Bool { directors.isEmpty && !waiting.isEmpty }

  /// Adds events. `reply` receives the decisions on the events that take effect at the next frame, when that
  /// frame has arrived. A decision's `at` is the time of the frame that rotates. `reply` is called
  /// immediately if there are none: before the first frame, and for events in the future.
  ///
  /// The reply fails with `badData` for an event without a valid time or with an unknown name, and with
  /// `usage` if too many events wait. Events before the failing one remain in effect.
  mutating func post(_ events: [RotationEvent], reply: @escaping Reply) {
    var post = Post(left: 0, reply: reply)
    postCount += 1
    for event in events {
      guard !event.at.isNaN, event.at <= RotationEvent.latest else {
        return reply(
          .failure(
            UprightError(
              .badData, "\(event.at) is not a valid time", at: "at", remedy: "give seconds"))
        )
      }
      guard waiting.count < Self.capacity else {
        return reply(
          .failure(
            UprightError(
              .usage, "\(Self.capacity) events are already waiting", at: "at",
              remedy: "send them later")))
      }
      let isNext = !directors.isEmpty && event.at <= seconds
      var event = event
      event.at = max(event.at, seconds)
      if isNext { post.left += 1 }
      let index = waiting.firstIndex { $0.event.at > event.at } ?? waiting.count
      waiting.insert((event, isNext ? postCount : nil), at: index)
    }
    if post.left == 0 || hasEnded { return reply(.success([])) }
    posts[postCount] = post
  }

  /// Evaluates the events that are due at the frame at `seconds`, so that they take effect at that frame.
  private mutating func answer() {
    let due = waiting.prefix { $0.event.at <= seconds + OrientationTimeline.grain }
    waiting.removeFirst(due.count)
    for (event, number) in due {
      var event = event
      event.at = seconds
      let told = untold.count
      var failure: UprightError?
      do throws(UprightError) {
        for index in directors.indices { try directors[index].push(event) }
      } catch {
        // An unknown name is only detected when the event is due; the stream continues.
        if number == nil { refused += 1 }
        failure = error
      }
      collect()
      if let number { settle(number, Array(untold[told...]), failure) }
    }
  }

  private mutating func settle(
    _ number: Int, _ answers: [RotationDecision], _ failure: UprightError?
  ) {
    guard var post = posts[number] else { return }
    post.left -= 1
    post.answers += answers
    posts[number] = failure == nil && post.left > 0 ? post : nil
    if let failure { return post.reply(.failure(failure)) }
    if post.left == 0 { post.reply(.success(post.answers)) }
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

  /// Returns the layout of the frame at `seconds` for each encode.
  mutating func direct(
    at seconds: Double, size: PixelSize, signal: OrientationSignal?
  ) throws(UprightError) -> [FrameDirection] {
    self.seconds = seconds
    answer()
    var directions: [FrameDirection] = []
    for index in directors.indices {
      directions.append(
        try directors[index].direct(at: seconds, size: size, signal: signal?.turn))
      directors[index].forget(before: seconds)
    }
    collect()
    return directions
  }

  /// The number of events that were found invalid when they were due.
  private(set) var refused = 0

  /// Evaluates the remaining events.
  mutating func finish() {
    for index in directors.indices { directors[index].finish() }
    collect()
  }

  /// Completes all pending replies. No frame follows.
  mutating func close() {
    hasEnded = true
    for post in posts.values { post.reply(.success(post.answers)) }
    posts = [:]
  }

  /// Returns the decisions since the last call.
  mutating func takeAnswers() -> [RotationDecision] {
    defer { untold.removeAll() }
    return untold
  }

  /// Returns the arrival times of the rotations that the last frame is the first to show.
  mutating func takeArrivals() -> [ContinuousClock.Instant] {
    defer { arrivals.removeAll() }
    return arrivals
  }
}
