internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation

/// Converts text subtitles from one format to another, for containers that require a specific format. Used by
/// one thread at a time.
package final class SubtitleTranscoder {
  private let decoder: UnsafeMutablePointer<AVCodecContext>
  private let encoder: UnsafeMutablePointer<AVCodecContext>
  private let sourceTimeBase: AVRational
  /// For formats in which one subtitle follows the other.
  private var line: CueLine?

  /// The number of packets that couldn't be read so far.
  package private(set) var damagedPackets = 0

  private static let millisecond = AVRational(num: 1, den: 1000)

  /// The maximum size of one encoded subtitle, in bytes.
  private static let longest = 1 << 20

  /// - Throws: `unavailable` if a decoder or encoder isn't linked, `badData` if the stream can't be read.
  package init(stream: StreamInfo, encoderName: String) throws(UprightError) {
    sourceTimeBase = AVRational(stream.timeBase)
    line = encoderName == "mov_text" ? CueLine() : nil
    decoder = try Self.openDecoder(stream)
    do {
      encoder = try Self.openEncoder(encoderName, after: decoder)
    } catch {
      var pointer: UnsafeMutablePointer<AVCodecContext>? = decoder
      avcodec_free_context(&pointer)
      throw error
    }
  }

  deinit {
    var first: UnsafeMutablePointer<AVCodecContext>? = decoder
    avcodec_free_context(&first)
    var second: UnsafeMutablePointer<AVCodecContext>? = encoder
    avcodec_free_context(&second)
  }

  private static func openDecoder(
    _ stream: StreamInfo
  ) throws(UprightError) -> UnsafeMutablePointer<AVCodecContext> {
    guard let codec = avcodec_find_decoder(stream.parameters.raw.pointee.codec_id) else {
      throw UprightError(.unavailable, "the linked FFmpeg cannot read \(stream.codecLabel)")
    }
    var made = QuietContext.codec(codec)
    guard let context = made else { throw outOfMemory("subtitles") }
    avcodec_parameters_to_context(context, stream.parameters.raw)
    context.pointee.pkt_timebase = AVRational(stream.timeBase)
    context.pointee.time_base = AVRational(stream.timeBase)
    let code = avcodec_open2(context, codec, nil)
    guard code >= 0 else {
      avcodec_free_context(&made)
      throw UprightError(.badData, "\(stream.codecLabel) cannot be read: \(explain(code))")
        .reporting(code)
    }
    return context
  }

  private static func openEncoder(
    _ name: String, after source: UnsafeMutablePointer<AVCodecContext>
  ) throws(UprightError) -> UnsafeMutablePointer<AVCodecContext> {
    guard let codec = avcodec_find_encoder_by_name(name) else {
      throw UprightError(.unavailable, "the linked FFmpeg has no \(name)")
    }
    var made = QuietContext.codec(codec)
    guard let context = made else { throw outOfMemory("subtitles") }
    context.pointee.time_base = AVRational(num: 1, den: 1000)
    // The styles, which every text decoder provides as an ASS header.
    let size = Int(source.pointee.subtitle_header_size)
    if size > 0, let header = source.pointee.subtitle_header, let copy = av_mallocz(size + 1) {
      copy.copyMemory(from: header, byteCount: size)
      context.pointee.subtitle_header = copy.assumingMemoryBound(to: UInt8.self)
      context.pointee.subtitle_header_size = CInt(size)
    }
    let code = avcodec_open2(context, codec, nil)
    guard code >= 0 else {
      avcodec_free_context(&made)
      throw UprightError(.unavailable, "\(name) rejects these subtitles: \(explain(code))")
        .reporting(code)
    }
    return context
  }

  /// Seconds per tick of the encoded packets.
  package var timeBase: Rational { Rational(1, 1000) }

  /// Returns what a muxer must know.
  package func parameters() throws(UprightError) -> CodecParameters {
    try CodecParameters(of: encoder)
  }

  /// Converts the subtitle in `packet`, or with `nil` ends, and passes on what is complete. Packets that are empty (MP4 marks
  /// pauses with empty subtitles) are left out, and those that can't be read are counted.
  package func transcode(
    _ packet: consuming Packet?, emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    guard let packet else {
      for cue in line?.finish() ?? [] { try encode(cue, emit: emit) }
      return
    }
    guard let cue = decode(packet) else { return }
    for cue in line?.add(cue) ?? [cue] { try encode(cue, emit: emit) }
  }

  private func decode(_ packet: borrowing Packet) -> CueLine.Cue? {
    var subtitle = AVSubtitle()
    var isThere: CInt = 0
    guard let pts = packet.pts,
      avcodec_decode_subtitle2(decoder, &subtitle, &isThere, packet.raw) >= 0
    else {
      damagedPackets += 1
      return nil
    }
    defer { avsubtitle_free(&subtitle) }
    guard isThere != 0, subtitle.num_rects > 0 else { return nil }
    let events = (0..<Int(subtitle.num_rects)).compactMap { index in
      subtitle.rects[index]?.pointee.ass.map { String(cString: $0) }
    }
    guard !events.isEmpty else { return nil }
    let start =
      av_rescale_q(pts, sourceTimeBase, Self.millisecond) + Int64(subtitle.start_display_time)
    var length = Int64(subtitle.end_display_time) - Int64(subtitle.start_display_time)
    if length <= 0 || subtitle.end_display_time == .max {
      length = av_rescale_q(max(0, packet.duration), sourceTimeBase, Self.millisecond)
    }
    return CueLine.Cue(start: start, end: start + length, events: events)
  }

  private func encode(
    _ cue: CueLine.Cue, emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    var subtitle = AVSubtitle()
    defer { avsubtitle_free(&subtitle) }
    guard
      let list = av_mallocz(MemoryLayout<UnsafeMutablePointer<AVSubtitleRect>?>.stride),
      let memory = av_mallocz(MemoryLayout<AVSubtitleRect>.size)
    else { throw outOfMemory("subtitles") }
    let rectangle = memory.bindMemory(to: AVSubtitleRect.self, capacity: 1)
    rectangle.pointee.type = SUBTITLE_ASS
    rectangle.pointee.ass = av_strdup(cue.dialogue)
    subtitle.rects = list.bindMemory(
      to: UnsafeMutablePointer<AVSubtitleRect>?.self, capacity: 1)
    subtitle.rects[0] = rectangle
    subtitle.num_rects = 1
    subtitle.end_display_time = UInt32(clamping: cue.end - cue.start)
    let result = try Packet()
    guard av_new_packet(result.raw, CInt(Self.longest)) >= 0 else { throw outOfMemory("subtitles") }
    let bytes = avcodec_encode_subtitle(
      encoder, result.raw.pointee.data, CInt(Self.longest), &subtitle)
    guard bytes >= 0 else {
      damagedPackets += 1
      return
    }
    av_shrink_packet(result.raw, bytes)
    result.raw.pointee.time_base = Self.millisecond
    result.raw.pointee.pts = cue.start
    result.raw.pointee.dts = cue.start
    result.raw.pointee.duration = cue.end - cue.start
    result.raw.pointee.flags |= AV_PKT_FLAG_KEY
    try emit(result)
  }
}

extension StreamInfo {
  /// Whether the stream carries subtitles as text rather than as images.
  package var isText: Bool {
    guard kind == .subtitle,
      let descriptor = avcodec_descriptor_get(parameters.raw.pointee.codec_id)
    else { return false }
    return descriptor.pointee.props & AV_CODEC_PROP_TEXT_SUB != 0
  }
}
