internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Glibc
internal import UprightOrientation
internal import UprightSignals

extension Demuxer {
  static func open(
    _ url: String, _ input: UnsafeMutablePointer<AVIOContext>?, _ format: String?,
    _ settings: [String: String],
    looksAhead: Bool, interrupt: Interrupt
  ) throws(UprightError) -> (
    UnsafeMutablePointer<AVFormatContext>, opening: [UInt8], nested: NestedInputCheck?,
    redirects: RedirectGuard?, limited: LimitedInput?, lookAhead: Duration
  ) {
    let address = url == "-" ? standardInput() : url
    let target = try target(of: address, interrupt)
    let demuxer = try (format ?? InputTrust.stillImageDemuxer(of: address)).map(inputFormat)
    try checkTags(url)
    var context = QuietContext.input()
    guard let allocated = context else { throw outOfMemory(url) }
    allocated.pointee.interrupt_callback = interrupt.callback
    let redirects = RedirectGuard(allocated, url: address, interrupt: interrupt)
    if settings["tls_verify"] == "1" { upright_verify_certificates(allocated) }
    if let input {
      allocated.pointee.pb = input
      allocated.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    }
    let nested = input == nil ? NestedInputCheck(allocated, input: target) : nil
    _ = upright_log_take_error()
    let opened = try withDictionary(options(address, settings)) { dictionary throws(UprightError) in
      avformat_open_input(&context, target, demuxer, &dictionary)
    }
    guard opened >= 0, let context else {
      throw openError(opened, url: url, nested, redirects)
    }
    let opening = bufferedOpening(context)
    var limited: LimitedInput?
    let start = ContinuousClock.now
    do throws(UprightError) {
      try checkLinks(context, url)
      limited = try LimitedInput(context)
      let found = looksAhead && nested?.isRefused != true ? findStreams(context, settings) : 0
      if let limited, limited.isExceeded { throw limited.error(at: url) }
      // One of several variants may be unreadable. It is an error only if none is left.
      let isLeft =
        nested?.isRefused != true && (context.pointee.nb_streams > 0 || nested?.refusal == nil)
      if found < 0 || !isLeft { throw openError(found, url: url, nested, redirects) }
    } catch {
      close(context, limited)
      throw error
    }
    nested?.finishOpening()
    // Metadata that changed during the look-ahead belongs to packets that are still to be read.
    context.pointee.event_flags &= ~AVFMT_EVENT_FLAG_METADATA_UPDATED
    return (context, opening, nested, redirects, limited, start.duration(to: .now))
  }

