internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Glibc
package import UprightOrientation

/// Writes packets to a container, in a file or in memory. Used by one thread at a time.
///
/// Packets must be in decoding order across the streams, and aren't buffered here, unless `ordersPackets` is set.
package final class Muxer {
  /// The destination of the bytes.
  package enum Target: Sendable, Hashable {
    /// A file, a URL, or `pipe:1`.
    case url(String)
    /// Memory. `takeBytes()` returns its content.
    case memory
  }

  let context: UnsafeMutablePointer<AVFormatContext>
  private let target: Target
  private let location: String
  /// Kept alive for the context, which polls it.
  private let interrupt: Interrupt?
  private var hasHeader = false
  private var isFinished = false
  private var hasFlushed = false
  /// Whether packets of different streams may come in any order within a segment. They are written in decoding order.
  package var ordersPackets = false
  /// The timestamps of each stream, in the container's ticks. Muxers reject timestamps that don't increase.
  private var times: [Int: DecodingTimestamps] = [:]
  /// The grids of the streams with audio.
  var audio: [Int: AudioGrid] = [:]

  /// Creates a container of libavformat's `format` name.
  ///
  /// - Parameters:
  ///   - name: The name of the target in error messages, if the target has a temporary name.
  ///   - settings: Options for the protocol.
  /// - Throws: `unavailable` for an unknown format or protocol, `cannotCreate` if the target can't be opened.
  package init(
    format: String, target: Target, name: String? = nil, interrupt: Interrupt? = nil,
    settings: [(String, String)] = []
  ) throws(UprightError) {
    self.target = target
    self.interrupt = interrupt
    let address = if case .url(let url) = target { url } else { "memory" }
    location = name ?? address
    context = try Self.open(
      format: format, target: target, location: location, interrupt, settings)
  }

  deinit {
    // Otherwise the connection of a network session would stay open.
    if hasHeader, !isFinished, connectsItself { av_write_trailer(context) }
    closeTarget()
    avformat_free_context(context)
  }

  private static func open(
    format: String, target: Target, location: String, _ interrupt: Interrupt?,
    _ settings: [(String, String)]
  ) throws(UprightError) -> UnsafeMutablePointer<AVFormatContext> {
    var made: UnsafeMutablePointer<AVFormatContext>?
    let address: String? = if case .url(let url) = target { filePath(url) } else { nil }
    let code = QuietContext.output(&made, format: format, address: address)
    guard code >= 0, let context = made else {
      throw UprightError(
        .unavailable, "the linked FFmpeg has no \(format) muxer", at: location,
        remedy: "use another output format"
      ).reporting(code)
    }
    // Y4M's high bit depths are an extension that must be enabled.
    if format == "yuv4mpegpipe" { context.pointee.strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL }
    if let interrupt { context.pointee.interrupt_callback = interrupt.callback }
    var pipe: CInt = -1
    if case .url(let path) = target, NamedPipe.isOne(path) {
      do throws(UprightError) { pipe = try NamedPipe.openForWriting(path, interrupt) } catch {
        avformat_free_context(context)
        throw error
      }
    }
    // Closed only after libavformat has opened the pipe, so that the reader sees no end of file between the
    // two.
    defer { if pipe >= 0 { close(pipe) } }
    // The muxer of a network session connects when the header is written.
    if context.pointee.oformat.pointee.flags & AVFMT_NOFILE != 0 { return context }
    let opened = try withDictionary(settings) { dictionary throws(UprightError) in
      if let address {
        avio_open2(
          &context.pointee.pb, address, AVIO_FLAG_WRITE, &context.pointee.interrupt_callback,
          &dictionary)
      } else {
        avio_open_dyn_buf(&context.pointee.pb)
      }
    }
    if opened < 0 {
      avformat_free_context(context)
      throw openError(
        opened, at: location, isFile: address.map { InputTrust.scheme(of: $0) == nil } ?? true
      ).reporting(opened)
    }
    return context
  }

  /// Whether the muxer opens a connection of its own, and has no byte stream.
  private var connectsItself: Bool { context.pointee.oformat.pointee.flags & AVFMT_NOFILE != 0 }

  private static func openError(_ code: CInt, at location: String, isFile: Bool) -> UprightError {
    switch code {
    case upright_averror_protocol_not_found():
      UprightError(
        .unavailable, "the linked FFmpeg has no such protocol", at: location,
        remedy: "write to a file, an rtmp:// or an srt:// address")
    case upright_averror_exit(): UprightError(.cancelled, "stopped", at: location)
    default:
      UprightError(
        .cannotCreate, "cannot be written: \(describe(code))", at: location,
        remedy: isFile ? "check that the folder is there and writable" : "check the address")
    }
  }

  /// A path with a colon in it stays a path.
  private static func filePath(_ url: String) -> String {
    InputTrust.scheme(of: url) == nil ? "file:\(url)" : url
  }

  /// Writes the header with options for the muxer. Call it once, after adding the streams.
  ///
  /// - Throws: `badData` if the container rejects a stream, `inputOutput` if writing fails, `cannotCreate` if
  ///   a network session can't be established.
  package func writeHeader(_ options: [(String, String)] = []) throws(UprightError) {
    _ = upright_log_take_error()
    let code = try withDictionary(options) { dictionary throws(UprightError) in
      avformat_write_header(context, &dictionary)
    }
    try check(code) {
      connectsItself
        ? Self.openError($0, at: location, isFile: false)
        : writeError($0, doing: "the header cannot be written")
    }
    hasHeader = true
    try checkTarget()
  }

  /// Returns the time base that the container chose, in seconds per tick.
  package func timeBase(of stream: Int) -> Rational {
    context.pointee.streams[stream].map { Rational($0.pointee.time_base) } ?? Rational(1, 1000)
  }

  /// Whether packets of a stream may be shown at the same time: subtitles in Matroska, which has no text samples that follow
  /// each other as MP4 does.
  private func mayOverlap(_ stream: Int) -> Bool {
    let type = context.pointee.streams[stream]?.pointee.codecpar.pointee.codec_type
    return type == AVMEDIA_TYPE_SUBTITLE && isMatroska
  }

  /// Writes one packet. Its timestamps are rescaled from the packet's time base.
  package func write(_ packet: consuming Packet, stream: Int) throws(UprightError) {
    shiftPastDelay(&packet, stream)
    let tick = timeBase(of: stream)
    if audio[stream]?.place(&packet, in: tick) == nil { packet.rescale(to: tick) }
    packet.streamIndex = stream
    packet.raw.pointee.pos = -1
    dropKnownExtradata(&packet, stream)
    times[stream, default: DecodingTimestamps()].fit(&packet, mayRepeat: mayOverlap(stream))
    let code =
      ordersPackets
      ? av_interleaved_write_frame(context, packet.raw) : av_write_frame(context, packet.raw)
    try check(code) { writeError($0, doing: "writing failed") }
    try checkTarget()
  }

  /// Takes extradata that the header already has from a packet: FFmpeg's Matroska muxer would write elements for it for which
  /// the header has no room, over those that follow.
  private func dropKnownExtradata(_ packet: inout Packet, _ stream: Int) {
    guard let new = packet.newExtradata,
      let known = context.pointee.streams[stream]?.pointee.codecpar.pointee,
      let data = known.extradata,
      new.elementsEqual(UnsafeBufferPointer(start: data, count: max(0, Int(known.extradata_size))))
    else { return }
    av_packet_shrink_side_data(packet.raw, AV_PKT_DATA_NEW_EXTRADATA, 0)
  }

  /// In Matroska a block's time is that of its audio and CodecDelay together (RFC 9559, 5.1.4.1.25). FFmpeg
  /// 5.1 writes the element for Opus but doesn't shift the timestamps, so the audio would be early by that
  /// delay.
  private func shiftPastDelay(_ packet: inout Packet, _ stream: Int) {
    guard !upright_matroska_adds_delay(),
      let parameters = context.pointee.streams[stream]?.pointee.codecpar,
      parameters.pointee.codec_id == AV_CODEC_ID_OPUS, parameters.pointee.initial_padding > 0,
      let name = context.pointee.oformat.pointee.name,
      ["matroska", "webm"].contains(String(cString: name))
    else { return }
    // Opus counts in 48 kHz, whatever the input's rate is.
    let delay = av_rescale_q(
      Int64(parameters.pointee.initial_padding), AVRational(num: 1, den: 48000),
      packet.raw.pointee.time_base)
    packet.pts = packet.pts.map { $0 + delay }
    packet.dts = packet.dts.map { $0 + delay }
  }

  /// Ends the current fragment (`frag_custom`).
  package func endFragment() throws(UprightError) {
    try check(av_write_frame(context, nil)) { writeError($0, doing: "writing failed") }
    // Otherwise movenc starts the next fragment at the end of the last packet's duration instead of at the
    // first packet's timestamp. The flag applies to one fragment only.
    av_opt_set(context.pointee.priv_data, "movflags", "+frag_discont", 0)
    try checkTarget()
  }

  /// Ends the current fragment (`frag_custom`) or cluster, and passes all data to the kernel, so that
  /// everything written so far plays even if the process ends.
  package func flush() throws(UprightError) {
    // With `delay_moov` the first call writes only the index.
    if isFragmented, !hasFlushed { try endFragment() }
    hasFlushed = true
    if isFragmented {
      try endFragment()
    } else {
      try check(av_write_frame(context, nil)) { writeError($0, doing: "writing failed") }
    }
    avio_flush(context.pointee.pb)
    try checkTarget()
  }

  private var isFragmented: Bool {
    guard let name = context.pointee.oformat.pointee.name else { return false }
    return ["mp4", "mov"].contains(String(cString: name))
  }

  /// Ends an MPEG-TS segment. Buffered audio is written, and the tables (PAT, PMT) are repeated before the
  /// next packet.
  package func endSegment() throws(UprightError) {
    if ordersPackets {
      try check(av_interleaved_write_frame(context, nil)) {
        writeError($0, doing: "writing failed")
      }
    }
    try check(av_write_frame(context, nil)) { writeError($0, doing: "writing failed") }
    av_opt_set(context.pointee.priv_data, "mpegts_flags", "+resend_headers", 0)
    try checkTarget()
  }

  /// Changes the size of the space that is reserved for MP4's index before the media. 0 puts the index at the
  /// end. The space that the header reserved stays.
  package func setIndexRoom(_ bytes: Int) {
    av_opt_set_int(context.pointee.priv_data, "moov_size", Int64(bytes), 0)
  }

  /// Writes the container's trailer and closes the target.
  ///
  /// - Throws: `inputOutput` if not all bytes could be written, for example because the disk is full.
  package func finish() throws(UprightError) {
    guard hasHeader, !isFinished else { return }
    isFinished = true
    try check(av_write_trailer(context)) { writeError($0, doing: "the end cannot be written") }
    if case .url = target, !connectsItself {
      avio_flush(context.pointee.pb)
      try checkTarget()
      try check(closeTarget()) { writeError($0, doing: "writing failed") }
    }
  }

  /// Returns the bytes written to memory since the last call.
  package func takeBytes() throws(UprightError) -> [UInt8] {
    guard case .memory = target, context.pointee.pb != nil else { return [] }
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = avio_close_dyn_buf(context.pointee.pb, &bytes)
    context.pointee.pb = nil
    defer { av_free(bytes) }
    let result = Array(UnsafeBufferPointer(start: bytes, count: max(0, Int(count))))
    if !isFinished {
      try check(avio_open_dyn_buf(&context.pointee.pb)) { _ in outOfMemory("segment") }
    }
    return result
  }

  @discardableResult
  private func closeTarget() -> CInt {
    guard context.pointee.pb != nil else { return 0 }
    if case .url = target { return avio_closep(&context.pointee.pb) }
    var bytes: UnsafeMutablePointer<UInt8>?
    avio_close_dyn_buf(context.pointee.pb, &bytes)
    context.pointee.pb = nil
    av_free(bytes)
    return 0
  }

  /// Muxers don't always return an error of the target. The target's error flag does.
  private func checkTarget() throws(UprightError) {
    guard let target = context.pointee.pb else { return }
    try check(target.pointee.error) { writeError($0, doing: "writing failed") }
  }

  private func writeError(_ code: CInt, doing: String) -> UprightError {
    switch code {
    case upright_averror(ENOSPC):
      UprightError(
        .inputOutput, "\(doing): the disk is full", at: location, remedy: "free some space")
    case upright_averror(EPIPE):
      UprightError(.inputOutput, "\(doing): the reader closed the pipe", at: location)
    case upright_averror_exit(): UprightError(.cancelled, "stopped", at: location)
    case upright_averror(EINVAL), upright_averror_invaliddata():
      // The packets are the input's, so their timestamps or parameters are wrong.
      UprightError(
        .badData, "\(doing): the container rejects the packets (\(explain(code)))", at: location,
        remedy: "check the input's timestamps, or use another container")
    default: UprightError(.inputOutput, "\(doing): \(explain(code))", at: location)
    }
  }
}
