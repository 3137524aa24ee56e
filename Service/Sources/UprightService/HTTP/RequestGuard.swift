internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Protects the server from requests that are malformed, never end, or whose body nobody reads.
///
/// It is placed behind the decoder of requests. What it rejects doesn't reach the router.
final class RequestGuard: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// The bytes of a body that must arrive within the timeout.
  private static let leastProgress = 65_536

  private let connections: OpenConnections
  private let timeout: TimeAmount
  private var peer: String?
  private var deadline: Scheduled<Void>?
  /// The number of requests whose response hasn't ended.
  private var unanswered = 0
  private var isReadingBody = false
  /// The bytes of the body since the deadline was set.
  private var progress = 0
  private var isAnswering = false
  /// Whether the connection ends with the response because the client speaks HTTP/1.0 (RFC 9112, 9.3). Hummingbird
  /// doesn't know the version.
  private var isLast = false
  /// Whether the connection is about to be closed and all else is ignored.
  private var isClosing = false

  /// - Parameter timeout: The time limit of the first request's head, and of every 64 KiB of a body.
  init(_ connections: OpenConnections, timeout: TimeAmount) {
    self.connections = connections
    self.timeout = timeout
  }

  func channelActive(context: ChannelHandlerContext) {
    let peer = IPAddress.peer(of: context.remoteAddress)
    guard connections.enter(context.channel, from: peer) else { return context.close(promise: nil) }
    self.peer = peer
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    if let peer { connections.leave(context.channel, from: peer) }
    peer = nil
    context.fireChannelInactive()
  }

  // MARK: - Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isClosing { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      deadline?.cancel()
      unanswered += 1
      isReadingBody = true
      isLast = head.version == .http1_0 && !head.isKeepAlive
      if let fault = Self.fault(in: head) { return reject(.badRequest(fault), context) }
      if head.headers.contains(name: "content-length")
        || head.headers.contains(name: "transfer-encoding")
      {
        expectProgress(context)
        invite(head, context)
      }
    case .body(let bytes):
      progress += bytes.readableBytes
      if progress >= Self.leastProgress { expectProgress(context) }
    case .end:
      deadline?.cancel()
      isReadingBody = false
      if let peer { connections.serve(context.channel, from: peer, true) }
    }
    context.fireChannelRead(data)
  }

  /// Returns why a request can't be answered; `nil` if it can.
  private static func fault(in head: HTTPRequestHead) -> String? {
    let hosts = head.headers["host"].count
    // RFC 9112, 3.2. Clients of HTTP/1.0 may leave it out.
    if hosts > 1 || hosts == 0 && head.version != .http1_0 {
      return "the request needs one Host field"
    }
    let codings = head.headers[canonicalForm: "transfer-encoding"]
    guard !codings.isEmpty else { return nil }
    // The end of any other body is unknown (RFC 9112, 6.1 and 6.3), and what follows would be taken for a request.
    guard codings.count == 1, codings[0].lowercased() == "chunked" else {
      return "unsupported Transfer-Encoding; use chunked"
    }
    return head.headers.contains(name: "content-length")
      ? "a request can't have both Transfer-Encoding and Content-Length" : nil
  }

  /// Tells a client that waits for it to send the body (RFC 9110, 10.1.1).
  private func invite(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    guard head.version != .http1_0, unanswered == 1,
      head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" })
    else { return }
    let answer = HTTPResponseHead(version: head.version, status: .continue)
    context.writeAndFlush(wrapOutboundOut(.head(answer)), promise: nil)
  }

  private func expectProgress(_ context: ChannelHandlerContext) {
    progress = 0
    deadline?.cancel()
    deadline = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
      self.reject(
        Problem(.requestTimeout, "Timeout", "the body arrives too slowly"), context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The decoder closes the connection when this returns.
    if error is HTTPParserError, !isClosing {
      reject(.badRequest("the request can't be parsed"), context)
    }
    context.fireErrorCaught(error)
  }

  /// Answers the request that is being received with an error, and closes the connection.
  private func reject(_ problem: Problem, _ context: ChannelHandlerContext) {
    // An answer would be taken for that of an earlier request.
    guard unanswered <= 1, !isAnswering else { return context.close(promise: nil) }
    let text = ByteBuffer(string: problem.text)
    let head = HTTPResponseHead(
      version: .http1_1, status: .init(statusCode: problem.status.code),
      headers: [
        "Content-Type": "application/problem+json", "Content-Length": "\(text.readableBytes)",
        "Connection": "close",
      ])
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(text))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    linger(context)
  }

  // MARK: - Responses

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if isClosing {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    switch unwrapOutboundIn(data) {
    case .head(var head):
      isAnswering = true
      if endsConnection {
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        return context.write(wrapOutboundOut(.head(head)), promise: promise)
      }
    case .body: break
    case .end:
      let (isEnd, isUnread) = (endsConnection, isReadingBody)
      isAnswering = false
      unanswered -= 1
      if unanswered == 0, let peer { connections.serve(context.channel, from: peer, false) }
      if isEnd {
        let (written, channel) = (promise ?? context.eventLoop.makePromise(), context.channel)
        if !isUnread { written.futureResult.whenComplete { _ in channel.close(promise: nil) } }
        context.writeAndFlush(data, promise: written)
        if isUnread { linger(context) }
        return
      }
    }
    context.write(data, promise: promise)
  }

  /// Whether no request follows that is being answered: by the version, or because its body hasn't been received, which
  /// nobody needs any more.
  private var endsConnection: Bool { unanswered == 1 && (isLast || isReadingBody) }

  /// Closes the output first, so that the response arrives, and later the input, even if the client still sends.
  private func linger(_ context: ChannelHandlerContext) {
    isClosing = true
    deadline?.cancel()
    let channel = context.channel
    context.eventLoop.scheduleTask(in: .milliseconds(200)) {
      channel.close(mode: .output, promise: nil)
    }
    deadline = context.eventLoop.scheduleTask(in: .seconds(2)) { channel.close(promise: nil) }
  }
}
