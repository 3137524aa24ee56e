internal import DequeModule
internal import Orientation
package import UprightMediaIO
package import UprightPipeline

/// Encodes pictures whose format may change: each format has an encoder of its own, whose first
/// picture is an IDR. Nothing is lost at a change: the old encoder is emptied on a thread of its own
/// while the new one takes pictures already, and the new one's packets queue behind the old one's.
///
/// Packets are let go by their number, not by the clock: the same pictures give the same calls of
/// `Emit` however fast the threads are.
package final class EncoderChain {
  /// One packet on its way out; `format` comes with the first packet of each encoder.
  package typealias Emit = (consuming Packet, EncodedFormat?) throws(MediaError) -> Void

  private typealias Drain = WorkThread<Result<[EncodedPacket], MediaError>>

  private enum Waiting {
    /// What an encoder still holds, on its way out.
    case drain(Drain)
    /// A packet of a later encoder.
    case packet(EncodedPacket)
  }

  /// Encoders that are emptied at a time: each holds a lookahead of pictures and references.
  private static let drainLimit = 2

  private let settings: VideoEncoder.Settings
  private let followsColour: Bool
  /// Packets that may queue behind an encoder that is being emptied. Live, there is nothing in it and
  /// nobody should wait.
  private let queueLimit: Int
  private var encoder: FormatEncoder?
  private var waiting = Deque<Waiting>()
  private var waitingPackets = 0
  private var waitingDrains = 0
  private var times = DecodingTimes()

  /// Packets that came out.
  private(set) var packets = 0
  /// Encoders that were opened.
  private(set) var formats = 0

  /// - Parameters:
  ///   - settings: all but size and colour, which are the pictures'.
  ///   - followsColour: whether the container can take new parameter sets; else the first colour's
  ///     tags stand.
  init(_ settings: VideoEncoder.Settings, followsColour: Bool) {
    self.settings = settings
    self.followsColour = followsColour
    queueLimit = settings.isLive ? 0 : 32
  }

  /// No thread outlives the chain, which after an error may still have some.
  deinit {
    for case .drain(let drain) in waiting { _ = drain.join() }
  }

  /// Takes one picture in presentation order.
  func encode(_ frame: borrowing VideoFrame, emit: Emit) throws(MediaError) {
    let encoder = try encoder(for: frame, emit)
    try encoder.send(frame)
    while let packet = try encoder.receive() {
      let format = encoder.announcement()
      if waiting.isEmpty {
        try pass(packet, format, to: emit)
      } else {
        waiting.append(.packet(EncodedPacket(packet, format: format)))
        waitingPackets += 1
      }
    }
    while waitingPackets > queueLimit { try settle(emit) }
  }

  /// Whether the frame is of another format than the one before it, and so an IDR.
  func changesFormat(with frame: borrowing VideoFrame) -> Bool {
    guard let encoder else { return false }
    return !isOpen(encoder.settings, for: frame)
  }

  private func encoder(
    for frame: borrowing VideoFrame, _ emit: Emit
  ) throws(MediaError) -> FormatEncoder {
    if let encoder, isOpen(encoder.settings, for: frame) { return encoder }
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
    // Progressive pictures among fields are coded as such by the same encoder.
    let holdsFields = frame.fields == nil || settings.fields != nil
    return !followsColour || settings.colour == frame.colour && holdsFields
  }

  /// Lets the present encoder be emptied beside us.
  private func retire(_ emit: Emit) throws(MediaError) {
    guard let old = encoder.take() else { return }
    while waitingDrains >= Self.drainLimit { try settle(emit) }
    waiting.append(
      .drain(
        Drain(name: "upright-drain") {
          do throws(MediaError) { return .success(try old.empty()) } catch {
            return .failure(error)
          }
        }))
    waitingDrains += 1
  }

  /// Waits for the oldest encoder to be empty and passes on its packets, and those that queue between
  /// it and the next one.
  private func settle(_ emit: Emit) throws(MediaError) {
    var hasDrained = false
    while let first = waiting.first {
      switch first {
      case .drain(let drain):
        if hasDrained { return }
        hasDrained = true
        waiting.removeFirst()
        waitingDrains -= 1
        guard let result = drain.join() else {
          throw MediaError(.fault, "the end of a format was lost")
        }
        for packet in try result.get() { try pass(packet, to: emit) }
      case .packet(let packet):
        waiting.removeFirst()
        waitingPackets -= 1
        try pass(packet, to: emit)
      }
    }
  }

  private func pass(_ waiting: EncodedPacket, to emit: Emit) throws(MediaError) {
    guard let packet = waiting.take() else { return }
    try pass(packet, waiting.format, to: emit)
  }

  private func pass(
    _ packet: consuming Packet, _ format: EncodedFormat?, to emit: Emit
  ) throws(MediaError) {
    var packet = packet
    times.fit(&packet)
    packets += 1
    try emit(packet, format)
  }

  /// Passes on all that is inside, in order; no picture follows.
  func finish(emit: Emit) throws(MediaError) {
    while !waiting.isEmpty { try settle(emit) }
    guard let last = encoder.take() else { return }
    for packet in try last.empty() { try pass(packet, to: emit) }
  }
}