  static func close(
    _ context: UnsafeMutablePointer<AVFormatContext>, _ limited: LimitedInput? = nil
  ) {
    limited?.restore()
    var pointer: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&pointer)
  }

  /// Returns the URL under which libavformat opens `address`. A path that looks like a protocol ("a:b.mp4") stays a
  /// path.
  private static func target(
    of address: String, _ interrupt: Interrupt
  ) throws(UprightError) -> String {
    let pipe = NamedPipe.isOne(address) ? try NamedPipe.openForReading(address, interrupt) : nil
    guard InputTrust.scheme(of: address) == nil else { return address }
    return pipe.map { "pipe:\($0)" } ?? "file:\(address)"
  }

  private static func inputFormat(
    _ name: String
  ) throws(UprightError) -> UnsafePointer<AVInputFormat> {
    guard let format = av_find_input_format(name) else {
      throw UprightError(
        .usage, "no demuxer is called \(name)", at: "--input-format",
        remedy: "try mp4, mpegts or flv")
    }
    return format
  }

  /// Returns libavformat's options for an input.
  ///
  /// - Parameter settings: The options that override others.
  private static func options(
    _ address: String, _ settings: [String: String]
  ) -> [(String, String)] {
    let trust = InputTrust(url: address)
    return [
      ("format_whitelist", trust.formats), ("protocol_whitelist", trust.protocols),
      // Keeps the packets of a program that is announced late.
      ("scan_all_pmts", "1"),
      // A live playlist on a connection that is kept would be read again without a check.
      ("http_persistent", "0"),
      // What a playlist refers to may have any name, as keys do: its formats and folders are limited.
      ("allowed_extensions", "ALL"), ("extension_picky", "0"),
    ] + settings.sorted { $0.key < $1.key }
  }

  /// Throws `badData` if the input is a chained Ogg.
  private static func checkLinks(
    _ context: UnsafeMutablePointer<AVFormatContext>, _ url: String
  ) throws(UprightError) {
    guard String(cString: context.pointee.iformat.pointee.name) == "ogg",
      let file = ByteSource(regularFile: url), OggPages.isChained(file)
    else { return }
    throw UprightError(
      .badData, "is a chained Ogg: only its first link could be read", at: url,
      remedy: "join its links into one stream first")
  }

  /// Reads ahead to find the streams. Applies `settings` also to the decoders that libavformat opens for
  /// this, for the streams that are known so far.
  private static func findStreams(
    _ context: UnsafeMutablePointer<AVFormatContext>, _ settings: [String: String]
  ) -> CInt {
    let count = Int(context.pointee.nb_streams)
    guard count > 0 else { return avformat_find_stream_info(context, nil) }
    // The frames that are decoded for this are not looked at.
    let settings = ["skip_idct": "all", "skip_loop_filter": "all"].merging(settings) { $1 }
    var options: [OpaquePointer?] = (0..<count).map { _ in
      var dictionary: OpaquePointer?
      for (key, value) in settings { av_dict_set(&dictionary, key, value, 0) }
      return dictionary
    }
    let found = options.withUnsafeMutableBufferPointer {
      avformat_find_stream_info(context, $0.baseAddress)
    }
    for index in options.indices { av_dict_free(&options[index]) }
    return found
  }

  /// The part of the input's first bytes that is in memory.
  private static func bufferedOpening(
    _ context: UnsafeMutablePointer<AVFormatContext>
  ) -> [UInt8] {
    guard let io = context.pointee.pb, let start = io.pointee.buffer,
      let read = io.pointee.buf_ptr, let end = io.pointee.buf_end,
      avio_seek(io, 0, SEEK_CUR) == read - start
    else { return [] }
    return Array(UnsafeBufferPointer(start: start, count: end - start))
  }

  /// Returns the URL under which libavformat reads standard input. Opens a pipe a second time in non-blocking
  /// mode, because a blocked read can't be interrupted. The mode of the original pipe, which other processes
  /// may share, doesn't change.
  private static func standardInput() -> String {
    var status = stat()
    guard fstat(0, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return "pipe:0" }
    let pipe = Glibc.open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    return pipe < 0 ? "pipe:0" : "pipe:\(pipe)"
  }

  /// Throws `badData` if the file at `url` has more tags than libavformat can read in a second.
  private static func checkTags(_ url: String) throws(UprightError) {
    guard let file = ByteSource(regularFile: url),
      case let count = MatroskaSegment.tagCount(in: file),
      count > MatroskaSegment.mostTags
    else { return }
    throw UprightError(
      .badData, "the file has \(count) tags", at: url,
      remedy: "remove some: at most \(MatroskaSegment.mostTags) are read")
  }

  /// Returns the number of frames of an AVI file whose index reaches its end, without the empty chunks, which repeat the frame
  /// before them; `nil` for others.
  private static func heldCount(
    _ stream: UnsafeMutablePointer<AVStream>, in context: UnsafeMutablePointer<AVFormatContext>
  ) -> Int? {
    let count = avformat_index_get_entries_count(stream)
    guard String(cString: context.pointee.iformat.pointee.name) == "avi", count > 0,
      let last = avformat_index_get_entry(stream, count - 1)?.pointee.timestamp
    else { return nil }
    let before = avformat_index_get_entry(stream, count - 2)?.pointee.timestamp ?? last - 1
    return last + (last - before) >= stream.pointee.nb_frames ? Int(count) : nil
  }

  static func describe(
    _ context: UnsafeMutablePointer<AVFormatContext>, zero: Int64, tracks: TrackProperties
  ) throws(UprightError) -> Container {
    var streams: [StreamInfo] = []
    var videoStreams = 0
    for index in 0..<Int(context.pointee.nb_streams) {
      guard let stream = context.pointee.streams[index] else { continue }
      let track = tracks.movie.first { $0.identifier == Int(stream.pointee.id) }
      try correct(stream, by: track)
      var info = try StreamInfo(
        stream, shape: tracks.shape(of: track, order: videoStreams), zero: zero,
        isScript: isScript(stream, in: context), track: track, cipher: tracks.ciphers[index])
      if let count = heldCount(stream, in: context), info.kind == .video { info.frameCount = count }
      if info.kind == .video, !info.isAttachedPicture { videoStreams += 1 }
      streams.append(info)
    }
    let raw = context.pointee
    let duration =
      raw.duration > 0 && raw.duration != noTimestamp
      ? MediaTime(raw.duration, Rational(1, Int(AV_TIME_BASE))) : nil
    var container = Container(
      format: String(cString: raw.iformat.pointee.name), streams: streams, duration: duration,
      metadata: dictionary(raw.metadata),
      isSeekable: (raw.pb?.pointee.seekable ?? 0) & AVIO_SEEKABLE_NORMAL != 0)
    (container.outline, container.topBoxes) = (tracks.outline, tracks.topBoxes)
    container.isComplete = duration != nil && raw.ctx_flags & AVFMTCTX_UNSEEKABLE == 0
    for index in 0..<Int(raw.nb_chapters) {
      guard let chapter = raw.chapters[index]?.pointee else { continue }
      let timeBase = Rational(chapter.time_base)
      guard timeBase.isPlausible(chapter.start) else {
        container.implausibleChapters += 1
        continue
      }
      let start = MediaTime(chapter.start, timeBase)
      // If the container gives a chapter no end, libavformat sets it to a time that is never reached.
      let end =
        timeBase.isPlausible(chapter.end)
        ? MediaTime(chapter.end, timeBase)
        : max(start, duration ?? start)
      container.chapters.append(
        Chapter(start: start, end: end, metadata: dictionary(chapter.metadata)))
    }
    return container
  }
}
