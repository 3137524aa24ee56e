internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// The encode settings of an output. Outputs with equal settings share one encode.
struct LiveEncoding: Hashable, Sendable {
  let canvas: FrameCanvas
  let size: LiveSize
  let codec: VideoCodec
  /// Whether colour and similar properties may change with a new parameter set.
  let follows: Bool
}

/// The size of an encode.
enum LiveSize: Hashable, Sendable {
  /// One that an option or the policy gives.
  case fixed(StreamGuidance)
  /// The source's upright size.
  case source
  /// Without an option: the guidance's 720x1280, and no side longer than the source's. It is the same for all outputs
  /// of a session, so that they share an encode. The capture size is the same if it is `nil`.
  case guided(captureSize: PixelSize?)

  /// - Parameter source: Guidance with the source's upright size.
  func guidance(of source: StreamGuidance) -> StreamGuidance {
    switch self {
    case .fixed(let guidance): return guidance
    case .source: return source
    case .guided(let captureSize):
      var guidance = StreamGuidance.standard.limited(to: source.encodeSize)
      guidance.captureSize = captureSize ?? guidance.encodeSize
      return guidance
    }
  }

  /// Whether it depends on the source's size.
  var isOfSource: Bool { if case .fixed = self { false } else { true } }
}

/// What one writer of an output takes of a session. An HLS output with several renditions has a writer for each
/// media playlist, every other output has one.
struct LiveStream: Hashable, Sendable {
  let encoding: LiveEncoding
  /// The index of the rung in the ladder; 0 if there is none.
  var rung = 0
  var content = SegmentCutter.Content.all
}

/// One output, and what is known about it before anything is opened.
struct LiveTarget: Sendable {
  var output: LiveOutput
  let container: OutputContainer
  /// The canvas that was asked for, if it isn't that of the session.
  let canvas: CanvasRule?
  /// What its writers take. The first one is that of the output's frame counts.
  let streams: [LiveStream]
  /// The playlists of an HLS output with several renditions, one media playlist for each stream; `nil` for any
  /// other output.
  let playlists: RenditionPlaylists?
  /// A message for the user.
  let warning: String?

  /// - Parameter asked: The output's canvas; `nil` for that of the session.
  /// - Throws: `usage` if the output can't be live or has invalid sizes; `cannotCreate` if its file already exists
  ///   and may not be replaced.
  init(
    _ output: LiveOutput, _ configuration: LiveConfiguration, canvas asked: CanvasRule? = nil
  ) throws(UprightError) {
    self.output = output
    canvas = asked
    var options = configuration.options
    let isDual = options.canvas == .dual
    container = try Self.container(of: output, configuration)
    // Each file of a recording has one format.
    if case .recording = output { options.splits = true }
    if let asked {
      options.canvas = asked
      if asked != .dual {
        (options.portraitFit, options.landscapeFit) = (nil, nil)
        options.hasCommonPlaylist = false
      }
    }
    if options.canvas == .dual, !output.hasPlaylists {
      throw UprightError(
        .usage, "the output has one canvas, and two were asked for", at: output.displayName,
        remedy: "choose portrait or landscape for the output")
    }
    try options.check(for: container)
    let canvases: [FrameCanvas]
    if options.canvas == .dual {
      (canvases, warning) = (options.fixedCanvases, nil)
    } else {
      let canvas: FrameCanvas
      (canvas, warning) = try Self.canvas(options.canvas, container)
      canvases = [canvas]
    }
    let codec = options.codec ?? container.defaultCodec
    // The formats of two canvases never change.
    let follows = !isDual && (container.canFollow || options.splits)
    let size = try Self.size(configuration, container)
    let encodings = canvases.map {
      LiveEncoding(canvas: $0, size: size, codec: codec, follows: follows)
    }
    if case .hls(let folder) = output, options.isMultivariant(in: container) {
      playlists = RenditionPlaylists(
        path: "\(folder)/index.m3u8", hasPrefix: false, renditions: options.renditions,
        isCommon: options.hasCommonPlaylist, hasAudio: true)
    } else {
      playlists = nil
    }
    streams =
      playlists?.media.map { media in
        guard let rendition = media.rendition else {
          return LiveStream(encoding: encodings[0], content: .audio)
        }
        return LiveStream(
          encoding: encodings[rendition.canvas], rung: rendition.rung, content: .video)
      } ?? [LiveStream(encoding: encodings[0])]
  }

