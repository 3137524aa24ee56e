internal import Glibc
internal import UprightOrientation
internal import UprightContainers
internal import UprightMediaIO
internal import UprightPipeline

extension LiveTarget {
  /// Returns the writers of this output, one for each of its streams, each with its own thread and queue.
  ///
  /// - Parameters:
  ///   - audio: The audio track.
  ///   - earliest: The lowest timestamp of all packets.
  ///   - comesBack: Whether the stream continues in a later run.
  ///   - observe: Receives files that are started, finished or failed, on the thread of the output.
  func writers(
    _ configuration: LiveConfiguration, audio: SideTrack, earliest: MediaTime,
    comesBack: @escaping @Sendable () -> Bool,
    observe: @escaping @Sendable (LiveRecording) -> Void
  ) -> [OutputWriter] {
    let listing = playlists.map {
      MultivariantPlaylist(
        $0, segments: configuration.options.segments,
        segmentDuration: MediaTime(seconds: configuration.segmentSeconds), isLive: true,
        unfinished: UnfinishedFiles(), store: configuration.hlsStore?.make())
    }
    return streams.indices.map { index in
      writer(
        of: index, listing, configuration, audio: audio, earliest: earliest, comesBack: comesBack,
        observe: observe)
    }
  }

  private func writer(
    of index: Int, _ listing: MultivariantPlaylist?, _ configuration: LiveConfiguration,
    audio: SideTrack, earliest: MediaTime, comesBack: @escaping @Sendable () -> Bool,
    observe: @escaping @Sendable (LiveRecording) -> Void
  ) -> OutputWriter {
    let interval = MediaTime(seconds: configuration.segmentSeconds)
    let (container, output, content) = (container, output, streams[index].content)
    let name = playlists?.media[index].file ?? "index.m3u8"
    let (files, epoch) = (
      output.hasPlaylists ? configuration.hlsStore?.make() : nil, configuration.hlsStore?.epoch ?? 0
    )
    let address: String? = if case .push(let url) = output { url } else { files?.address }
    let factory = OutputWriter.SinkFactory(
      address: address, outlastsShortage: output.isContinued,
      make: { (interrupt, report) throws(UprightError) in
        switch output {
        case .hls(let folder):
          if let files {
            return OriginSink(
              files, playlistName: name, epoch: epoch,
              segments: container == .hls ? FragmentedSegments() : TransportSegments(),
              segmentDuration: interval, content: content, listing: listing.map { ($0, index) },
              comesBack: comesBack)
          }
          try Self.make(folder: folder)
          return try HLSSink(
            playlistPath: "\(folder)/\(name)",
            segments: container == .hls ? FragmentedSegments() : TransportSegments(),
            segmentDuration: interval, content: content,
            listing: listing.map { ($0, index) }, isLive: true,
            lowLatency: configuration.lowLatency, unfinished: UnfinishedFiles(),
            comesBack: comesBack)
        case .push(let target):
          return try ContainerSink(
            container: container, target: target, interrupt: interrupt,
            unfinished: UnfinishedFiles())
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
          return MemorySegmentSink(
            memory, container == .hls ? FragmentedSegments() : TransportSegments(),
            duration: interval)
        case .bytes(_, let memory):
          return ContainerSink(container: container) { (bytes) throws(UprightError) in
            guard let bytes else { return memory.queue.close() }
            try memory.put(bytes)
          }
        }
      },
      describe: { format in
        OutputDescription(
          format: format, videoTimeBase: LiveClock.timeBase, sideTracks: [audio],
          earliestTime: earliest)
      },
      abandon: {
        output.abandon()
        files?.abandon()
      })
    let limits = configuration.limits
    return OutputWriter(
      factory, seconds: limits.outputSeconds, bytes: limits.outputBytes, observe: observe)
  }

  private static func make(folder: String) throws(UprightError) {
    guard FilePath(folder).makeFolder() else {
      let reason = errno
      throw UprightError(
        .cannotCreate, "the folder can't be created", at: folder,
        remedy: "check that its parent folder is writable"
      ).failing(with: reason)
    }
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
