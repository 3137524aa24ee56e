package import Orientation
package import UprightMediaIO
package import UprightPipeline

/// Cuts packets into segments: at a keyframe once a segment is long enough, and where the format changes.
package final class SegmentCutter {
  /// What the packets become.
  package enum Piece {
    /// A format begins. The bytes are its init segment; `nil` if segments need none.
    case format(EncodedFormat, [UInt8]?)
    /// A segment, which begins at `start` on the media timeline.
    case segment([UInt8], start: MediaTime, duration: MediaTime)
  }

  private let segments: any HLSSegments
  private let segmentDuration: MediaTime
  private var description: OutputDescription?
  private var hasFormat = false
  /// The number of the next segment.
  private var number: Int
  /// The start time of the current segment; `nil` if there is none.
  private var segmentStart: MediaTime?
  /// The end time of the last frame.
  private var end = MediaTime.zero
  /// The offset that is added to every timestamp so that none is negative, since `tfdt` is
  /// unsigned: audio priming and frame reordering begin before zero. A whole number of video ticks.
  private var offset = MediaTime.zero
  /// Whether no packet has been written.
  package private(set) var isEmpty = true
  /// The last video packet. It is written once the next packet defines its duration in decoding order: movenc
  /// changes the time of a segment's first packet if the duration of the packet before reaches past it.
  private var held: Packet?

  /// - Parameters:
  ///   - duration: The duration of a segment.
  ///   - first: The number of the first segment.
  package init(_ segments: any HLSSegments, duration: MediaTime, first: Int = 0) {
    self.segments = segments
    segmentDuration = duration
    number = first
  }

  /// Sets the properties of the stream. Must be called before the first packet.
  package func begin(_ description: OutputDescription) {
    self.description = description
    offset = max(.zero, -description.earliestTime).roundedUp(to: description.videoTimeBase)
  }

  /// Writes the next packet. `format` is passed with the first packet of each format except the first.
  package func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?,
    emit: (Piece) throws(UprightError) -> Void
  ) throws(UprightError) {
    guard let description else { throw UprightError(.fault, "a packet before the header") }
    packet.move(by: offset)
    let time = packet.time ?? end
    if track == 0 {
      try writeHeld(before: packet.dts)
      if let format {
        try cut(at: time, emit)
        try open(format, description, emit)
      } else if !hasFormat {
        try open(description.format, description, emit)
      } else if packet.isKey, let start = segmentStart,
        KeyframeClock.ends(after: time - start, of: segmentDuration)
      {
        try cut(at: time, emit)
      }
      if segmentStart == nil { segmentStart = time }
      end = max(end, time + packet.length)
    } else if !hasFormat {
      try open(description.format, description, emit)
    }
    isEmpty = false
    if track == 0 {
      held = consume packet
    } else {
      try segments.write(packet, track: track)
    }
  }

  /// Ends the last segment. No packet may follow.
  package func finish(emit: (Piece) throws(UprightError) -> Void) throws(UprightError) {
    try writeHeld(before: nil)
    try cut(at: end, emit)
  }

  private func writeHeld(before next: Int64?) throws(UprightError) {
    guard var packet = held.take() else { return }
    if let next, let dts = packet.dts, next > dts { packet.duration = next - dts }
    try segments.write(packet, track: 0)
  }

  private func open(
    _ format: EncodedFormat, _ description: OutputDescription,
    _ emit: (Piece) throws(UprightError) -> Void
  ) throws(UprightError) {
    var changed = description
    changed.format = format
    try emit(.format(format, try segments.begin(changed, segment: number)))
    hasFormat = true
  }

  private func cut(
    at time: MediaTime, _ emit: (Piece) throws(UprightError) -> Void
  ) throws(UprightError) {
    guard let start = segmentStart else { return }
    segmentStart = nil
    number += 1
    try emit(.segment(try segments.cut(), start: start, duration: time - start))
  }
}
