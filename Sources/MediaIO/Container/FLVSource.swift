package import UprightOrientation
package import UprightSignals

/// A publisher's FLV stream, as the source of a live session (Video File Format Specification 10.1, Annex E; Enhanced
/// RTMP v2).
///
/// libavformat reads the codecs of enhanced RTMP from 6.1 on, a few more with each release, and decides by a first look
/// which tracks there are. Here a track begins with its first frame, however late that comes. Of several tracks of a
/// kind the first one is read.
package final class FLVSource: PacketSource {
  private struct Track {
    let codec: String
    /// The number of the track among those of its kind.
    let number: Int
    var info: StreamInfo
    /// Whether its configuration has changed since its last frame.
    var isChanged = false
    /// The time of the tag that it began with, and then of its last frame, in milliseconds.
    var latest: Int64
  }

  private struct Tag {
    let type: UInt8
    /// The time in milliseconds.
    let time: Int64
    let data: [UInt8]
  }

  package let url = "the publisher's stream"
  package let container = Demuxer.Container(format: "flv", streams: [], isSeekable: false)
  package let losses: [String] = []
  /// The last metadata before the video begins. Each is a packet, too.
  package private(set) var metadata: FLVMetadata?
  /// Whether they name an audio codec.
  package var declaresAudio: Bool { metadata?.declaresAudio == true }
  /// Whether they name audio alone.
  package var declaresNoVideo: Bool { declaresAudio && metadata?.declaresVideo == false }
  private let pipe: BytePipe
  private let interrupt: Interrupt
  private var bytes: ArraySlice<UInt8> = []
  private var hasHeader = false
  /// The last tag's time: as in the tag, where it wraps after 49.7 days, and without wrapping.
  private var clock: (stamp: UInt32, time: Int64)?
  private var tracks: [FLVTrackTag.Kind: Track] = [:]
  /// A codec that changes begins another stream.
  private var nextIndex = 1
  /// Script tags.
  private let script: StreamInfo

  /// The codecs whose NAL units can't be separated without their configuration.
  private static let needsConfiguration: Set = ["h264", "hevc"]

  private static let millisecond = Rational(1, 1000)
  /// In milliseconds.
  private static let silence: Int64 = 250

  package init(_ pipe: BytePipe, interrupt: Interrupt) throws(UprightError) {
    (self.pipe, self.interrupt) = (pipe, interrupt)
    script = StreamInfo(
      index: 0, kind: .data, parameters: try CodecParameters(naming: "text"),
      timeBase: Self.millisecond)
  }

  private var streams: [StreamInfo] { [script] + tracks.values.map(\.info) }

  package func bestStream(_ kind: StreamKind) -> StreamInfo? { streams.first { $0.kind == kind } }

  package func stream(_ index: Int) -> StreamInfo? { streams.first { $0.index == index } }

  package func select(_ indices: Set<Int>) {}

  package func read() throws(UprightError) -> Packet? {
    while let tag = try nextTag() {
      if let kind = FLVTrackTag.Kind(rawValue: tag.type) {
        for part in FLVTrackTag.parts(of: kind, tag.data) {
          if let packet = try packet(part, kind, tag) { return packet }
        }
        // Lets the reader see that time passes without a frame.
        return try Packet([], stream: script, pts: tag.time, isKey: true)
      }
      if tag.type == 18 { return try packet(script: tag) }
    }
    if interrupt.isRaised { throw UprightError(.cancelled, "stopped", at: url) }
    return nil
  }

  // MARK: - Tags

  private func nextTag() throws(UprightError) -> Tag? {
    if !hasHeader {
      // The header and the size of the tag before the first one.
      guard let header = take(13) else { return nil }
      guard header.starts(with: Array("FLV".utf8)) else {
        throw UprightError(.badData, "not an FLV stream", at: url)
      }
      hasHeader = true
    }
    guard let head = take(11), let data = take(head.numbers(in: 1..<4, width: 3)[0]),
      take(4) != nil
    else { return nil }
    let stamp = UInt32(head[7]) << 24 | UInt32(head.numbers(in: 4..<7, width: 3)[0])
    var time = Int64(stamp)
    if let clock { time = clock.time + Int64(Int32(truncatingIfNeeded: stamp &- clock.stamp)) }
    clock = (stamp, time)
    return Tag(type: head[0], time: time, data: data)
  }

  /// Waits for bytes. Returns `nil` if the stream ends before, or the interrupt is raised.
  private func take(_ count: Int) -> [UInt8]? {
    while bytes.count < count {
      guard let piece = pipe.take(interrupt) else { return nil }
      if bytes.isEmpty { bytes = piece[...] } else { bytes += piece }
    }
    defer { bytes = bytes.dropFirst(count) }
    return Array(bytes.prefix(count))
  }

  private func packet(script tag: Tag) throws(UprightError) -> Packet {
    if tracks[.video] == nil, let found = FLVMetadata(script: tag.data) { metadata = found }
    var packet = try Packet(tag.data, stream: script, pts: tag.time, isKey: true)
    packet.isScript = true
    return packet
  }

  // MARK: - Tracks

  private func packet(
    _ part: FLVTrackTag, _ kind: FLVTrackTag.Kind, _ tag: Tag
  ) throws(UprightError) -> Packet? {
    guard let codec = part.codec else { return nil }
    let known = tracks[kind]
    if let known, known.number != part.track { return nil }
    // Of two codecs at a time the first one is heard. Another one takes over with its configuration, or from one that has been
    // silent.
    if kind == .audio, let known, known.codec != codec, part.content != .configuration,
      abs(tag.time - known.latest) < Self.silence
    {
      return nil
    }
    let body = Array(tag.data[part.body])
    switch part.content {
    case .other: return nil
    case .configuration:
      guard let known, known.codec == codec else {
        tracks[kind] = try track(part, kind, codec, configuration: body, at: tag.time)
        return nil
      }
      if body.isEmpty || known.info.parameters.extradata == body { return nil }
      tracks[kind]?.info = try info(part, kind, codec, body, index: known.info.index)
      tracks[kind]?.isChanged = true
      return nil
    case .frame(let offset):
      if body.isEmpty { return nil }
      var track: Track
      if let known, known.codec == codec {
        track = known
      } else {
        if Self.needsConfiguration.contains(codec) {
          guard part.isKey else { return nil }
          throw UprightError(
            .badData, "\(codec) without its sequence header, which must precede the keyframes",
            at: url)
        }
        track = try self.track(part, kind, codec, configuration: [], at: tag.time)
      }
      track.latest = tag.time
      defer { tracks[kind] = track }
      var packet = try Packet(
        body, stream: track.info, pts: tag.time + Int64(offset), isKey: part.isKey)
      packet.dts = tag.time
      if track.isChanged {
        try packet.attachNewExtradata(track.info.parameters.extradata)
        track.isChanged = false
      }
      return packet
    }
  }

  private func track(
    _ part: FLVTrackTag, _ kind: FLVTrackTag.Kind, _ codec: String, configuration: [UInt8],
    at time: Int64
  ) throws(UprightError) -> Track {
    defer { nextIndex += 1 }
    return Track(
      codec: codec, number: part.track,
      info: try info(part, kind, codec, configuration, index: nextIndex), latest: time)
  }

  private func info(
    _ part: FLVTrackTag, _ kind: FLVTrackTag.Kind, _ codec: String, _ configuration: [UInt8],
    index: Int
  ) throws(UprightError) -> StreamInfo {
    switch kind {
    case .video:
      // The configuration of VP8 and VP9 (vpcC) isn't for their decoders.
      let extradata = codec.hasPrefix("vp") ? [] : configuration
      let rate = metadata?.frameRate.flatMap { (0.1...240).contains($0) ? $0 : nil }
      return StreamInfo(
        index: index, kind: .video,
        parameters: try CodecParameters(
          videoCodec: codec, size: Self.size(codec, extradata), extradata: extradata),
        timeBase: Self.millisecond, frameRate: rate.map { Rational(Int($0 * 1000), 1000) })
    case .audio:
      return StreamInfo(
        index: index, kind: .audio,
        parameters: try CodecParameters(
          audioCodec: codec, sampleRate: part.sampleRate, channels: part.channels,
          extradata: configuration), timeBase: Self.millisecond)
    }
  }
  /// Returns the size of the frames by the first sequence parameter set. `nil` if there is none.
  private static func size(_ codec: String, _ configuration: [UInt8]) -> PixelSize? {
    let codecs: [String: DisplayOrientationTracker.Codec] = ["h264": .h264, "hevc": .hevc]
    guard let codec = codecs[codec],
      let known = try? DecoderConfiguration(configuration, codec: codec)
    else { return nil }
    return known.sets.lazy.compactMap { try? SequenceParameters($0).size }.first
  }
}
