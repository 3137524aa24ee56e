internal import DequeModule
internal import UprightMedia
internal import UprightOrientation
public import UprightPolicy
internal import UprightFrames
internal import UprightMediaIO

/// The policy of a live session at one moment.
public struct LivePolicyState: Sendable {
  /// The policy as it was given.
  public let document: PolicyDocument
  /// Its state, and its controllers as they are now.
  public let reducer: RotationReducer

  package init(document: PolicyDocument, reducer: RotationReducer) {
    self.document = document
    self.reducer = reducer
  }
}

/// The policy of a live session: evaluates events as they arrive, and returns the layout of each frame on the
/// canvas of each encode.
struct LivePolicy {
  /// Receives the decisions on a group of events, once.
  typealias Reply = @Sendable (Result<[RotationDecision], UprightError>) -> Void

  /// A group of events, posted together and evaluated at the next frame.
  private struct PendingPost {
    var left = 0
    var decisions: [RotationDecision] = []
    let reply: Reply
  }

  /// The policy as it was given last; `nil` before the session is created.
  var document: PolicyDocument?
  /// `nil` before the first frame.
  private var director: FrameDirector?
  /// Each event has the number of the post that receives the decision.
  private var waitingEvents = WaitingEvents<Int>()
  /// The events without a time of their own, each with the newest video that had arrived.
  private var arrivedEvents = Deque<(event: StreamEvent, mark: ArrivalMark, post: Int)>()
  /// Whether the input is lost. The frozen frame keeps its orientation, and what is decided holds from the next one.
  private var isPaused = false
  private var posts: [Int: PendingPost] = [:]
  private var postCount = 0
  private var hasEnded = false
  /// Decisions that the observer has not received.
  private var unreported: [RotationDecision] = []
  /// The arrival times of rotations that no frame has shown yet.
  private var arrivals: [ContinuousClock.Instant] = []
  private var turns = PendingTurns()

  /// Starts at the first frame, with the director of all encodes.
  mutating func start(with director: FrameDirector) { self.director = director }

  /// The policy and its state at the last frame.
  var current: LivePolicyState? {
    guard let document, let reducer = director?.plan.reducer ?? (try? RotationReducer(document))
    else { return nil }
    return LivePolicyState(document: document, reducer: reducer)
  }

  /// Whether events arrived before the first frame.
  var hasEarlyEvents: Bool {
    director == nil && !(waitingEvents.isEmpty && arrivedEvents.isEmpty)
  }

  /// Adds events. One without a time takes effect at the frame that `mark` names, which was the newest to have arrived.
  /// `reply` receives the decisions on those, when that frame is shown, and on those that are due at the next frame. A
  /// decision's `at` is the time of the frame that rotates. `reply` is called immediately if there are none: before the
  /// first frame, while the input is lost, and for events in the future.
  ///
  /// The reply fails with `badData` for an event without a valid time or with an unknown name, and with
  /// `usage` if too many events wait. Events before the failing one remain in effect.
  mutating func post(
    _ events: [StreamEvent], after mark: ArrivalMark, reply: @escaping Reply
  ) {
    var post = PendingPost(reply: reply)
    postCount += 1
    do throws(UprightError) {
      for event in events {
        if try add(event, after: mark), director != nil, !isPaused { post.left += 1 }
      }
    } catch {
      return reply(.failure(error))
    }
    if post.left == 0 || hasEnded { return reply(.success([])) }
    posts[postCount] = post
  }

  /// Adds an event. Returns whether it is due as soon as its frame has arrived.
  private mutating func add(
    _ event: StreamEvent, after mark: ArrivalMark
  ) throws(UprightError) -> Bool {
    guard event.time == nil else { return try waitingEvents.add(event, postCount) }
    guard waitingEvents.space > arrivedEvents.count else { throw WaitingEvents<Int>.full }
    arrivedEvents.append((event, mark, postCount))
    return true
  }

  /// Holds back all events while the input is lost. Answers those that wait for a frame.
  mutating func pause() {
    isPaused = true
    answerPosts()
  }

  /// The next frame is a new one: the events that arrived up to `mark` take effect at it.
  mutating func resume(upTo mark: ArrivalMark) {
    isPaused = false
    while let next = arrivedEvents.first, next.mark <= mark {
      arrivedEvents.removeFirst()
      // It has no time, and there is room for it.
      _ = try? waitingEvents.add(next.event, next.post)
    }
  }

