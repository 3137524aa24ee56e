package import UprightOrientation
package import UprightMediaIO

/// A video packet in a box, because queues hold no noncopyable elements.
///
/// Sendable by hand-over: one thread fills it and another empties it, never both at the same time.
package final class PacketBox: @unchecked Sendable {
  private var packet: Packet?
  /// The format that begins with this packet; `nil` if the format doesn't change.
  package let format: EncodedFormat?

  /// The times of the packet; `nil` if it has none.
  package let times: Times?
  /// The size of the packet, in bytes.
  package let byteCount: Int

  package init(_ packet: consuming Packet, format: EncodedFormat?) {
    byteCount = packet.size
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
  private var format: EncodedFormat
  /// The format before this one, which goes on if the parameter sets are the same, and whether it was announced.
  private let previous: (format: EncodedFormat, isAnnounced: Bool)?
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
    previous = nil
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
    format = EncodedFormat(
      index: index, size: settings.size, parameters: try encoder.parameters(),
      frameRate: settings.frameRate)
    previous = (old.format, !old.announces)
    self.encoder = encoder
    announces = true
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
    // libaom's sequence header is known with the first packet.
    if announces, let extradata = packet.newExtradata {
      format = EncodedFormat(
        index: format.index, size: format.size,
        parameters: try format.parameters.with(extradata: extradata), frameRate: format.frameRate)
    }
    return packet
  }

  /// Returns the format that begins with the first packet, once that was received. Afterwards, and if the format before
  /// goes on, returns `nil`.
  func announcement() -> EncodedFormat? {
    guard announces else { return nil }
    announces = false
    guard let previous, previous.format.parameters.extradata == format.parameters.extradata else {
      return format
    }
    format = previous.format
    return previous.isAnnounced ? nil : format
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
