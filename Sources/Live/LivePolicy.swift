internal import Orientation
internal import RotationPolicy
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// The policy of a live session: answers events when they come, and says for each picture how it is laid
/// out. Each form has a director of its own; all are told the same and decide the same.
struct LivePolicy {
  /// Receives the answers to events that were posted together, once.
  typealias Reply = @Sendable (Result<[RotationDecision], UprightError>) -> Void

  /// Events that were posted together and are answered at the next frame.
  private struct Post {
    var left: Int
    var answers: [RotationDecision] = []
    let reply: Reply
  }

  private var directors: [FrameDirector] = []
  /// Events that no frame has answered yet, in the order of their times, each with the number of the post
  /// that its answer belongs to.
  private var waiting: [(event: RotationEvent, post: Int?)] = []
  private var posts: [Int: Post] = [:]
  private var postCount = 0
  private var hasEnded = false
  /// Answers that the observer has not been told.
  private var untold: [RotationDecision] = []
  /// When turns that no picture has shown yet were asked for.
  private var arrivals: [ContinuousClock.Instant] = []
  /// The last frame's time; minus infinity before the first.
  private var seconds = -Double.infinity

  /// Events that may wait.
  private static let capacity = 10_000

  /// Begins at the first picture.
  mutating func begin(_ directors: [FrameDirector]) { self.directors = directors }

  /// Whether events came before the first picture.
  var hasEarly: Bool { directors.isEmpty && !waiting.isEmpty }

  /// Takes events. `reply` receives the answers to those that the next frame obeys, when that frame has
  /// come: a decision's `at` is the time of the frame that turns. It is called at once where there are
  /// none: before the first frame, and for events whose time is still to come.
  ///
  /// The reply fails with `badData` for an event without a time or with a name that means nothing, with
  /// `usage` if too many wait; the events before it stand.
  mutating func post(_ events: [RotationEvent], reply: @escaping Reply) {
    var post = Post(left: 0, reply: reply)
    postCount += 1
    for event in events {
      guard !event.at.isNaN, event.at <= RotationEvent.latest else {
        return reply(
          .failure(
            UprightError(.badData, "\(event.at) is no time", at: "at", remedy: "give seconds"))
        )
      }
      guard waiting.count < Self.capacity else {
        return reply(
          .failure(
            UprightError(
              .usage, "\(Self.capacity) events wait already", at: "at", remedy: "send them later")))
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

  /// Answers what waits for the frame at `seconds`: that frame obeys it.
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
        // An unknown name is found out when its time comes; the stream goes on.
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

  /// What is to be done with the picture at `seconds`, form by form.
  mutating func direct(
    at seconds: Double, size: PixelSize, signal: OrientationSignal?
  ) throws(UprightError) -> [FrameDirection] {
    self.seconds = seconds
    answer()
    var directions: [FrameDirection] = []
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

  /// No frame will come any more: nobody waits for one.
  mutating func close() {
    hasEnded = true
    for post in posts.values { post.reply(.success(post.answers)) }
    posts = [:]
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