  /// Evaluates the events that are due at the frame at `seconds`, so that they take effect at that frame.
  private mutating func evaluateEvents(at seconds: Double) {
    if isPaused { return }
    for due in waitingEvents.take(upTo: seconds) {
      var event = due.event
      event.at = seconds
      let first = unreported.count
      var failure: UprightError?
      do throws(UprightError) {
        try director?.push(event)
      } catch {
        // An unknown name is only detected when the event is due; the stream continues.
        if posts[due.sender] == nil || !due.isNext { refused += 1 }
        failure = error
      }
      collectDecisions()
      if due.isNext { complete(due.sender, Array(unreported[first...]), failure) }
    }
  }

  private mutating func complete(
    _ number: Int, _ decisions: [RotationDecision], _ failure: UprightError?
  ) {
    guard var post = posts[number] else { return }
    post.left -= 1
    post.decisions += decisions
    posts[number] = failure == nil && post.left > 0 ? post : nil
    if let failure { return post.reply(.failure(failure)) }
    if post.left == 0 { post.reply(.success(post.decisions)) }
  }

  private mutating func collectDecisions() {
    guard let entries = director?.takeEntries(), !entries.isEmpty else { return }
    unreported += entries
    turns.add(entries)
    if entries.contains(where: { $0.outcome == .rotate }), arrivals.count < 1024 {
      arrivals.append(.now)
    }
  }

  /// Determines the layout of the frame at `seconds` on the director's own canvas, then for each encode.
  ///
  /// - Parameter directions: Is replaced. It remains as it is if there is no director.
  mutating func direct(
    at seconds: Double, size: PixelSize, signal: OrientationSignal?,
    into directions: inout [FrameDirection]
  ) throws(UprightError) {
    evaluateEvents(at: seconds)
    try director?.directAll(at: seconds, size: size, signal: signal?.turn, into: &directions)
    director?.forget(before: seconds)
    collectDecisions()
  }

  /// Replaces the policy at the frame at `seconds`, after the events that are due at it. Returns the decisions
  /// of that.
  mutating func replace(
    with document: PolicyDocument, at seconds: Double
  ) throws(UprightError) -> [RotationDecision] {
    evaluateEvents(at: seconds)
    let first = unreported.count
    try director?.push(RotationEvent(at: seconds, .policy(document)))
    collectDecisions()
    return Array(unreported[first...])
  }

  /// Sets whether `focus` events have an effect from now on.
  mutating func takesFocus(_ isTaken: Bool) { director?.takesFocus = isTaken }

  /// Adds a canvas, for another encode.
  mutating func add(_ canvas: DirectedCanvas) { director?.add(canvas) }

  /// Changes the sizes of the canvas of the encode with this index.
  mutating func resize(canvas index: Int, to guidance: StreamGuidance) {
    director?.resize(canvas: index, to: guidance)
  }

  /// Removes the canvas of the encode with this index.
  mutating func removeCanvas(at index: Int) { director?.removeCanvas(at: index) }

  /// The number of events that were found invalid when they were due.
  private(set) var refused = 0

  /// Evaluates the remaining events.
  mutating func finish() {
    director?.finish()
    collectDecisions()
  }

  /// Completes all pending replies. No frame follows.
  mutating func close() {
    hasEnded = true
    answerPosts()
  }

  private mutating func answerPosts() {
    for post in posts.values { post.reply(.success(post.decisions)) }
    posts = [:]
  }

  /// Returns the decisions since the last call.
  mutating func takeDecisions() -> [RotationDecision] {
    defer { unreported.removeAll() }
    return unreported
  }

  /// Logs the turns that have ended at the frame at `seconds`, which was directed last.
  ///
  /// - Parameter time: The time of its packets.
  mutating func logTurns(upTo seconds: Double, as time: MediaTime, in log: TurnLog) {
    turns.log(upTo: seconds, as: time, in: log)
  }

  /// Returns the arrival times of the rotations that the last frame is the first to show.
  mutating func takeArrivals() -> [ContinuousClock.Instant] {
    defer { arrivals.removeAll() }
    return arrivals
  }
}
