internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import RotationPolicy
internal import Synchronization
internal import UprightFiles
internal import UprightLive

/// `GET /v1/sessions/{id}/events`: what a session tells, as server-sent events (HTML, 9.2).
struct EventStreamRoutes: Sendable {
  /// How long is waited for what.
  struct Times: Sendable {
    /// Between two comments on a silent stream: proxies close what is silent.
    var heartbeat = Duration.seconds(15)
    /// Until a reader that takes nothing is cut off.
    var stall = Duration.seconds(10)
  }

  let sessions: Sessions
  var times = Times()

  func add(to router: Router<ServiceContext>) {
    router.get("/v1/sessions/:id/events") { request, context in
      let hosted = try sessions.find(context.parameters.require("id"))
      return try stream(hosted, request, context.channel)
    }
  }

  private func stream(
    _ hosted: HostedSession, _ request: Request, _ channel: any Channel
  ) throws -> Response {
    let feed = hosted.feed
    guard let subscription = feed.subscribe() else {
      throw Problem.tooMany("too many read the events of this session")
    }
    let given = request.headers[.lastEventID].flatMap(Int.init)
    let last = feed.last
    var start = min(max(given ?? last, 0), last)
    var greeting = ": \(hosted.id)\nretry: 2000\n\n"
    if start < feed.oldest {
      // What is not kept any more cannot be told; that it is missing can.
      start = feed.oldest
      greeting += "event: gap\ndata: {\"first\":\(start + 1)}\n\n"
    }
    // A number that this feed has not reached is of an earlier run of the service.
    if given == nil || given ?? 0 > last {
      let now = hosted.snapshot
      let state = now.state.json(now.reason, sessions.secrets)
      greeting += "event: state\ndata: \(state.compact)\n\n"
    }
    let (times, begin, opening) = (times, start, greeting)
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/event-stream", .cacheControl: "no-store", .xAccelBuffering: "no",
      ],
      body: ResponseBody { writer in
        let watch = WriteWatch(channel: channel, limit: times.stall)
        try await withThrowingTaskGroup(of: Void.self) { group in
          defer { group.cancelAll() }
          group.addTask { await watch.run() }
          group.addTask { try await Self.beat(subscription, every: times.heartbeat) }
          try await watch.writing { try await writer.write(ByteBuffer(string: opening)) }
          var reader = begin
          for await _ in subscription.wakes {
            guard let text = Self.next(feed, &reader) else { break }
            try await watch.writing { try await writer.write(ByteBuffer(string: text)) }
            // There may be more than one reading takes.
            if reader < feed.last || feed.hasEnded { subscription.wake() }
          }
        }
        try await writer.finish(nil)
      })
  }

  private static func beat(_ subscription: SessionEventLog.Subscription, every time: Duration)
    async throws
  {
    while true {
      try await Task.sleep(for: time)
      subscription.wake()
    }
  }

  /// What is to be sent now: events, or a comment; nil: the stream is over.
  private static func next(_ feed: SessionEventLog, _ reader: inout Int) -> String? {
    switch feed.read(after: reader) {
    case .ended, .lost: return nil
    case .events(let events):
      guard let last = events.last else { return ":\n\n" }
      reader = last.number
      return events.map { "id: \($0.number)\nevent: \($0.kind)\ndata: \($0.data)\n\n" }.joined()
    }
  }
}

/// Cuts a connection off whose reader takes nothing: a write that waits cannot be waited for.
private final class WriteWatch: Sendable {
  private let since = Mutex<ContinuousClock.Instant?>(nil)
  private let channel: any Channel
  private let limit: Duration

  init(channel: any Channel, limit: Duration) {
    self.channel = channel
    self.limit = limit
  }

  func writing(_ body: () async throws -> Void) async throws {
    since.withLock { $0 = .now }
    try await body()
    since.withLock { $0 = nil }
  }

  func run() async {
    while !Task.isCancelled {
      try? await Task.sleep(for: limit / 4)
      if let start = since.withLock({ $0 }), .now - start > limit {
        channel.close(promise: nil)
        return
      }
    }
  }
}

extension HTTPField.Name {
  /// HTML, 9.2.4: the number of the last event that a reader saw.
  static let lastEventID = HTTPField.Name.known("Last-Event-ID")
  /// Asks a proxy in front not to hold a stream back.
  static let xAccelBuffering = HTTPField.Name.known("X-Accel-Buffering")

  /// A name that is a token (RFC 9110, 5.1), as literals are.
  private static func known(_ name: String) -> HTTPField.Name {
    HTTPField.Name(name) ?? .from
  }
}
