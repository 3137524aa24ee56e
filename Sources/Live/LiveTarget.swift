internal import Foundation
internal import Orientation
internal import RotationPolicy
internal import UprightContainers
internal import UprightFrames
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// The encode settings of an output. Outputs with equal settings share one encode.
struct LiveEncoding: Hashable, Sendable {
  let canvas: FrameCanvas
  /// The sizes; `nil` for the source's size.
  let guidance: StreamGuidance?
  let codec: VideoCodec
  /// Whether colour and similar properties may change with a new parameter set.
  let follows: Bool
}

/// One output, and what is known about it before anything is opened.
struct LiveTarget: Sendable {
  var output: LiveOutput
  let container: OutputContainer
  let encoding: LiveEncoding
  /// A message for the user.
  let warning: String?

  /// - Throws: `usage` if the output can't be live or has invalid sizes; `cannotCreate` if its file already exists and may not be
  ///   replaced.
  init(_ output: LiveOutput, _ configuration: LiveConfiguration) throws(UprightError) {
    self.output = output
    var options = configuration.options
    switch output {
    case .hls: container = OutputContainer.hls.with(options.segments)
    case .push(let url):
      guard let scheme = InputTrust.scheme(of: url), Self.schemes.contains(scheme) else {
        throw UprightError(
          .usage, "the scheme is not supported for output", at: LiveAddress.shown(url),
          remedy: "give an rtmp, rtmps, rtsp, srt, udp or tcp address")
      }
      if case .pull(let source) = configuration.input, LiveAddress.areSame(source, url) {
        throw UprightError(
          .usage, "the output is the input: a server would send the session its own stream",
          at: LiveAddress.shown(url), remedy: "push to another path")
      }
      container = try OutputContainer(target: url)
    case .packets: container = .hls
    case .segments: container = OutputContainer.hls.with(options.segments)
    case .bytes(let asked, _):
      guard [.mpegts, .flv].contains(asked) else {
        throw UprightError(
          .usage, "\(asked.rawValue) can't be written to memory as a stream",
          at: output.displayName,
          remedy: "use mpegts or flv, or segments")
      }
      container = asked
    case .recording(let path, let limits):
      try limits.check()
      container = try Self.container(ofFile: path)
      // Each file has one format.
      options.splits = true
    case .file(let path):
      container = try Self.container(ofFile: path)
      if !options.overwrites, FileManager.default.fileExists(atPath: path) {
        throw UprightError(
          .cannotCreate, "the output already exists", at: path, remedy: "give another name")
      }
    }
    guard Self.containers.contains(container) else {
      throw UprightError(
        .usage, "\(container.rawValue) is not supported as a live output", at: output.displayName,
        remedy: "use HLS, rtmp, rtsp, srt, or a file in mp4, mov, mkv, ts or flv")
    }
    try options.check(for: container)
    let canvas: FrameCanvas
    (canvas, warning) = try Self.canvas(options.canvas, container)
    encoding = LiveEncoding(
      canvas: canvas,
      guidance: try options.fixedGuidance(
        policy: configuration.policy.stream, container: container),
      codec: options.codec ?? container.defaultCodec, follows: container.canFollow || options.splits
    )
    do throws(PolicyError) { try encoding.guidance?.check() } catch {
      throw UprightError(error, code: .usage)
    }
  }

  /// - Throws: `usage` if `path` isn't the name of a file that can be live.
  private static func container(ofFile path: String) throws(UprightError) -> OutputContainer {
    guard InputTrust.scheme(of: path) == nil, path != "-" else {
      throw UprightError(.usage, "not a file", at: LiveAddress.shown(path), remedy: "give a path")
    }
    return try OutputContainer(target: path)
  }

  private static let schemes: Set<String> = ["rtmp", "rtmps", "rtsp", "srt", "udp", "tcp"]
  /// The containers that accept AAC and H.264.
  private static let containers: Set<OutputContainer> = [
    .hls, .hlsTS, .mpegts, .flv, .mp4, .mov, .matroska, .rtsp,
  ]

  private static func canvas(
    _ asked: CanvasRule, _ container: OutputContainer
  ) throws(UprightError) -> (FrameCanvas, warning: String?) {
    switch asked == .auto ? container.defaultCanvas : asked {
    case .follow, .auto: return (.follow, nil)
    case .portrait: return (.fixed(isLandscape: false), nil)
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
    guard Set(outputs).count == outputs.count else {
      throw UprightError(
        .usage, "two outputs are the same", remedy: "give each output a different target")
    }
    for (isSet, option) in [
      (options.start != nil, "--start"), (options.end != nil, "--to"), (options.splits, "--split"),
      (options.audio != nil, "--audio"), (options.upright == .metadata, "--upright metadata"),
      (options.reencode != .auto, "--reencode"), (options.chunks != .count(1), "--chunks"),
      (options.threads != 0, "--threads"), (options.eventsOffset != 0, "--events-offset"),
      (options.isStrict, "--strict"), (options.keepsLocation, "--keep-location"),
      (options.keepsPartial, "--keep-partial"),
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
    for output in outputs { targets.append(try LiveTarget(output, self)) }
    return targets
  }
}
