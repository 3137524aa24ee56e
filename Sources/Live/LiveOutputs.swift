internal import Glibc
internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// What all outputs of a session have in common.
struct OutputMedia: Sendable {
  /// The audio track.
  let audio: SideTrack
  /// The lowest timestamp of all packets.
  let earliest: MediaTime
  /// The turns, which playlists list.
  let turns = TurnLog()
}

extension LiveTarget {
  /// Returns the writers of this output, one for each of its streams, each with its own thread and queue.
  ///
  /// - Parameters:
  ///   - media: What it shares with the others.
  ///   - comesBack: Whether the stream continues in a later run.
  ///   - observe: Receives files that are started, finished or failed, on the thread of the output.
  func writers(
    _ configuration: LiveConfiguration, _ media: OutputMedia,
    comesBack: @escaping @Sendable () -> Bool,
    observe: @escaping @Sendable (LiveRecording) -> Void
  ) -> [OutputWriter] {
    let listing = playlists.map {
      MultivariantPlaylist(
        $0, segments: configuration.options.segments,
        segmentDuration: MediaTime(seconds: configuration.segmentSeconds), isLive: true,
        unfinished: UnfinishedFiles(), store: configuration.hlsStore?.make())
    }
    // Quarters of seconds since 2026: whatever has cached the segments of an earlier session of that name doesn't give them
    // for those of this one. GStreamer reads numbers of 31 bits, which last until 2043.
    let first = Int(clamping: max(0, CalendarTime.now.milliseconds - 1_767_225_600_000) / 250)
    return streams.indices.map { index in
      writer(
        of: index, listing, from: first, configuration, media, comesBack: comesBack,
        observe: observe)
    }
  }

  /// - Parameter first: The number of the first segment of a playlist that continues no earlier one.
  private func writer(
    of index: Int, _ listing: MultivariantPlaylist?, from first: Int,
    _ configuration: LiveConfiguration, _ media: OutputMedia,
    comesBack: @escaping @Sendable () -> Bool,
    observe: @escaping @Sendable (LiveRecording) -> Void
  ) -> OutputWriter {
    let opening = SinkOpening(
      output: output, container: container,
      interval: MediaTime(seconds: configuration.segmentSeconds),
      playlistName: playlists?.media[index].file ?? "index.m3u8",
      content: streams[index].content, listing: listing.map { .init(in: $0, at: index) },
      store: output.hasPlaylists ? configuration.hlsStore?.make() : nil,
      epoch: configuration.hlsStore?.epoch ?? 0, lowLatency: configuration.lowLatency,
      turns: media.turns, firstSegment: first, comesBack: comesBack)
    let factory = OutputWriter.SinkFactory(
      address: opening.address, outlastsShortage: output.isContinued,
      isRecording: output.isRecording, isSegmented: output.hasSegments,
      make: { (interrupt, report) throws(UprightError) in try opening.open(interrupt, report) },
      describe: { format in
        OutputDescription(
          format: format, videoTimeBase: LiveClock.timeBase, sideTracks: [media.audio],
          earliestTime: media.earliest)
      },
      abandon: { opening.abandon() })
    let limits = configuration.limits
    return OutputWriter(
      factory, seconds: limits.outputSeconds, bytes: limits.outputBytes, observe: observe)
  }
}

/// What the sinks of one stream of an output are opened with: the first, and those after a failure.
private struct SinkOpening: Sendable {
  let output: LiveOutput
  let container: OutputContainer
  /// The duration of a segment.
  let interval: MediaTime
  /// The file name of its media playlist, if the output has playlists.
  let playlistName: String
  let content: SegmentCutter.Content
  let listing: HLSMedia.Listing?
  /// Where its files are; `nil` for the folder, or an output without playlists.
  let store: (any HLSStore)?
  let epoch: Int
  let lowLatency: LowLatencyHLS?
  let turns: TurnLog
  let firstSegment: Int
  let comesBack: @Sendable () -> Bool

  /// The URL of a network output, which is opened again; `nil` for a file or a folder.
  var address: String? { if case .push(let url) = output { url } else { store?.address } }

  func open(
    _ interrupt: Interrupt, _ report: @escaping (LiveRecording) -> Void
  ) throws(UprightError) -> any PacketSink {
    switch output {
    case .hls(let folder): return try playlistSink(in: folder)
    case .push(let target):
      return try ContainerSink(
        container: container, target: target, interrupt: interrupt, unfinished: UnfinishedFiles())
    case .file(let path):
      return RecordingSink(
        container: container, path: path, naming: .exact, limits: RecordingLimits(),
        interval: interval, interrupt: interrupt, report: report)
    case .recording(let path, let limits):
      return RecordingSink(
        container: container, path: path, naming: .free, limits: limits, interval: interval,
        interrupt: interrupt, report: report)
    case .packets(let memory): return MemoryPacketSink(memory)
    case .segments(let memory):
      return MemorySegmentSink(memory, container.makeSegments(), duration: interval)
    case .bytes(_, let memory):
      return ContainerSink(container: container) { (bytes) throws(UprightError) in
        guard let bytes else { return memory.queue.close() }
        try memory.put(bytes)
      }
    }
  }

  private func playlistSink(in folder: String) throws(UprightError) -> any PacketSink {
    let media = HLSMedia(
      container.makeSegments(), segmentDuration: interval, content: content, listing: listing,
      turns: turns, firstSegment: firstSegment)
    if let store {
      return StoreSink(
        media, in: store, playlistName: playlistName, epoch: epoch, comesBack: comesBack)
    }
    guard FilePath(folder).makeFolder() else {
      let reason = errno
      throw UprightError(
        .cannotCreate, "the folder can't be created", at: folder,
        remedy: "check that its parent folder is writable"
      ).failing(with: reason)
    }
    return try HLSSink(
      media, playlistPath: "\(folder)/\(playlistName)", isLive: true, lowLatency: lowLatency,
      unfinished: UnfinishedFiles(), comesBack: comesBack)
  }

  /// Ends a wait of a sink that an interrupt doesn't end.
  func abandon() {
    output.abandon()
    store?.abandon()
  }
}

extension LiveOutput {
  /// Whether another sink in its place loses nothing of what is there: a playlist goes on, and a recording has another
  /// file.
  fileprivate var isContinued: Bool {
    switch self {
    case .hls, .recording: true
    case .push, .file, .packets, .segments, .bytes: false
    }
  }

  fileprivate var isRecording: Bool {
    switch self {
    case .file, .recording: true
    case .hls, .push, .packets, .segments, .bytes: false
    }
  }

  /// Ends a wait for the reader of a memory output.
  fileprivate func abandon() {
    switch self {
    case .packets(let memory): memory.queue.close(discarding: true)
    case .segments(let memory): memory.queue.close(discarding: true)
    case .bytes(_, let memory): memory.queue.close(discarding: true)
    case .hls, .push, .file, .recording: break
    }
  }
}
