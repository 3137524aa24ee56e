internal import Glibc
internal import CFFmpeg
internal import CFFmpegShims
package import Orientation

/// Writes packets into a container, in a file or in memory. Used by one thread at a time.
///
/// Packets must come in decoding order across the streams: nothing is buffered here.
package final class Muxer {
  /// Where the bytes go.
  package enum Target: Sendable, Hashable {
    /// A file, a URL, or `pipe:1`.
    case url(String)
    /// Memory, taken out with `takeBytes()`.
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
  /// Of each stream, in the container's own ticks: muxers refuse times that do not rise.
  private var times: [Int: DecodingTimes] = [:]

  /// Prepares a container of libavformat's `format` name.
  ///
  /// - Parameters:
  ///   - name: what errors call the target; a temporary name means nothing to anyone.
  ///   - settings: of the protocol.
  /// - Throws: `unavailable` for an unknown format or protocol, `cannotCreate` where the target cannot
  ///   be opened.
  package init(
    format: String, target: Target, name: String? = nil, interrupt: Interrupt? = nil,
    settings: [(String, String)] = []
  ) throws(MediaError) {
    self.target = target
    self.interrupt = interrupt
    let address = if case .url(let url) = target { url } else { "memory" }
    location = name ?? address
    context = try Self.open(
      format: format, target: target, location: location, interrupt, settings)
  }

  deinit {
    closeTarget()
    avformat_free_context(context)
  }

  private static func open(
    format: String, target: Target, location: String, _ interrupt: Interrupt?,
    _ settings: [(String, String)]
  ) throws(MediaError) -> UnsafeMutablePointer<AVFormatContext> {
    var made: UnsafeMutablePointer<AVFormatContext>?
    let address: String? = if case .url(let url) = target { filePath(url) } else { nil }
    let code = avformat_alloc_output_context2(&made, nil, format, address)
    guard code >= 0, let context = made else {
      throw MediaError(
        .unavailable, "the linked FFmpeg has no \(format) muxer", at: location,
        remedy: "take another output format")
    }
    // Y4M's high bit depths are an extension that the muxer only writes when asked to.
    if format == "yuv4mpegpipe" { context.pointee.strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL }
    if let interrupt { context.pointee.interrupt_callback = interrupt.callback }
    var pipe: CInt = -1
    if case .url(let path) = target, NamedPipe.isOne(path) {
      do throws(MediaError) { pipe = try NamedPipe.openForWriting(path, interrupt) } catch {
        avformat_free_context(context)
        throw error
      }
    }
    // The reader must not see an end between the two.
    defer { if pipe >= 0 { close(pipe) } }
    let opened = try withDictionary(settings) { dictionary throws(MediaError) in
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
        opened, at: location, isFile: address.map { InputTrust.scheme(of: $0) == nil } ?? true)
    }
    return context
  }

  private static func openError(_ code: CInt, at location: String, isFile: Bool) -> MediaError {
    switch code {
    case upright_averror_protocol_not_found():
      MediaError(
        .unavailable, "the linked FFmpeg has no such protocol", at: location,
        remedy: "write to a file, an rtmp:// or an srt:// address")
    case upright_averror_exit(): MediaError(.cancelled, "stopped", at: location)
    default:
      MediaError(
        .cannotCreate, "cannot be written: \(describe(code))", at: location,
        remedy: isFile ? "check that the folder is there and writable" : "check the address")
    }
  }

  /// A path with a colon in it stays a path.
  private static func filePath(_ url: String) -> String {
    InputTrust.scheme(of: url) == nil ? "file:\(url)" : url
  }

  /// Whether `codec` may go into `format`, by libavformat's own table.
  package static func canCarry(_ codec: VideoCodec, format: String) -> Bool {
    guard let output = av_guess_format(format, nil, nil),
      let encoder = avcodec_find_encoder_by_name(codec.encoderName)
    else { return false }
    return avformat_query_codec(output, encoder.pointee.id, FF_COMPLIANCE_NORMAL) == 1
  }

  /// A four-character code as libavformat keeps it: the first character in the lowest byte.
  static func tag(_ name: String) -> UInt32 {
    name.utf8.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
  }

  /// Adds a stream and returns its index. `timeBase` is a wish: see `timeBase(of:)` after the header.
  ///
  /// - Parameter isSelfContained: whether all of a format's parameter sets are in its sample entry, which
  ///   for HEVC then is `hvc1` (ISO/IEC 14496-15, 8.4.1): Apple's players take no other.
  package func addStream(
    _ parameters: CodecParameters, timeBase: Rational, frameRate: Rational? = nil,
    isSelfContained: Bool = false,
    like source: StreamInfo? = nil, metadata: [String: String] = [:]
  ) throws(MediaError) -> Int {
    guard let stream = avformat_new_stream(context, nil) else { throw outOfMemory("stream") }
    try check(avcodec_parameters_copy(stream.pointee.codecpar, parameters.raw)) { _ in
      outOfMemory("stream")
    }
    // A tag of the source's container means nothing in another.
    stream.pointee.codecpar.pointee.codec_tag = 0
    if isSelfContained, stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_HEVC {
      stream.pointee.codecpar.pointee.codec_tag = Self.tag("hvc1")
    }
    // FLAC in MP4 has a registered sample entry, and libavformat still wants to be asked twice.
    if stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_FLAC {
      context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
    }
    stream.pointee.time_base = AVRational(timeBase)
    if let frameRate { stream.pointee.avg_frame_rate = AVRational(frameRate) }
    stream.pointee.sample_aspect_ratio = stream.pointee.codecpar.pointee.sample_aspect_ratio
    stream.pointee.disposition = source?.disposition ?? AV_DISPOSITION_DEFAULT
    try parameters.hdr.write(to: stream)
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      av_dict_set(&stream.pointee.metadata, key, value, 0)
    }
    return Int(stream.pointee.index)
  }

  /// Titles, creation time and the like of the whole file.
  package func setMetadata(_ metadata: [String: String]) {
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      av_dict_set(&context.pointee.metadata, key, value, 0)
    }
  }

  /// Named stretches of the timeline; call before the header.
  package func setChapters(_ chapters: [Demuxer.Chapter]) throws(MediaError) {
    guard !chapters.isEmpty else { return }
    guard
      let array = av_calloc(chapters.count, MemoryLayout<UnsafeMutablePointer<AVChapter>?>.stride)
    else { throw outOfMemory("chapters") }
    let list = array.bindMemory(to: UnsafeMutablePointer<AVChapter>?.self, capacity: chapters.count)
    context.pointee.chapters = list
    for (index, chapter) in chapters.enumerated() {
      guard let memory = av_mallocz(MemoryLayout<AVChapter>.size) else {
        throw outOfMemory("chapters")
      }
      let made = memory.bindMemory(to: AVChapter.self, capacity: 1)
      made.pointee.id = Int64(index)
      made.pointee.time_base = AVRational(num: 1, den: 1000)
      made.pointee.start = Rational(1, 1000).ticks(in: chapter.start)
      made.pointee.end = Rational(1, 1000).ticks(in: chapter.end)
      for (key, value) in chapter.metadata { av_dict_set(&made.pointee.metadata, key, value, 0) }
      list[index] = made
      context.pointee.nb_chapters = CUnsignedInt(index + 1)
    }
  }

  /// Writes the header with the muxer's own options; call once, after the streams.
  ///
  /// - Throws: `usage` where the container refuses a stream.
  package func writeHeader(_ options: [(String, String)] = []) throws(MediaError) {
    _ = upright_log_take_error()
    let code = try withDictionary(options) { dictionary throws(MediaError) in
      avformat_write_header(context, &dictionary)
    }
    try check(code) { writeError($0, doing: "the header cannot be written") }
    hasHeader = true
    try checkTarget()
  }

  /// Seconds per tick that the container settled on.
  package func timeBase(of stream: Int) -> Rational {
    context.pointee.streams[stream].map { Rational($0.pointee.time_base) } ?? Rational(1, 1000)
  }

  /// Writes one packet, its timestamps rescaled from the packet's own time base.
  package func write(_ packet: consuming Packet, stream: Int) throws(MediaError) {
    shiftPastDelay(&packet, stream)
    packet.rescale(to: timeBase(of: stream))
    packet.streamIndex = stream
    packet.raw.pointee.pos = -1
    times[stream, default: DecodingTimes()].fit(&packet)
    try check(av_write_frame(context, packet.raw)) { writeError($0, doing: "writing failed") }
    try checkTarget()
  }

  /// In Matroska a block's time is that of its audio and CodecDelay together (RFC 9559, 5.1.4.1.25).
  /// FFmpeg 5.1 writes the element for Opus and leaves the times as they are, and the audio would come
  /// that much early.
  private func shiftPastDelay(_ packet: inout Packet, _ stream: Int) {
    guard !upright_matroska_adds_delay(),
      let parameters = context.pointee.streams[stream]?.pointee.codecpar,
      parameters.pointee.codec_id == AV_CODEC_ID_OPUS, parameters.pointee.initial_padding > 0,
      let name = context.pointee.oformat.pointee.name,
      ["matroska", "webm"].contains(String(cString: name))
    else { return }
    // Opus counts in 48 kHz, whatever it is made of.
    let delay = av_rescale_q(
      Int64(parameters.pointee.initial_padding), AVRational(num: 1, den: 48000),
      packet.raw.pointee.time_base)
    packet.pts = packet.pts.map { $0 + delay }
    packet.dts = packet.dts.map { $0 + delay }
  }

  /// Ends the fragment that is being collected (`frag_custom`).
  package func endFragment() throws(MediaError) {
    try check(av_write_frame(context, nil)) { writeError($0, doing: "writing failed") }
    // Else movenc begins the next fragment where the last packet's duration ended rather than at its
    // first packet's own time. The flag stands for one fragment only.
    av_opt_set(context.pointee.priv_data, "movflags", "+frag_discont", 0)
    try checkTarget()
  }

  /// Ends the fragment (`frag_custom`) or cluster that is being collected, and hands everything to the
  /// kernel: what was written so far plays, whatever becomes of the process.
  package func flush() throws(MediaError) {
    // With `delay_moov` the first time writes the index alone.
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

  /// Ends an MPEG-TS segment: sound that is being collected comes out, and the next packet is preceded
  /// by the tables (PAT, PMT) again.
  package func endSegment() throws(MediaError) {
    try check(av_write_frame(context, nil)) { writeError($0, doing: "writing failed") }
    av_opt_set(context.pointee.priv_data, "mpegts_flags", "+resend_headers", 0)
    try checkTarget()
  }

  /// Says anew how much room before the media the index of MP4 comes to stand in; 0: it goes to the end.
  /// The room that the header left stays.
  package func setIndexRoom(_ bytes: Int) {
    av_opt_set_int(context.pointee.priv_data, "moov_size", Int64(bytes), 0)
  }

  /// Changes what the container says of the size of a stream's pictures from the next packet on (FLV's
  /// onMetaData). Its extradata stays: flvenc compares it with what the next packet brings, and writes a
  /// sequence header where the two differ.
  package func announce(_ size: PixelSize, of stream: Int) {
    guard let target = context.pointee.streams[stream]?.pointee.codecpar else { return }
    target.pointee.width = CInt(clamping: size.width)
    target.pointee.height = CInt(clamping: size.height)
    context.pointee.event_flags |= AVFMT_EVENT_FLAG_METADATA_UPDATED
  }

  /// Writes what the container keeps for its end and closes the target.
  ///
  /// - Throws: `inputOutput` where the bytes did not all arrive, a full disk among the reasons.
  package func finish() throws(MediaError) {
    guard hasHeader, !isFinished else { return }
    isFinished = true
    try check(av_write_trailer(context)) { writeError($0, doing: "the end cannot be written") }
    if case .url = target {
      avio_flush(context.pointee.pb)
      try checkTarget()
      try check(closeTarget()) { writeError($0, doing: "writing failed") }
    }
  }

  /// What has been written to memory since the last call.
  package func takeBytes() throws(MediaError) -> [UInt8] {
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

  /// Muxers do not all pass on what the target answered; its own error flag does.
  private func checkTarget() throws(MediaError) {
    guard let target = context.pointee.pb else { return }
    try check(target.pointee.error) { writeError($0, doing: "writing failed") }
  }

  private func writeError(_ code: CInt, doing: String) -> MediaError {
    switch code {
    case upright_averror(ENOSPC):
      MediaError(
        .inputOutput, "\(doing): the disk is full", at: location, remedy: "free some space")
    case upright_averror(EPIPE):
      MediaError(.inputOutput, "\(doing): the reader went away", at: location)
    case upright_averror_exit(): MediaError(.cancelled, "stopped", at: location)
    case upright_averror(EINVAL), upright_averror_invaliddata():
      // The packets are the input's: what is wrong with them is their times or their parameters.
      MediaError(
        .badData, "\(doing): the container takes no such packets (\(explain(code)))", at: location,
        remedy: "check the input's timestamps, or use another container")
    default: MediaError(.inputOutput, "\(doing): \(explain(code))", at: location)
    }
  }
}
