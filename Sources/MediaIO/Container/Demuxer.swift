internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation
internal import UprightSignals

/// Reads packets from a file or a URL. Used by one thread at a time.
package final class Demuxer {
  package let url: String
  package let container: Container
  /// The first bytes of an input that isn't seekable, as far as they were in memory when it was opened. For
  /// FLV they hold the script data, which libavformat overwrites as it reads ahead.
  package let opening: [UInt8]
  /// For how long packets were read to find the streams. They are given at once.
  package let lookAhead: Duration
  private let context: UnsafeMutablePointer<AVFormatContext>
  private let interrupt: Interrupt
  /// libavformat options by name, for each connection to the input.
  private let settings: [String: String]
  /// What is read instead of the URL: the file with some bytes replaced, or a pipe. It outlives the context.
  private let input: InputContext?
  /// Checks every URL that the context opens.
  private let nested: NestedInputCheck?
  /// Polled by the context. `nil` if the input isn't RTSP.
  private let redirects: RedirectGuard?
  /// Ends the input before a parser takes too much memory. `nil` for containers that store packets.
  private let limited: LimitedInput?
  /// Where the last packet that was read begins in the input, and all before it.
  private var reached: Int64 = 0
  /// `nil` for containers whose timestamps already form one timeline.
  private var joined: ClockJoiner?
  /// How tracks are presented whose edit lists are applied here, by the index of the stream.
  private let presentations: [Int: TrackPresentation]
  /// What is hidden of the tracks of an MP4 or MOV input that can't be read twice.
  private var hiddenStart: HiddenStart?
  /// The video tracks of AVI whose frames are reordered, by the index of the stream.
  private let reordered: [Int: PresentationOrder]
  /// The readers of those tracks, once they are needed.
  private var presenters: [Int: any TrackPresenter] = [:]
  /// The streams that are read.
  private var selected: Set<Int> = []
  /// The next packets of the streams that are read apart, and of all others (-1). `nil` at the end.
  private var heads: [Int: PacketBox?] = [:]
  /// The only track that is read, without most of its bytes; `nil` if all of them are.
  private var headsOnly: SampleHeads?
  /// What is subtracted from the container's timestamps, in microseconds.
  private let zero: Int64

  /// Opens `url` (a path, a URL, or `-` for standard input) and reads enough to find its streams.
  ///
  /// - Parameter settings: libavformat options by name. They override this package's own.
  ///
  /// - Throws: `noInput` if it can't be opened, `badData` if it isn't a media file.
  package convenience init(
    url: String, format: String? = nil, settings: [String: String] = [:],
    interrupt: Interrupt = Interrupt()
  ) throws(UprightError) {
    try self.init(url, format: format, settings, interrupt, known: nil)
  }

  /// Opens the MPEG transport stream that a pipe carries, and waits for enough of it to find its streams.
  ///
  /// - Parameter settings: libavformat options by name.
  ///
  /// - Throws: `badData` if there are no streams, `cancelled` if the interrupt is raised.
  package convenience init(
    transportStream pipe: BytePipe, settings: [String: String], interrupt: Interrupt
  ) throws(UprightError) {
    try self.init(
      "the publisher's stream", try InputContext(PipeInput(pipe, interrupt)), format: "mpegts",
      settings, interrupt, known: nil)
  }

  /// Opens the input of `first` again, to read its packets. Reuses the stream information of `first` if the
  /// container stores timestamps for every packet (MP4, MOV). Otherwise libavformat decodes frames to find
  /// it.
  package convenience init(again first: Demuxer, format: String?) throws(UprightError) {
    let isKnown = first.container.format.hasPrefix("mov,")
    try self.init(
      first.url, format: format, first.settings, first.interrupt, known: isKnown ? first : nil)
  }

  private init(
    _ url: String, _ given: InputContext? = nil, format: String?, _ settings: [String: String],
    _ interrupt: Interrupt, known: Demuxer?
  ) throws(UprightError) {
    self.url = url
    self.interrupt = interrupt
    self.settings = settings
    let file = given == nil ? ByteSource(regularFile: url) : nil
    let movie = file.flatMap { MovieContent(in: $0) }
    let patches = movie.map { Self.patches(of: $0) } ?? []
    if let file, !patches.isEmpty {
      input = try InputContext(PatchedInput(file, patches))
    } else {
      input = given
    }
    do throws(UprightError) {
      (context, opening, nested, redirects, limited, lookAhead) = try Self.open(
        url, input?.raw, format, settings, looksAhead: known == nil, interrupt: interrupt)
    } catch {
      throw Self.explained(error, movie, at: url)
    }
    let isBroadcast = context.pointee.iformat.pointee.flags & AVFMT_TS_DISCONT != 0
    let start = context.pointee.start_time
    let hasStart = isBroadcast && Rational(1, Int(AV_TIME_BASE)).isPlausible(start)
    zero = hasStart ? start : Self.earlyStart(context)
    joined = isBroadcast ? ClockJoiner(start: zero) : nil
    if let known {
      container = known.container
      presentations = known.presentations
      reordered = [:]
      select(Set(container.streams.map(\.index)))
      return
    }
    do throws(UprightError) {
      let described = try Self.describe(
        context, zero: zero,
        tracks: TrackProperties(context, opening: opening, movie, file, settings, interrupt))
      let isMovie = described.format.hasPrefix("mov,")
      let bytes =
        file
        ?? (isMovie && described.isSeekable
          ? ByteSource.again(url, settings, interrupt) : nil)
      let index = movie ?? bytes.flatMap { MovieContent(in: $0) }
      presentations = isMovie ? Self.presentations(of: described, index, in: bytes) : [:]
      var presented = described.presented(by: presentations)
      if isMovie, bytes == nil {
        let hidden = HiddenStart(context, presented.streams)
        presented.streams = hidden.applied(to: presented.streams)
        hiddenStart = hidden
      }
      presented.unreadRenditions = nested?.unread ?? []
      container = presented
      reordered = PresentationOrder.tracks(of: presented)
      select(Set(container.streams.map(\.index)))
    } catch {
      Self.close(context, limited)
      throw error
    }
  }

  deinit { Self.close(context, limited) }

  package func stream(_ index: Int) -> StreamInfo? {
    let known = container.streams.first { $0.index == index }
    if let known, known.isDescribed { return known }
    guard index >= 0, index < Int(context.pointee.nb_streams),
      let stream = context.pointee.streams[index]
    else { return known }
    return (try? StreamInfo(stream, zero: zero, isScript: Self.isScript(stream, in: context)))
      ?? known
  }

  package func belongs(_ stream: Int, with other: Int) -> Bool {
    let all = Int(context.pointee.nb_programs)
    guard all > 1, let programs = context.pointee.programs else { return true }
    let members = (0..<all).compactMap { programs[$0]?.pointee }.map { program in
      Set((0..<Int(program.nb_stream_indexes)).map { Int(program.stream_index[$0]) })
    }
    return !members.contains { $0.contains(other) }
      || members.contains { $0.contains(other) && $0.contains(stream) }
  }

  /// Returns the stream of a kind that FFmpeg would choose, audio of the program of the video. Returns `nil` if there
  /// is none.
  package func bestStream(_ kind: StreamKind) -> StreamInfo? {
    let type: AVMediaType =
      switch kind {
      case .video: AVMEDIA_TYPE_VIDEO
      case .audio: AVMEDIA_TYPE_AUDIO
      case .subtitle: AVMEDIA_TYPE_SUBTITLE
      default: AVMEDIA_TYPE_UNKNOWN
      }
    let video =
      kind == .audio ? av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0) : -1
    let index = av_find_best_stream(context, type, -1, video, nil, 0)
    return index < 0 ? nil : container.streams.first { $0.index == Int(index) }
  }

  /// Whether the container is FLV, from a file or over RTMP.
  package var isFLV: Bool { Self.isFLV(context) }

  /// Whether the container is Matroska or WebM.
  package var isMatroska: Bool { container.format.contains("matroska") }

  /// Opens the same input again, to read one of its streams ahead of the others.
  package func opened(for stream: StreamInfo) throws(UprightError) -> Demuxer {
    let name = container.format.split(separator: ",").first.map(String.init)
    let demuxer = try Demuxer(url: url, format: name, settings: settings, interrupt: interrupt)
    demuxer.select([stream.index])
    return demuxer
  }

  /// Returns a second, independent reader for the bytes of the input. Returns `nil` if the input isn't
  /// seekable.
  package func bytes() -> ByteSource? {
    container.isSeekable ? ByteSource(url: url, settings: settings, interrupt: interrupt) : nil
  }

  /// Lets libavformat skip the packets of all other streams, except FLV script tags.
  package func select(_ indices: Set<Int>) {
    selected = indices
    applySelection()
  }

  private func applySelection() {
    for index in 0..<Int(context.pointee.nb_streams) {
      guard let stream = context.pointee.streams[index] else { continue }
      let isKept =
        selected.contains(index) && presentations[index] == nil
        || Self.isScript(stream, in: context)
      stream.pointee.discard = isKept ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// The streams that are read and go on in another codec, the segments of a playlist that are missing, and the end of a
  /// Matroska file, as texts for the user. libavformat reports other losses packet by packet.
  package var losses: [String] {
    let file = reached == .max && isMatroska ? ByteSource(regularFile: url) : nil
    let missing = file.map { MatroskaSegment.missingBytes(in: $0) } ?? 0
    let end = missing > 0 ? "the last \(missing) bytes of the file are missing" : nil
    return [nested?.loss, end].compactMap(\.self)
      + codecChanges.sorted { ($0.pid, $0.codec) < ($1.pid, $1.codec) }.compactMap { change in
        container.streams.first { $0.identifier == change.pid && selected.contains($0.index) }
          .map { "\($0.label) goes on in another codec (\(change.codec)), which is left out" }
      }
  }

  /// Ends a transport stream where its video goes on in another codec.
  package func endAtOtherVideo() { limited?.endsAtOtherVideo = true }

  /// Whether a stream goes on in another codec, which is left out.
  package func hasChangedCodec(_ stream: Int) -> Bool {
    let changes = codecChanges
    guard !changes.isEmpty, let identifier = self.stream(stream)?.identifier else { return false }
    return changes.contains { $0.pid == identifier }
  }

  /// The streams that go on in another codec in what was read.
  private var codecChanges: [TransportTables.Change] {
    (limited?.changes ?? [:]).filter { $0.value < reached }.map(\.key)
  }

  /// Whether timestamps are joined to one timeline here, from clocks that may be reset.
  package var joinsClocks: Bool { joined != nil }

  /// Whether one was reset in what was read since the opening or the last seek. No time behind that can be sought.
  package var hasResetClock: Bool { joined?.isReset ?? false }

  /// Seeks to the keyframe of `stream` at or before `ticks`, backward or forward. Returns `false`, and
  /// changes nothing, if the container can't seek.
  package func seek(stream: Int, to ticks: Int64) -> Bool {
    guard container.isSeekable, let target = context.pointee.streams[stream] else { return false }
    let shift = av_rescale_q(
      zero, AVRational(num: 1, den: 1_000_000), target.pointee.time_base)
    guard av_seek_frame(context, CInt(stream), ticks + shift, AVSEEK_FLAG_BACKWARD) >= 0 else {
      return false
    }
    if joined != nil { joined = ClockJoiner(start: zero) }
    reordered.values.forEach { $0.clear() }
    return presentations.isEmpty
      || seekPresenters(stream, to: MediaTime(ticks, Rational(target.pointee.time_base)))
  }

  /// Goes to `time` in the tracks that are presented here: in `stream` first, whose keyframe the others follow.
  private func seekPresenters(_ stream: Int, to time: MediaTime) -> Bool {
    heads = [:]
    do throws(UprightError) {
      let start = try presenter(of: stream)?.seek(to: time) ?? time
      for index in presentations.keys where index != stream && selected.contains(index) {
        _ = try presenter(of: index)?.seek(to: start)
      }
      return true
    } catch {
      return false
    }
  }

  private func presenter(of stream: Int) throws(UprightError) -> (any TrackPresenter)? {
    if let presenter = presenters[stream] { return presenter }
    guard let presentation = presentations[stream],
      let info = container.streams.first(where: { $0.index == stream })
    else { return nil }
    let made = try presentation.open(url, settings, stream: info, interrupt: interrupt)
    presenters[stream] = made
    return made
  }

  /// The remedy of an error in the middle of an input. It is true only if there are frames before it.
  package static let keptRemedy = "the part before it is kept"

  /// The number of bytes read so far, of all streams and of the index.
  package var bytesRead: Int { Int(clamping: context.pointee.pb?.pointee.bytes_read ?? 0) }

  /// Returns the next packet with its time base set, or `nil` at the end.
  ///
  /// - Throws: `badData` for a damaged part, `inputOutput` if reading failed, `cancelled` if interrupted.
  package func read() throws(UprightError) -> Packet? {
    if let headsOnly { return try headsOnly.next() }
    let apart = presentations.keys.filter(selected.contains)
    if apart.isEmpty { return try readFile() }
    // The packet that is decoded first comes first.
    for index in apart where heads[index] == nil {
      heads[index] = .some(PacketBox(try presenter(of: index)?.next()))
    }
    if heads[-1] == nil { heads[-1] = .some(PacketBox(try readsFile ? readFile() : nil)) }
    let first = heads.compactMapValues(\.self).min {
      ($0.value.time, $0.key) < ($1.value.time, $1.key)
    }
    guard let first else { return nil }
    heads[first.key] = nil
    return first.value.packet.take()
  }

  /// From now on, reads the packets of one track from the start, each without the bytes of its slices behind their
  /// headers: what is known of a picture before it is decoded. That takes a small part of the time. Changes nothing if the
  /// container doesn't say where each sample is, or the codec isn't H.264 or HEVC.
  ///
  /// - Throws: The errors of `read`.
  package func readHeads(of video: StreamInfo) throws(UprightError) {
    guard presentations.isEmpty, hiddenStart == nil, input == nil, joined == nil,
      container.format.hasPrefix("mov,"), let stream = context.pointee.streams[video.index],
      let samples = SampleHeads(url, stream, video)
    else { return }
    // The container's times are those of its tables, moved: see whether the first and the last packet agree.
    for (sample, time) in [(0, Int64.min / 4), (samples.count - 1, .max / 4)] {
      let code = av_seek_frame(
        context, CInt(video.index), time, AVSEEK_FLAG_BACKWARD | AVSEEK_FLAG_ANY)
      guard code >= 0, let packet = try readFile(), samples.agrees(with: packet, sample) else {
        _ = av_seek_frame(context, CInt(video.index), .min / 4, AVSEEK_FLAG_BACKWARD)
        return
      }
    }
    headsOnly = samples
  }

  /// A packet that waits for those of the other tracks.
  private final class PacketBox {
    var packet: Packet?
    let time: MediaTime

    /// Returns `nil` if there is no packet.
    init?(_ packet: consuming Packet?) {
      guard let packet else { return nil }
      time = packet.decodingTime ?? .zero
      self.packet = consume packet
    }
  }

  /// Whether any selected stream is presented as libavformat reads it.
  private var readsFile: Bool { selected.contains { presentations[$0] == nil } }

  /// Returns the next packet as libavformat gives it, except of the streams that are presented here: those that it
  /// read ahead when it was opened are in its queue.
  private func readFile() throws(UprightError) -> Packet? {
    while true {
      if let packet = nextReordered() { return packet }
      guard var packet = try readAny() else {
        reordered.values.forEach { $0.finish() }
        return nextReordered()
      }
      guard presentations[packet.streamIndex] == nil else { continue }
      if let order = reordered[packet.streamIndex] {
        try order.add(packet)
      } else if try hiddenStart?.apply(to: &packet) ?? true {
        return packet
      }
    }
  }

  /// Returns the next packet of a reordered track that waits for none any more.
  private func nextReordered() -> Packet? {
    for order in reordered.values {
      if let packet = order.next() { return packet }
    }
    return nil
  }

  private func readAny() throws(UprightError) -> Packet? {
    var packet = try Packet()
    let result = av_read_frame(context, packet.raw)
    // After an interrupt libavformat returns an incomplete packet as if it were complete.
    if interrupt.isRaised { throw UprightError(.cancelled, "stopped", at: url) }
    if nested?.isRefused == true { throw Self.openError(0, url: url, nested, redirects) }
    if result < 0, let limited, limited.isExceeded {
      throw limited.error(at: url, remedy: Self.keptRemedy)
    }
    guard result >= 0 else {
      guard let error = Self.readError(result, at: url) else {
        reached = .max
        return nil
      }
      let isUnread = reached == 0 && !container.isSeekable && container.format.hasPrefix("mov,")
      throw isUnread && error.code == .badData ? Self.unread(url) : error
    }
    reached = max(reached, packet.raw.pointee.pos)
    guard let stream = context.pointee.streams[Int(packet.raw.pointee.stream_index)] else {
      throw UprightError(.fault, "a packet belongs to no stream", at: url)
    }
    packet.raw.pointee.time_base = stream.pointee.time_base
    packet.dropImplausibleTimes()
    // AVI stores no times of presentation. Without reordering they are those of decoding.
    if packet.pts == nil, container.format == "avi",
      stream.pointee.codecpar.pointee.video_delay == 0
    {
      packet.pts = packet.dts
    }
    if joined != nil {
      let discontinuities = nested?.discontinuities ?? 0
      joined?.fit(&packet, discontinuities: discontinuities)
      // libavformat marks packets of fMP4 so whose clock was reset, and those of a fragment that comes twice.
      if discontinuities > 0 { packet.isDiscarded = false }
    } else if zero != 0 {
      packet.move(by: MediaTime(-zero, Rational(1, Int(AV_TIME_BASE))))
    }
    packet.isScript = Self.isScript(stream, in: context)
    if context.pointee.event_flags & AVFMT_EVENT_FLAG_METADATA_UPDATED != 0 {
      context.pointee.event_flags &= ~AVFMT_EVENT_FLAG_METADATA_UPDATED
      if !packet.isScript { packet.newMetadata = dictionary(context.pointee.metadata) }
    }
    return packet
  }
}
