internal import Orientation
internal import RotationPolicy
internal import UprightFrames
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// The policy of a live session: evaluates events as they arrive, and returns the layout of each frame on the
/// canvas of each encode.
struct LivePolicy {
  /// Receives the decisions on a group of events, once.
  typealias Reply = @Sendable (Result<[RotationDecision], UprightError>) -> Void

  /// A group of events, posted together and evaluated at the next frame.
  private struct Post {
    var left = 0
    var answers: [RotationDecision] = []
    let reply: Reply
  }

  /// `nil` before the first frame.
  private var director: FrameDirector?
  /// Each event has the number of the post that receives the decision.
  private var waiting = WaitingEvents<Int>()
  private var posts: [Int: Post] = [:]
  private var postCount = 0
  private var hasEnded = false
  /// Decisions that the observer has not received.
  private var untold: [RotationDecision] = []
  /// The arrival times of rotations that no frame has shown yet.
  private var arrivals: [ContinuousClock.Instant] = []

  /// Starts with the first frame.
  mutating func begin(_ director: FrameDirector) { self.director = director }

  /// Whether events arrived before the first frame.
  var hasEarly: Bool { director == nil && !waiting.isEmpty }

  /// Adds events. `reply` receives the decisions on the events that take effect at the next frame, when that
  /// frame has arrived. A decision's `at` is the time of the frame that rotates. `reply` is called
  /// immediately if there are none: before the first frame, and for events in the future.
  ///
  /// The reply fails with `badData` for an event without a valid time or with an unknown name, and with
  /// `usage` if too many events wait. Events before the failing one remain in effect.
  mutating func post(_ events: [StreamEvent], reply: @escaping Reply) {
    var post = Post(reply: reply)
    postCount += 1
    do throws(UprightError) {
      for event in events {
        let isNext = try waiting.add(event, postCount)
        if isNext, director != nil { post.left += 1 }
      }
    } catch {
      return reply(.failure(error))
    }
    if post.left == 0 || hasEnded { return reply(.success([])) }
    posts[postCount] = post
  }

  /// Evaluates the events that are due at the frame at `seconds`, so that they take effect at that frame.
  private mutating func answer(at seconds: Double) {
    for due in waiting.take(upTo: seconds) {
      var event = due.event
      event.at = seconds
      let told = untold.count
      var failure: UprightError?
      do throws(UprightError) {
        try director?.push(event)
      } catch {
        // An unknown name is only detected when the event is due; the stream continues.
        if posts[due.sender] == nil || !due.isNext { refused += 1 }
        failure = error
      }
      collect()
      if due.isNext { settle(due.sender, Array(untold[told...]), failure) }
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
    guard let entries = director?.takeEntries(), !entries.isEmpty else { return }
    untold += entries
    if entries.contains(where: { $0.outcome == .rotate }), arrivals.count < 1024 {
      arrivals.append(.now)
    }
  }

  /// Returns the layout of the frame at `seconds` for each encode.
  mutating func direct(
    at seconds: Double, size: PixelSize, signal: OrientationSignal?
  ) throws(UprightError) -> [FrameDirection] {
    answer(at: seconds)
    let directions = try director?.directAll(at: seconds, size: size, signal: signal?.turn)
    director?.forget(before: seconds)
    collect()
    return directions ?? []
  }

  /// The number of events that were found invalid when they were due.
  private(set) var refused = 0

  /// Evaluates the remaining events.
  mutating func finish() {
    director?.finish()
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
