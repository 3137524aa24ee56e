internal import Orientation
package import UprightMediaIO
package import UprightPipeline

/// A packet of pictures on its way out, in a box: queues take nothing noncopyable.
///
/// Sendable by hand-over: one thread fills it, one empties it, never both at a time.
package final class EncodedPacket: @unchecked Sendable {
  private var packet: Packet?
  /// The format that begins with it.
  package let format: EncodedFormat?

  package init(_ packet: consuming Packet, format: EncodedFormat?) {
    self.packet = consume packet
    self.format = format
  }

  /// The packet, the first time it is asked for.
  package func take() -> Packet? { packet.take() }
}

/// The encoder of one format, with what it does not hand through by itself.
///
/// Sendable by hand-over: once it is emptied on another thread, no one else asks it for anything.
final class FormatEncoder: @unchecked Sendable {
  private let format: EncodedFormat
  /// Nil once it is empty: what it holds is given back on the thread that emptied it.
  private var encoder: VideoEncoder?
  private var announces = true
  /// Durations of the pictures inside by PTS: libavcodec drops them.
  private var durations: [Int64: Int64] = [:]

  let settings: VideoEncoder.Settings

  init(_ settings: VideoEncoder.Settings, index: Int) throws(MediaError) {
    let encoder = try VideoEncoder(settings)
    self.settings = settings
    format = EncodedFormat(
      index: index, size: settings.size, parameters: try encoder.parameters())
    self.encoder = encoder
  }

  func send(_ frame: borrowing VideoFrame) throws(MediaError) {
    if let pts = frame.pts, frame.duration > 0 { durations[pts] = frame.duration }
    try encoder?.send(frame)
  }

  /// The next packet in decoding order; nil where more pictures are wanted.
  func receive() throws(MediaError) -> Packet? {
    guard var packet = try encoder?.receive() else { return nil }
    if let pts = packet.pts, let duration = durations.removeValue(forKey: pts) {
      packet.duration = duration
    }
    return packet
  }

  /// The format, for the first packet; nil for the others.
  func announcement() -> EncodedFormat? {
    defer { announces = false }
    return announces ? format : nil
  }

  /// The packets that are still inside, in decoding order; the encoder is closed.
  func empty() throws(MediaError) -> [EncodedPacket] {
    defer { encoder = nil }
    try encoder?.finish()
    var packets: [EncodedPacket] = []
    while let packet = try receive() {
      packets.append(EncodedPacket(packet, format: announcement()))
    }
    return packets
  }
}
