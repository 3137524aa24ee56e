internal import NIOCore
internal import NIOPosix

/// A connection to the proxy. Reads the request's head, lets `EgressProxy` check and connect the hop, then
/// forwards bytes in both directions with backpressure.
final class ProxyClientHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum State { case head, connecting, tunnel, closed }

  private static let maxHeadSize = 16384

  private let proxy: EgressProxy
  private var state = State.head
  private var received = ByteBuffer()
  private var peer: (any Channel)?
  private var deadline: Scheduled<Void>?

  init(_ proxy: EgressProxy) { self.proxy = proxy }

  func channelActive(context: ChannelHandlerContext) {
    guard proxy.mayOpen(context.channel) else { return context.close(promise: nil) }
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: .seconds(10)) { channel.close(promise: nil) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    proxy.closed(context.channel)
    state = .closed
    deadline?.cancel()
    peer?.closeAfterWrites()
    peer = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    switch state {
    case .head:
      received.writeBuffer(&buffer)
      readHead(context)
    // Reading is off while the connection to the origin is made, so at most one more read arrives.
    case .connecting: received.writeBuffer(&buffer)
    case .tunnel:
      guard let peer else { return }
      peer.writeAndFlush(buffer, promise: nil)
      if !peer.isWritable { context.channel.reads(false) }
    case .closed: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func readHead(_ context: ChannelHandlerContext) {
    let view = received.readableBytesView
    guard let end = view.firstEnd else {
      if view.count > Self.maxHeadSize { answer(context, "431 Request Header Fields Too Large") }
      return
    }
    let length = end - view.startIndex
    guard length <= Self.maxHeadSize, let head = received.readString(length: length),
      let request = ProxyRequest(head: head)
    else { return answer(context, "400 Bad Request") }
    received.moveReaderIndex(forwardBy: 4)
    guard proxy.knows(request, on: context.channel) else {
      return answer(
        context, "407 Proxy Authentication Required",
        "Proxy-Authenticate: Basic realm=\"upright\"\r\n")
    }
    state = .connecting
    deadline?.cancel()
    let channel = context.channel
    channel.reads(false)
    let promise = context.eventLoop.makePromise(of: (any Channel).self)
    promise.completeWithTask { [proxy] in try await proxy.connect(request, for: channel) }
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    promise.futureResult.assumeIsolated().whenComplete { result in
      switch result {
      case .success(let peer): self.join(bound.value, peer, request)
      case .failure(let error):
        self.answer(bound.value, error is Refusal ? "403 Forbidden" : "502 Bad Gateway")
      }
    }
  }

  private func join(_ context: ChannelHandlerContext, _ peer: any Channel, _ request: ProxyRequest)
  {
    guard state == .connecting else { return peer.close(promise: nil) }
    state = .tunnel
    self.peer = peer
    let front = context.channel
    do {
      try peer.pipeline.syncOperations.addHandler(ProxyServerHandler(front))
      try context.pipeline.syncOperations.addHandler(Backpressure(peer))
    } catch { return context.close(promise: nil) }
    if request.isTunnel {
      write(context, "HTTP/1.1 200 Connection established\r\n\r\n")
    } else {
      peer.write(ByteBuffer(string: request.forwarded), promise: nil)
    }
    peer.writeAndFlush(received, promise: nil)
    received = ByteBuffer()
    peer.reads(true)
    front.reads(true)
  }

  private func write(_ context: ChannelHandlerContext, _ text: String) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
  }

  private func answer(_ context: ChannelHandlerContext, _ status: String, _ fields: String = "") {
    state = .closed
    let text = "HTTP/1.1 \(status)\r\n\(fields)Content-Length: 0\r\nConnection: close\r\n\r\n"
    write(context, text)
    // Closing a socket with unread bytes resets the connection, and the client may lose the response.
    // Therefore the rest of the request is read and discarded.
    let channel = context.channel
    channel.reads(true)
    deadline?.cancel()
    deadline = context.eventLoop.scheduleTask(in: .seconds(2)) { channel.close(promise: nil) }
    channel.writeAndFlush(ByteBuffer()).whenComplete { _ in
      channel.close(mode: .output, promise: nil)
    }
  }
}

extension Channel {
  /// Closes the channel after pending writes are sent. `close` alone would discard them.
  func closeAfterWrites() {
    writeAndFlush(ByteBuffer()).whenComplete { _ in self.close(promise: nil) }
  }

  /// Turns automatic reading on or off.
  fileprivate func reads(_ flag: Bool) {
    setOption(.autoRead, value: flag).whenComplete { _ in }
  }
}

extension ByteBufferView {
  /// The index of the CR LF CR LF that ends a head; `nil` if it hasn't been received.
  fileprivate var firstEnd: Int? {
    guard count >= 4 else { return nil }
    for index in startIndex...(endIndex - 4)
    where self[index] == 13 && self[index + 1] == 10 && self[index + 2] == 13
      && self[index + 3] == 10
    {
      return index
    }
    return nil
  }
}

/// The origin's side of a connection. Forwards received bytes to the client.
private final class ProxyServerHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let front: any Channel

  init(_ front: any Channel) { self.front = front }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    front.writeAndFlush(unwrapInboundIn(data), promise: nil)
    if !front.isWritable { context.channel.reads(false) }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { front.reads(true) }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) { front.closeAfterWrites() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}

/// Resumes reading from the origin when the client's channel is writable again.
private final class Backpressure: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let peer: any Channel

  init(_ peer: any Channel) { self.peer = peer }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { peer.reads(true) }
    context.fireChannelWritabilityChanged()
  }
}
