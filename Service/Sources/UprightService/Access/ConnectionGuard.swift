internal import NIOCore

/// Limits the HTTP connections of a peer, and closes connections that don't send a request in time.
final class ConnectionGuard: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any
  typealias InboundOut = Any

  private let limit: PeerLimit
  private let timeout: TimeAmount
  private var peer: String?
  private var deadline: Scheduled<Void>?

  /// - Parameter timeout: The timeout for the head of the first request.
  init(_ limit: PeerLimit, timeout: TimeAmount) {
    self.limit = limit
    self.timeout = timeout
  }

  func channelActive(context: ChannelHandlerContext) {
    let address = context.remoteAddress?.ipAddress ?? ""
    guard limit.enter(address) else { return context.close(promise: nil) }
    peer = address
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // The first element that the HTTP decoder passes on is the complete head of a request.
    deadline?.cancel()
    deadline = nil
    context.fireChannelRead(data)
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    if let peer { limit.leave(peer) }
    peer = nil
    context.fireChannelInactive()
  }
}
