package import Orientation
package import UprightMediaIO
package import UprightPipeline

/// A video packet in a box, because queues hold no noncopyable elements.
///
/// Sendable by hand-over: one thread fills it and another empties it, never both at the same time.
package final class PacketBox: @unchecked Sendable {
  private var packet: Packet?
  /// The format that begins with this packet; `nil` if the format doesn't change.
  package let format: EncodedFormat?

  /// The times of the packet; `nil` if it has none.
  package let times: Times?

  package init(_ packet: consuming Packet, format: EncodedFormat?) {
    let timeBase = packet.timeBase
    times = packet.time.map {
      Times(timeBase: timeBase, presentation: $0, decoding: packet.decodingTime ?? $0)
    }
    self.packet = consume packet
    self.format = format
  }

  /// The times of a packet.
  package struct Times: Sendable {
    /// Seconds per tick of the packet's timestamps.
    package let timeBase: Rational
    package let presentation: MediaTime
    package let decoding: MediaTime
  }

  /// Returns the packet on the first call and `nil` afterwards.
  package func take() -> Packet? { packet.take() }
}

/// The encoder of one format. Keeps the frame durations that libavcodec drops.
///
/// Sendable by hand-over: once another thread drains it, no other thread uses it.
final class FormatEncoder: @unchecked Sendable {
  private let format: EncodedFormat
  /// `nil` once drained, so that its memory is freed on the thread that drained it.
  private var encoder: VideoEncoder?
  private var announces: Bool
  /// Durations of the frames in the encoder by PTS; libavcodec drops them.
  private var durations: [Int64: Int64] = [:]

  private(set) var settings: VideoEncoder.Settings

  init(_ settings: VideoEncoder.Settings, index: Int) throws(UprightError) {
    let encoder = try VideoEncoder(settings)
    self.settings = settings
    format = EncodedFormat(
      index: index, size: settings.size, parameters: try encoder.parameters(),
      frameRate: settings.frameRate)
    self.encoder = encoder
    announces = true
  }

  /// Opens an encoder that continues the format of `old` with another rate control. It announces a format only
  /// if its parameter sets are different.
  init(
    replacing old: FormatEncoder, rate: VideoEncoder.RateControl, index: Int
  ) throws(UprightError) {
    var settings = old.settings
    settings.rate = rate
    // libx264 chooses the level by the bit rate.
    if let level = old.encoder?.level, settings.options["level"] == nil {
      settings.options["level"] = "\(level)"
    }
    let encoder = try VideoEncoder(settings)
    self.settings = settings
    let parameters = try encoder.parameters()
    let isSame = parameters.extradata == old.format.parameters.extradata
    format =
      isSame
      ? old.format
      : EncodedFormat(
        index: index, size: settings.size, parameters: parameters, frameRate: settings.frameRate)
    self.encoder = encoder
    announces = old.announces || !isSame
  }

  /// Changes the rate control from the next frame on. Returns `false` if only another encoder can have it.
  func change(_ rate: VideoEncoder.RateControl) -> Bool {
    guard encoder?.change(rate) == true else { return false }
    settings.rate = rate
    return true
  }

  func send(_ frame: borrowing VideoFrame) throws(UprightError) {
    if let pts = frame.pts, frame.duration > 0 { durations[pts] = frame.duration }
    try encoder?.send(frame)
  }

  /// Returns the next packet in decoding order; `nil` if the encoder needs more frames.
  func receive() throws(UprightError) -> Packet? {
    guard var packet = try encoder?.receive() else { return nil }
    if let pts = packet.pts, let duration = durations.removeValue(forKey: pts) {
      packet.duration = duration
    }
    return packet
  }

  /// Returns the format on the first call and `nil` afterwards.
  func announcement() -> EncodedFormat? {
    defer { announces = false }
    return announces ? format : nil
  }

  /// Returns the remaining packets in decoding order and closes the encoder.
  func empty() throws(UprightError) -> [PacketBox] {
    defer { encoder = nil }
    try encoder?.finish()
    var packets: [PacketBox] = []
    while let packet = try receive() {
      packets.append(PacketBox(packet, format: announcement()))
    }
    return packets
  }
}
