internal import Hummingbird
internal import NIOCore

extension ServiceContext {
  /// Performs work for the response to a request, and cancels it if the client closes the connection meanwhile.
  ///
  /// - Throws: What `work` throws.
  func whileConnected<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let task = Task(operation: work)
    let departure = ClientDeparture { task.cancel() }
    let eventLoop = channel.eventLoop
    let pipeline = channel.pipeline
    eventLoop.execute { try? pipeline.syncOperations.addHandler(departure, position: .first) }
    defer { eventLoop.execute { pipeline.syncOperations.removeHandler(departure, promise: nil) } }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}

/// Notices that a client has closed its connection, or its half of it, which Hummingbird allows.
private final class ClientDeparture: ChannelInboundHandler, RemovableChannelHandler, Sendable {
  typealias InboundIn = Never

  private let onLeave: @Sendable () -> Void

  init(_ onLeave: @escaping @Sendable () -> Void) { self.onLeave = onLeave }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { onLeave() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    onLeave()
    context.fireChannelInactive()
  }
}