  /// Returns the container of an output.
  ///
  /// - Throws: `usage` if the output can't be live; `cannotCreate` if its file already exists and may not be replaced.
  private static func container(
    of output: LiveOutput, _ configuration: LiveConfiguration
  ) throws(UprightError) -> OutputContainer {
    let options = configuration.options
    let container: OutputContainer
    switch output {
    case .hls, .segments: container = OutputContainer.hls.with(options.segments)
    case .push(let url):
      try check(address: url, configuration)
      container = try OutputContainer(target: url)
    case .packets: container = .hls
    case .bytes(let asked, _):
      guard [.mpegts, .flv].contains(asked) else {
        throw UprightError(
          .usage, "\(asked.rawValue) can't be written to memory as a stream",
          at: output.displayName, remedy: "use mpegts or flv, or segments")
      }
      container = asked
    case .recording(let path, let limits):
      try limits.check()
      container = try Self.container(ofFile: path)
    case .file(let path):
      container = try Self.container(ofFile: path)
      if !options.overwrites, FilePath(path).exists {
        throw UprightError(
          .cannotCreate, "the output already exists", at: path, remedy: "give another name")
      }
    }
    return container
  }

  /// - Throws: `usage` if a stream can't be pushed to `url`, or comes from there.
  private static func check(
    address url: String, _ configuration: LiveConfiguration
  ) throws(UprightError) {
    guard let scheme = InputTrust.scheme(of: url), schemes.contains(scheme) else {
      throw UprightError(
        .usage, "the scheme is not supported for output", at: LiveAddress.shown(url),
        remedy: "give an rtmp, rtmps, rtsp, srt, udp or tcp address")
    }
    if case .pull(let source) = configuration.input, LiveAddress.areSame(source, url) {
      throw UprightError(
        .usage, "the output is the input: a server would send the session its own stream",
        at: LiveAddress.shown(url), remedy: "push to another path")
    }
  }

  /// - Throws: `usage` if `path` isn't the name of a file that can be live.
  private static func container(ofFile path: String) throws(UprightError) -> OutputContainer {
    guard InputTrust.scheme(of: path) == nil, path != "-" else {
      throw UprightError(.usage, "not a file", at: LiveAddress.shown(path), remedy: "give a path")
    }
    let container = try? OutputContainer(target: path)
    guard let container, files.contains(container) else {
      throw UprightError(
        .usage, "can't be written live", at: path,
        remedy: "give the name of a file in mp4, mov, mkv, ts or flv")
    }
    return container
  }

  /// - Throws: `usage` for an encode size that is larger than the capture size.
  private static func size(
    _ configuration: LiveConfiguration, _ container: OutputContainer
  ) throws(UprightError) -> LiveSize {
    let options = configuration.options
    let isAsked =
      options.size != nil || !options.ladder.isEmpty || configuration.policy.stream != nil
    let guidance: StreamGuidance?
    if isAsked {
      guidance = try options.fixedGuidance(
        policy: configuration.policy.stream, container: container)
    } else if configuration.input.beginsSmall {
      guidance = StreamGuidance(
        encodeSize: StreamGuidance.standard.encodeSize, captureSize: options.captureSize)
    } else {
      return .guided(captureSize: options.captureSize)
    }
    do throws(PolicyError) { try guidance?.check() } catch {
      throw UprightError(error, code: .usage)
    }
    return guidance.map(LiveSize.fixed) ?? .source
  }

  private static let schemes: Set<String> = ["rtmp", "rtmps", "rtsp", "srt", "udp", "tcp"]
  /// The containers of files: they accept AAC and H.264.
  private static let files: Set<OutputContainer> = [.mpegts, .flv, .mp4, .mov, .matroska]

  private static func canvas(
    _ asked: CanvasRule, _ container: OutputContainer
  ) throws(UprightError) -> (FrameCanvas, warning: String?) {
    switch asked == .auto ? container.defaultCanvas : asked {
    case .follow, .auto: return (.follow, nil)
    case .portrait, .dual: return (.fixed(isLandscape: false), nil)
    case .landscape: return (.fixed(isLandscape: true), nil)
    case .initial: return (.initial, nil)
    case .majority:
      guard asked == .auto else {
        throw UprightError(
          .usage, "a live session can't know which orientation lasts longest",
          at: "--canvas majority",
          remedy: "use --canvas initial, portrait or landscape")
      }
      return (
        .initial,
        "\(container.rawValue): using the first frame's canvas: which orientation lasts longest is not"
          + " known in advance"
      )
    }
  }
}

