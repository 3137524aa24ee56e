package import UprightOrientation
package import UprightMediaIO

/// Cuts packets into segments: at a keyframe once a segment is long enough, and where the format changes. Cuts
/// segments into parts if a part has a duration.
///
/// The first segment after a discontinuity begins with its own init segment, although the playlist names that with
/// EXT-X-MAP: VLC 3 never loads a second one, and would end there. Other players skip the repeated boxes.
package final class SegmentCutter {
  /// What the packets become.
  package enum Piece {
    /// A format begins. The bytes are its init segment; `nil` if segments need none.
    case format(OutputDescription, [UInt8]?)
    /// A segment, which begins at `start` on the media timeline.
    case segment([UInt8], start: MediaTime, duration: MediaTime)
    /// A part of the current segment. The segment follows its last part.
    case part(SegmentPart)
  }

  /// Which tracks segments hold.
  package enum Content: Sendable {
    case all
    /// The video alone.
    case video
    /// The audio alone. The video's packets, which come too, decide where segments end, as in the segments of
    /// the video.
    case audio
  }

  private let segments: any HLSSegments
  private let content: Content
  private let segmentDuration: MediaTime
  /// The longest duration of a part; `nil` for no parts.
  private let partDuration: MediaTime?
  private var description: OutputDescription?
  private var hasFormat = false
  /// The number of the next segment.
  private var number: Int
  /// The start time of the current segment; `nil` if there is none.
  private var segmentStart: MediaTime?
  /// The start time of the current part, and whether it begins with a keyframe.
  private var part: (start: MediaTime, isIndependent: Bool)?
  /// The parts of the current segment that were cut.
  private var segmentBytes: [UInt8] = []
  /// The init segment of a format that begins, before its first segment.
  private var repeatedInit: [UInt8] = []
  /// Whether the first segment begins with its init segment too.
  private let continues: Bool
  /// The end time of the last frame.
  private var end = MediaTime.zero
  /// The offset that is added to every timestamp of the video.
  private(set) var offset = MediaTime.zero
  /// Whether no packet has been written.
  package private(set) var isEmpty = true
  /// The last video packet. It is written once the next packet defines its duration in decoding order: movenc
  /// changes the time of a segment's first packet if the duration of the packet before reaches past it.
  private var held: Packet?
  /// The time of `held`, and whether it is a keyframe.
  private var last: (time: MediaTime, isKey: Bool)?
  private var decodingEnd = DecodingEnd()

  /// Between two formats, a longer time without frames is a hole.
  private static let shortestHole = MediaTime(1, Rational(1, 2))

  /// - Parameters:
  ///   - duration: The duration of a segment.
  ///   - partDuration: The longest duration of a part. Frames are as far apart as `LowLatencyHLS.repeats` has it.
  ///   - first: The number of the first segment.
  ///   - continues: Whether the first segment may follow those of an earlier run, after a discontinuity.
  package init(
    _ segments: any HLSSegments, duration: MediaTime, partDuration: MediaTime? = nil,
    content: Content = .all, first: Int = 0, continues: Bool = false
  ) {
    self.continues = continues
    self.content = content
    self.segments = segments
    segmentDuration = duration
    self.partDuration = partDuration
    number = first
  }

  /// Returns the longest duration of a frame with which parts keep the rules: all but the last part of a segment
  /// have at least 85 % of the longest duration (RFC 8216bis, 4.4.3.7).
  package static func longestFrame(inPartsOf duration: MediaTime) -> MediaTime {
    duration - shortestPart(of: duration)
  }

  private static func shortestPart(of duration: MediaTime) -> MediaTime {
    let ticks = duration.plausibleTicks(of: Rational(1, 1_000_000))
    return MediaTime((ticks * 85 + 99) / 100, Rational(1, 1_000_000))
  }

  /// Sets the properties of the stream. Must be called before the first packet.
  package func begin(_ description: OutputDescription) {
    var description = description
    if content == .video { description.sideTracks = [] }
    if content == .audio { description.hasVideo = false }
    if !segments.hasEditLists { description.earliestFrame = nil }
    self.description = description
    offset = description.segmentOffset(ofVideo: true, in: description.videoTimeBase)
  }

  /// Writes the next packet. `format` is passed with the first packet of each format except the first.
  package func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?,
    emit: (Piece) throws(UprightError) -> Void
  ) throws(UprightError) {
    guard let description else { throw UprightError(.fault, "a packet before the header") }
    if content == .video, track != 0 { return }
    packet.move(
      by: track == 0 ? offset : description.segmentOffset(ofVideo: false, in: packet.timeBase))
    let time = packet.time ?? end
    if track == 0 {
      try cutBeforeLast(until: time, emit)
      let isAfterHole = format != nil && time - end > Self.shortestHole
      try writeHeld(before: isAfterHole ? nil : packet.dts)
      if let format {
        // A segment doesn't last until the next one if frames are missing in between.
        try cut(at: isAfterHole ? end : time, before: nil, emit)
        try open(format, description, emit)
      } else if !hasFormat {
        try open(description.format, description, emit)
      } else if packet.isKey, let start = segmentStart,
        KeyframeClock.ends(after: time - start, of: segmentDuration)
      {
        try cut(at: time, before: .segment, emit)
      } else if let partDuration, let part, time - part.start >= Self.shortestPart(of: partDuration)
      {
        try cutPart(at: time, before: .part, emit)
      }
      if segmentStart == nil { segmentStart = time }
      if part == nil, partDuration != nil { part = (time, packet.isKey || content == .audio) }
      end = max(end, time + packet.length)
    } else if !hasFormat {
      try open(description.format, description, emit)
    }
    isEmpty = false
    if track == 0 {
      decodingEnd.add(packet)
      last = (time, packet.isKey || content == .audio)
      held = consume packet
    } else {
      try segments.write(packet, track: content == .audio ? track - 1 : track)
    }
  }

  /// Ends the last segment. No packet may follow.
  package func finish(emit: (Piece) throws(UprightError) -> Void) throws(UprightError) {
    if var last = held.take() {
      if partDuration == nil { decodingEnd.finish(&last) }
      held = consume last
    }
    try writeHeld(before: nil)
    if let part, let partDuration { end = min(end, part.start + partDuration) }
    try cut(at: end, before: nil, emit)
  }

  private func writeHeld(before next: Int64?) throws(UprightError) {
    guard var packet = held.take() else { return }
    packet.last(until: next)
    if content != .audio { try segments.write(packet, track: 0) }
  }

  private func open(
    _ format: EncodedFormat, _ description: OutputDescription,
    _ emit: (Piece) throws(UprightError) -> Void
  ) throws(UprightError) {
    var changed = description
    changed.format = format
    let header = try segments.begin(changed, segment: number)
    if hasFormat || continues { repeatedInit = header ?? [] }
    try emit(.format(changed, header))
    hasFormat = true
  }

  private func cut(
    at time: MediaTime, before next: SegmentPart.Successor?,
    _ emit: (Piece) throws(UprightError) -> Void
  ) throws(UprightError) {
    guard let start = segmentStart else { return }
    try cutPart(at: time, before: next, emit)
    segmentStart = nil
    number += 1
    let bytes = partDuration == nil ? try takeBytes() : segmentBytes
    segmentBytes = []
    try emit(.segment(bytes, start: start, duration: time - start))
  }

  private func takeBytes() throws(UprightError) -> [UInt8] {
    let bytes = try segments.cut()
    if repeatedInit.isEmpty { return bytes }
    defer { repeatedInit = [] }
    return repeatedInit + bytes
  }

  /// Ends a part before the last frame if it would be too long until the next one: rather too short than longer than what
  /// players were told.
  private func cutBeforeLast(
    until time: MediaTime, _ emit: (Piece) throws(UprightError) -> Void
  ) throws(UprightError) {
    guard let partDuration, let part, let last, last.time > part.start,
      time - part.start > partDuration
    else { return }
    try cutPart(at: last.time, before: .part, emit)
    self.part = (last.time, last.isKey)
  }

  private func cutPart(
    at time: MediaTime, before next: SegmentPart.Successor?,
    _ emit: (Piece) throws(UprightError) -> Void
  ) throws(UprightError) {
    guard let current = part.take() else { return }
    let bytes = try takeBytes()
    segmentBytes += bytes
    try emit(
      .part(
        SegmentPart(
          bytes: bytes, start: current.start, duration: time - current.start,
          isIndependent: current.isIndependent, next: next)))
  }
}

/// A part of a segment (RFC 8216bis, 3.1).
package struct SegmentPart {
  /// What follows a part in the same format.
  package enum Successor {
    /// Another part of the same segment.
    case part
    /// The first part of the next segment.
    case segment
  }

  package let bytes: [UInt8]
  package let start: MediaTime
  package let duration: MediaTime
  /// Whether it begins with a keyframe.
  package let isIndependent: Bool
  /// What certainly follows; `nil` if the format or the stream ends.
  package let next: Successor?
}
