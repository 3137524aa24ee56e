internal import MediaIO
internal import Orientation

/// Encodes pictures whose format may change: each format has an encoder of its own, whose first
/// picture is an IDR. Nothing is lost at a change: the old encoder is emptied first.
final class EncoderChain {
  /// One packet on its way out; `format` comes with the first packet of each encoder.
  typealias Emit = (consuming Packet, EncodedFormat?) throws(MediaError) -> Void

  private let settings: VideoEncoder.Settings
  private let followsColour: Bool
  private var encoder: VideoEncoder?
  private var format: EncodedFormat?
  private var announces = false
  private var times = DecodingTimes()
  /// Durations of the pictures inside the encoder by PTS: libavcodec does not hand them through.
  private var durations: [Int64: Int64] = [:]

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
  }

  /// Takes one picture in presentation order.
  func encode(_ frame: borrowing VideoFrame, emit: Emit) throws(MediaError) {
    if !isOpen(for: frame) {
      try finish(emit: emit)
      try open(frame)
    }
    if let pts = frame.pts, frame.duration > 0 { durations[pts] = frame.duration }
    try encoder?.send(frame)
    try drain(emit)
  }

  private func isOpen(for frame: borrowing VideoFrame) -> Bool {
    guard let settings = encoder?.settings else { return false }
    guard settings.size == frame.size else { return false }
    // Progressive pictures among fields are coded as such by the same encoder.
    let holdsFields = frame.fields == nil || settings.fields != nil
    return !followsColour || settings.colour == frame.colour && holdsFields
  }

  private func open(_ frame: borrowing VideoFrame) throws(MediaError) {
    var settings = settings
    settings.size = frame.size
    settings.colour = frame.colour
    settings.fields = frame.fields
    let encoder = try VideoEncoder(settings)
    format = EncodedFormat(
      index: formats, size: frame.size, parameters: try encoder.parameters())
    self.encoder = encoder
    formats += 1
    announces = true
  }

  /// Empties the encoder that is open.
  func finish(emit: Emit) throws(MediaError) {
    guard let encoder else { return }
    try encoder.finish()
    try drain(emit)
    self.encoder = nil
    durations.removeAll(keepingCapacity: true)
  }

  private func drain(_ emit: Emit) throws(MediaError) {
    while let encoder, var packet = try encoder.receive() {
      if let pts = packet.pts, let duration = durations.removeValue(forKey: pts) {
        packet.duration = duration
      }
      times.fit(&packet)
      packets += 1
      let format = announces ? format : nil
      announces = false
      try emit(packet, format)
    }
  }
}