extension LiveOutput {
  /// Whether it has playlists, and so can have several renditions.
  var hasPlaylists: Bool { if case .hls = self { true } else { false } }

  /// The output's name in messages, without secrets.
  package var displayName: String {
    switch self {
    case .hls(let place), .file(let place), .recording(let place, _): place
    case .push(let url): LiveAddress.shown(url)
    case .packets, .segments, .bytes: "memory"
    }
  }
}

extension LiveConfiguration {
  /// - Throws: `usage` if the session can't have parts.
  private func checkLatency() throws(UprightError) {
    guard let lowLatency else { return }
    try lowLatency.check()
    guard outputs.count(where: { if case .hls = $0 { true } else { false } }) == 1 else {
      throw UprightError(
        .usage, "low latency needs one HLS output", at: "latency", remedy: "give an HLS output")
    }
    guard options.segments == .fmp4 else {
      throw UprightError(
        .usage, "low latency needs segments in fragmented MP4", at: "--hls-segments",
        remedy: "use --hls-segments fmp4")
    }
    guard ["0", nil].contains(options.encoderOptions["bf"]) else {
      throw UprightError(
        .usage, "low latency allows no B-frames", at: "--encoder-options", remedy: "use bf=0")
    }
    guard lowLatency.partSeconds * 2 <= segmentSeconds else {
      throw UprightError(
        .usage, "segments of \(segmentSeconds) s with parts of \(lowLatency.partSeconds) s",
        at: "--segment", remedy: "use segments that are at least twice as long as parts")
    }
  }

  /// Returns the outputs with their encode settings.
  ///
  /// - Throws: `usage` for options that contradict each other or that a live session can't support, before
  ///   anything is opened.
  func targets() throws(UprightError) -> [LiveTarget] {
    guard !outputs.isEmpty else {
      throw UprightError(.usage, "the session has no output", remedy: "give at least one")
    }
    guard outputIDs.count <= outputs.count, Set(outputIDs).count == outputIDs.count else {
      throw UprightError(
        .usage, "the ids of the outputs are not unique", remedy: "give each output its own id")
    }
    guard outputCanvases.count <= outputs.count else {
      throw UprightError(
        .usage, "there are more canvases than outputs", remedy: "give each output one at most")
    }
    guard Set(outputs).count == outputs.count else {
      throw UprightError(
        .usage, "two outputs are the same", remedy: "give each output a different target")
    }
    for (isSet, option) in [
      (options.start != nil, "--start"), (options.end != nil, "--to"), (options.splits, "--split"),
      (options.audio != nil, "--audio"), (options.upright == .metadata, "--upright metadata"),
      (options.reencode != .auto, "--reencode"), (options.chunks != .count(1), "--chunks"),
      (options.constantRate != nil, "--constant-rate"), (options.destination != nil, "--for"),
      (options.threads != 0, "--threads"), (options.eventsOffset != 0, "--events-offset"),
      (options.isStrict, "--strict"), (options.keepsLocation, "--keep-location"),
      (options.keepsPartial, "--keep-partial"),
      (options.landscapeOutput != nil, "--landscape-output"),
    ] where isSet {
      throw UprightError(
        .usage, "is not supported in a live session", at: option, remedy: "remove it")
    }
    guard segmentSeconds.isFinite, segmentSeconds >= 0.5, segmentSeconds <= 60 else {
      throw UprightError(
        .usage, "segments of \(segmentSeconds) s", at: "--segment", remedy: "use 0.5 to 60")
    }
    try checkLatency()
    do throws(PolicyError) { _ = try RotationReducer(policy) } catch {
      throw UprightError(error, code: .badData)
    }
    var targets: [LiveTarget] = []
    for (index, output) in outputs.enumerated() {
      let canvas = outputCanvases.indices.contains(index) ? outputCanvases[index] : nil
      targets.append(try LiveTarget(output, self, canvas: canvas))
    }
    if !options.ladder.isEmpty, !targets.contains(where: { $0.playlists != nil }) {
      throw UprightError(
        .usage, "no output has several sizes", at: "--ladder",
        remedy: "add an HLS output, or use --size")
    }
    return targets
  }
}
