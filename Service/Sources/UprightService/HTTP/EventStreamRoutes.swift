internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import UprightPolicy
internal import Upright

/// `GET /v1/sessions/{id}/events`: the events of a session as server-sent events (HTML, 9.2).
struct EventStreamRoutes: Sendable {
  /// The intervals and timeouts of a stream.
  struct Times: Sendable {
    /// The interval between comments on a stream without events. Proxies close silent connections.
    var heartbeat = Duration.seconds(15)
    /// The timeout after which a client that doesn't read is disconnected.
    var stall = Duration.seconds(10)
  }

  let sessions: Sessions
  var times = Times()

  func add(to router: Router<ServiceContext>) {
    router.get("/v1/sessions/:id/events") { request, context in
      let hosted = try sessions.find(context)
      return try stream(hosted, request, context.channel)
    }
  }

  private func stream(
    _ hosted: HostedSession, _ request: Request, _ channel: any Channel
  ) throws -> Response {
    let feed = hosted.feed
    guard let subscription = feed.subscribe() else {
      throw Problem.tooMany("too many clients read the events of this session")
    }
    // A browser sends the header only when it connects again.
    let after = try QueryReader(request.uri, ["after"])["after"]
    if let after, Int(after) == nil { throw Problem.badRequest("after: must be an integer") }
    let given = request.headers[.lastEventID].flatMap(Int.init) ?? after.flatMap { Int($0) }
    let last = feed.last
    var start = min(max(given ?? last, 0), last)
    var greeting = ": \(hosted.id)\nretry: 2000\n\n"
    if start < feed.oldest {
      // The events in between have been dropped. Tell the client that they are missing.
      start = feed.oldest
      greeting += "event: gap\ndata: {\"first\":\(start + 1)}\n\n"
    }
    // A number greater than the feed's last one is from an earlier run of the service.
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
          group.addTask { try await Self.beat(subscription, every: times.heartbeat) }
          try await watch.writing { try await writer.write(ByteBuffer(string: opening)) }
          var reader = begin
          for await _ in subscription.wakes {
            guard let text = Self.next(feed, &reader) else { break }
            try await watch.writing { try await writer.write(ByteBuffer(string: text)) }
            // One read returns a limited number of events.
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

  /// Returns the text to send now: events, or a comment if there are none. Returns `nil` at the end of the
  /// stream.
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

/// Closes a connection whose client doesn't read. A pending write has no timeout of its own.
private struct WriteWatch {
  let channel: any Channel
  let limit: Duration

  func writing(_ body: () async throws -> Void) async throws {
    let (seconds, attoseconds) = limit.components
    let limit = TimeAmount.nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    let late = channel.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
    defer { late.cancel() }
    try await body()
  }
}

extension HTTPField.Name {
  /// The number of the last event that the client received (HTML, 9.2.4).
  static let lastEventID = HTTPField.Name.known("Last-Event-ID")
  /// Asks a reverse proxy not to buffer the stream.
  static let xAccelBuffering = HTTPField.Name.known("X-Accel-Buffering")

  /// Returns the field name of a literal, which must be a token (RFC 9110, 5.1).
  static func known(_ name: String) -> HTTPField.Name {
    HTTPField.Name(name) ?? .from
  }
}
