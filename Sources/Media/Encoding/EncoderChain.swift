internal import DequeModule
internal import UprightOrientation
internal import UprightMediaIO

/// Encodes frames whose format may change. Each format has a separate encoder, whose first frame is an IDR
/// frame. No frame is lost at a change: the old encoder is drained on a separate thread while the new one
/// already receives frames, and the new encoder's packets queue behind the old one's.
///
/// Packets are emitted by their count, not by the clock, so that the same frames cause the same calls of
/// `Emit` however fast the threads are.
final class EncoderChain {
  typealias Emit = FramePipeline.Emit

  private typealias Drain = WorkThread<Result<[PacketBox], UprightError>>

  private enum Waiting {
    /// The remaining packets of an encoder that is being drained.
    case drain(Drain)
    /// A packet of a later encoder.
    case packet(PacketBox)
  }

  /// How many encoders may drain at the same time: each holds a lookahead of frames and references.
  private static let drainLimit = 2

  private var settings: VideoEncoder.Settings
  private let followsColour: Bool
  /// How many packets may queue behind an encoder that is being drained. In live mode the encoder holds no
  /// frames, and packets must not wait.
  private let queueLimit: Int
  private var encoder: FormatEncoder?
  private var waiting = Deque<Waiting>()
  private var waitingPackets = 0
  private var waitingDrains = 0
  private var times = DecodingTimestamps()

  /// The number of packets emitted.
  private(set) var packets = 0
  /// The number of encoders opened.
  private(set) var formats = 0

  /// - Parameters:
  ///   - settings: The settings except size and colour, which come from the frames.
  ///   - followsColour: Whether the container accepts new parameter sets. If not, the colour tags of the
  ///     first frame are kept.
  init(_ settings: VideoEncoder.Settings, followsColour: Bool) {
    self.settings = settings
    self.followsColour = followsColour
    queueLimit = settings.isLive ? 0 : 32
  }

  /// After an error, threads may still be running; wait for them.
  deinit {
    for case .drain(let drain) in waiting { _ = drain.join() }
  }

  /// Encodes one frame. Frames come in presentation order.
  func encode(_ frame: borrowing VideoFrame, emit: Emit) throws(UprightError) {
    let encoder = try encoder(for: frame, emit)
    try encoder.send(frame)
    while let packet = try encoder.receive() {
      let format = encoder.announcement()
      if waiting.isEmpty {
        try pass(packet, format, to: emit)
      } else {
        waiting.append(.packet(PacketBox(packet, format: format)))
        waitingPackets += 1
      }
    }
    while waitingPackets > queueLimit { try settle(emit) }
  }

  /// Changes the rate control from the next frame on. If the encoder can't, that frame is the first of another
  /// encoder, and so an IDR frame, in the same format.
  func change(_ rate: VideoEncoder.RateControl) { settings.rate = rate }

  /// Returns whether the frame has another format than the frame before it and so becomes an IDR frame.
  func changesFormat(with frame: borrowing VideoFrame) -> Bool {
    guard let encoder else { return false }
    return !isOpen(encoder.settings, for: frame)
  }

  private func encoder(
    for frame: borrowing VideoFrame, _ emit: Emit
  ) throws(UprightError) -> FormatEncoder {
    if let encoder, isOpen(encoder.settings, for: frame) {
      if encoder.settings.rate == settings.rate || encoder.change(settings.rate) { return encoder }
      let next = try FormatEncoder(replacing: encoder, rate: settings.rate, index: formats)
      try retire(emit)
      formats += 1
      self.encoder = next
      return next
    }
    try retire(emit)
    var settings = settings
    settings.size = frame.size
    settings.colour = frame.colour
    settings.fields = frame.fields
    let opened = try FormatEncoder(settings, index: formats)
    formats += 1
    encoder = opened
    return opened
  }

  private func isOpen(
    _ settings: VideoEncoder.Settings, for frame: borrowing VideoFrame
  ) -> Bool {
    guard settings.size == frame.size else { return false }
    // Progressive frames between interlaced ones are encoded as progressive by the same encoder.
    let holdsFields = frame.fields == nil || settings.fields != nil
    return !followsColour || settings.colour == frame.colour && holdsFields
  }

  /// Starts to drain the current encoder on a separate thread.
  private func retire(_ emit: Emit) throws(UprightError) {
    guard let old = encoder.take() else { return }
    while waitingDrains >= Self.drainLimit { try settle(emit) }
    waiting.append(
      .drain(
        Drain(name: "upright-drain") {
          do throws(UprightError) { return .success(try old.empty()) } catch {
            return .failure(error)
          }
        }))
    waitingDrains += 1
  }

  /// Waits until the oldest encoder is drained, then emits its packets and those that queue between it and
  /// the next encoder.
  private func settle(_ emit: Emit) throws(UprightError) {
    var hasDrained = false
    while let first = waiting.first {
      switch first {
      case .drain(let drain):
        if hasDrained { return }
        hasDrained = true
        waiting.removeFirst()
        waitingDrains -= 1
        guard let result = drain.join() else {
          throw UprightError(.fault, "no result of a drained encoder")
        }
        for packet in try result.get() { try pass(packet, to: emit) }
      case .packet(let packet):
        waiting.removeFirst()
        waitingPackets -= 1
        try pass(packet, to: emit)
      }
    }
  }

  private func pass(_ waiting: PacketBox, to emit: Emit) throws(UprightError) {
    guard let packet = waiting.take() else { return }
    try pass(packet, waiting.format, to: emit)
  }

  private func pass(
    _ packet: consuming Packet, _ format: EncodedFormat?, to emit: Emit
  ) throws(UprightError) {
    var packet = packet
    times.fit(&packet)
    packets += 1
    try emit(packet, format)
  }

  /// Emits all remaining packets in order. No frame may follow.
  func finish(emit: Emit) throws(UprightError) {
    while !waiting.isEmpty { try settle(emit) }
    guard let last = encoder.take() else { return }
    for packet in try last.empty() { try pass(packet, to: emit) }
  }
}
