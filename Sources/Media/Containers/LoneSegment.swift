package import UprightOrientation
package import UprightMediaIO

/// Makes one segment of fragmented MP4 without those before it: a function of its packets, its number and its format.
///
/// As `SegmentCutter` does, it moves every timestamp by the offset of the track, and gives each frame the duration to
/// the next one in decoding order.
package final class LoneSegment {
  private let segments = FragmentedSegments()
  private let description: OutputDescription
  private let offset: MediaTime
  private var held: Packet?
  private var decodingEnd = DecodingEnd()
  /// The init segment of the format.
  package let header: [UInt8]

  /// - Parameter number: The number of the segment, from 0.
  package init(_ description: OutputDescription, number: Int) throws(UprightError) {
    self.description = description
    offset = description.segmentOffset(ofVideo: true, in: description.videoTimeBase)
    header = try segments.begin(description, segment: number) ?? []
  }

  /// Adds a packet of the video, in decoding order.
  package func writeFrame(_ packet: consuming Packet) throws(UprightError) {
    packet.move(by: offset)
    try writeHeld(before: packet.dts)
    decodingEnd.add(packet)
    held = consume packet
  }

  /// Adds a packet of another track.
  ///
  /// - Parameter track: Its index in the segment.
  package func write(_ packet: consuming Packet, track: Int) throws(UprightError) {
    packet.move(by: description.segmentOffset(ofVideo: false, in: packet.timeBase))
    try segments.write(packet, track: track)
  }

  /// Ends the segment and returns its bytes, without the init segment.
  ///
  /// - Parameter next: The decoding time of the next segment's first frame, in ticks of the video's time base; `nil` if
  ///   this one is the last.
  package func finish(before next: Int64?) throws(UprightError) -> [UInt8] {
    if next == nil, var last = held.take() {
      decodingEnd.finish(&last)
      held = consume last
    }
    try writeHeld(before: next.map { $0 + offset.ticks })
    return try segments.cut()
  }

  private func writeHeld(before next: Int64?) throws(UprightError) {
    guard var packet = held.take() else { return }
    packet.last(until: next)
    try segments.write(packet, track: 0)
  }
}
