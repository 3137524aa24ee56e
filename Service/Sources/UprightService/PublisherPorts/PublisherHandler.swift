internal import Logging
internal import NIOCore
internal import Upright
internal import UprightRTMP

/// One connection to the RTMP port: connects a socket to `PublishConnection`.
///
/// The handler requests the next read only when the feed has room, so that a session that doesn't keep up
/// slows down its own publisher only. It requests none while the publisher waits to be accepted.
final class PublisherHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The timeouts of a connection.
  struct Timeouts: Sendable {
    /// From the connection until the publish command.
    var publish = TimeAmount.seconds(10)
    /// Without received bytes.
    var silence = TimeAmount.seconds(10)
    /// From the end of a publication until the rest of its stream is discarded.
    var rest = TimeAmount.seconds(10)
  }

  private let routes: PublishRoutes
  private let logger: Logger
  private let timeouts: Timeouts
  private var connection: PublishConnection
  private var route: PublishRoutes.Route?
  /// The lookup of the route, while the publisher waits to be accepted.
  private var entering: Task<Void, Never>?
  /// The publisher's address, while it is connected.
  private var peer: String?
  private var deadline: Scheduled<Void>?
  private var lastRead = NIODeadline.now()
  /// Tags that the feed hasn't accepted yet. They are of one read at most, because the next read waits for
  /// them.
  private var pending: [UInt8] = []
  /// Whether the feed has no room. The silence timeout doesn't run then.
  private var isHeld = false
  /// Discards the rest of a stream whose publisher has left, if it waits for room too long.
  private var leaving: Scheduled<Void>?

  init(_ routes: PublishRoutes, _ logger: Logger, _ timeouts: Timeouts) {
    self.routes = routes
    self.logger = logger
    self.timeouts = timeouts
    var generator = SystemRandomNumberGenerator()
    connection = PublishConnection(
      random: (0..<1528).map { _ in UInt8.random(in: 0...255, using: &generator) })
  }

  func channelActive(context: ChannelHandlerContext) {
    let peer = IPAddress.peer(of: context.remoteAddress)
    guard routes.peers.enter(peer) else { return context.close(promise: nil) }
    self.peer = peer
    let channel = context.channel
    deadline = context.eventLoop.scheduleTask(in: timeouts.publish) { channel.close(promise: nil) }
    context.read()
  }

  func channelInactive(context: ChannelHandlerContext) {
    deadline?.cancel()
    entering?.cancel()
    leave(context.eventLoop)
    if let peer { routes.peers.leave(peer) }
    peer = nil
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    lastRead = .now()
    process(context) { try connection.receive(unwrapInboundIn(data).readableBytesView) }
  }

  /// Takes the events of the connection, sends its output, and continues to read.
  private func process(
    _ context: ChannelHandlerContext, _ events: () throws -> [PublishConnection.Event]
  ) {
    do {
      for event in try events() { handle(event, context) }
      send(context)
      if connection.isClosed { return context.channel.closeAfterWrites() }
      if entering == nil { proceed(context) }
    } catch {
      logger.info("closing a connection to the RTMP port: \(error)")
      send(context)
      context.channel.closeAfterWrites()
    }
  }

  private func handle(_ event: PublishConnection.Event, _ context: ChannelHandlerContext) {
    switch event {
    case .publish(let address): publish(address, context)
    case .tag(let tag): if route != nil { pending += tag.bytes }
    case .unpublish: leave(context.eventLoop)
    case .notice(let text):
      if let route { logger.warning("session \(route.session): \(text)") }
    case .rejected(let reason):
      guard let route else { return }
      logger.warning("session \(route.session): publisher rejected: \(reason)")
      route.feed.refuse(because: reason)
      leave(context.eventLoop)
    }
  }

  /// Looks up the publisher's route. The lookup may ask another server, and is cancelled if the publisher leaves.
  private func publish(_ stream: PublishConnection.Address, _ context: ChannelHandlerContext) {
    // The end of the connection's previous stream waits for room.
    guard route == nil else { return connection.refuse("the previous stream hasn't ended") }
    deadline?.cancel()
    let request = PublishRequest(stream, from: peer ?? "", over: routes.scheme)
    let promise = context.eventLoop.makePromise(of: PublishRoutes.Route.self)
    entering = promise.completeWithTask { [routes] in try await routes.enter(request) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    promise.futureResult.whenComplete { result in
      let (handler, context) = bound.value
      handler.entering = nil
      switch result {
      case .success(let route): handler.accept(route, context)
      case .failure(let error): handler.refuse(error, context)
      }
    }
  }

  private func accept(_ route: PublishRoutes.Route, _ context: ChannelHandlerContext) {
    self.route = route
    // The publisher has left in the meantime.
    guard peer != nil else { return leave(context.eventLoop) }
    logger.info("session \(route.session): publisher connected")
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let loop = context.eventLoop
    route.feed.onRoom {
      loop.execute {
        let (handler, context) = bound.value
        guard handler.isHeld || handler.route?.feed.isPublishing == false else { return }
        if handler.leaving != nil { handler.finish() } else { handler.proceed(context) }
      }
    }
    lastRead = .now()
    watch(context)
    process(context) { try connection.accept() }
  }

  private func refuse(_ error: any Error, _ context: ChannelHandlerContext) {
    guard peer != nil else { return }
    let refusal = error as? PublishRefusal ?? PublishRefusal("internal error")
    logger.info("publisher rejected: \(refusal.reason)")
    process(context) {
      connection.refuse(refusal.reason, refusal.code.rtmp)
      return []
    }
  }

  /// Closes the connection when the silence timeout expires while the handler was ready to read.
  private func watch(_ context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let due = lastRead + timeouts.silence
    deadline = context.eventLoop.scheduleTask(deadline: due) {
      let (handler, context) = bound.value
      if handler.isHeld { handler.lastRead = .now() }
      if .now() - handler.lastRead >= handler.timeouts.silence {
        context.close(promise: nil)
      } else {
        handler.watch(context)
      }
    }
  }

  private func send(_ context: ChannelHandlerContext) {
    let output = connection.takeOutput()
    guard !output.isEmpty else { return }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: output)), promise: nil)
  }

  /// Writes the pending tags to the feed and requests the next read. If the feed has no room, it calls again
  /// later.
  private func proceed(_ context: ChannelHandlerContext) {
    // The session may have ended or rejected this stream.
    if let route, !route.feed.isPublishing { return disconnect(route.feed.rejection, context) }
    if let route, !pending.isEmpty {
      guard route.feed.write(pending) else {
        isHeld = true
        return
      }
      // The reader has the array now. Its memory is not written again.
      pending = []
    }
    isHeld = false
    lastRead = .now()
    context.read()
  }

  /// Closes the connection of a publisher whose stream the session has rejected, for a reason, or doesn't read any more,
  /// because it has ended.
  private func disconnect(_ rejection: String?, _ context: ChannelHandlerContext) {
    guard let rejection else { return context.close(promise: nil) }
    connection.reject(rejection)
    send(context)
    context.channel.closeAfterWrites()
  }

  /// Ends the publication. Tags received before are still written to the feed, until the timeout.
  private func leave(_ loop: any EventLoop) {
    guard route != nil, leaving == nil else { return }
    let bound = NIOLoopBound(self, eventLoop: loop)
    leaving = loop.scheduleTask(in: timeouts.rest) {
      bound.value.pending = []
      bound.value.finish()
    }
    finish()
  }

  private func finish() {
    guard let route else { return }
    if !pending.isEmpty, route.feed.isPublishing, !route.feed.write(pending) {
      isHeld = true
      return
    }
    leaving?.cancel()
    (self.route, leaving, pending, isHeld) = (nil, nil, [], false)
    route.feed.onRoom {}
    route.feed.end()
    routes.leave(route)
    logger.info("session \(route.session): publisher disconnected")
  }
}
