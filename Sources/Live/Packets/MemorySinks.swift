internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Writes packets to a `MemoryOutput`.
final class MemoryPacketSink: PacketSink {
  private let output: MemoryOutput<LivePacket>
  private var audio: AudioDescription?

  init(_ output: MemoryOutput<LivePacket>) { self.output = output }

  func begin(_ description: OutputDescription) throws(UprightError) {
    audio = description.sideTracks.first.flatMap { AudioDescription($0.parameters) }
    try putFormat(description.format)
  }

  private func putFormat(_ format: EncodedFormat) throws(UprightError) {
    guard let audio else { throw UprightError(.fault, "a live session without audio") }
    try output.put(.format(VideoDescription(format), audio))
  }

  func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(UprightError) {
    if let format { try putFormat(format) }
    try output.put(.packet(EncodedPacket(packet, track: track == 0 ? .video : .audio)))
  }

  func finish(isPartial: Bool) { output.queue.close() }

  func abandon() { output.queue.close(discarding: true) }
}

/// Cuts packets into segments and writes those to a `MemoryOutput`.
final class MemorySegmentSink: PacketSink {
  private let output: MemoryOutput<LiveSegment>
  private let cutter: SegmentCutter

  init(_ output: MemoryOutput<LiveSegment>, _ segments: any HLSSegments, duration: MediaTime) {
    self.output = output
    cutter = SegmentCutter(segments, duration: duration)
  }

  func begin(_ description: OutputDescription) { cutter.begin(description) }

  func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(UprightError) {
    try cutter.write(packet, track: track, format: format, emit: put)
  }

  private func put(_ piece: SegmentCutter.Piece) throws(UprightError) {
    switch piece {
    case .format(let description, let bytes):
      try output.put(.format(VideoDescription(description.format), bytes))
    case .segment(let bytes, let start, let duration):
      try output.put(.segment(bytes, start: start.seconds, duration: duration.seconds))
    case .part: break
    }
  }

  func finish(isPartial: Bool) throws(UprightError) {
    if !cutter.isEmpty { try cutter.finish(emit: put) }
    output.queue.close()
  }

  func abandon() { output.queue.close(discarding: true) }
}

extension MemoryOutput {
  /// Waits until there is space for `element`.
  ///
  /// - Throws: `cancelled` if the output is closed.
  func put(_ element: Element) throws(UprightError) {
    guard queue.put(element) else { throw UprightError(.cancelled, "stopped") }
  }
}

extension VideoDescription {
  /// The description of a format that an encoder made.
  init(_ format: EncodedFormat) {
    // Encoders exist only for codecs of the list.
    let codec = Codec(rawValue: format.parameters.codecName) ?? .h264
    self.init(codec, size: format.size, format.parameters)
  }
}

extension EncodedPacket {
  init(_ packet: borrowing Packet, track: MediaTrack) {
    let pts = packet.pts ?? 0
    self.init(
      unsafe packet.withBytes { unsafe Array($0) }, pts: pts,
      dts: packet.dts == pts ? nil : packet.dts, duration: packet.duration,
      timeBase: packet.timeBase, isKey: packet.isKey, track: track)
  }
}
