internal import Foundation
internal import Orientation
internal import RotationPolicy
internal import UprightContainers
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// What the pictures of an output must be like. Outputs of one form share an encode.
struct LiveForm: Hashable, Sendable {
  let canvas: FrameDirector.Canvas
  /// The sizes; nil: the source's own.
  let guidance: StreamGuidance?
  let codec: VideoCodec
  /// Whether colour and the like may change with a new parameter set.
  let follows: Bool
}

/// One output with what is known of it before anything is opened.
struct LiveTarget: Sendable {
  let output: LiveOutput
  let container: OutputContainer
  let form: LiveForm
  /// What the user should know.
  let warning: String?

  /// - Throws: `usage` where the output cannot be made live, `cannotCreate` where its file is there
  ///   already and may not be replaced.
  init(_ output: LiveOutput, _ configuration: LiveConfiguration) throws(UprightError) {
    self.output = output
    let options = configuration.options
    switch output {
    case .hls: container = OutputContainer.hls.with(options.segments)
    case .push(let url):
      guard let scheme = InputTrust.scheme(of: url), Self.schemes.contains(scheme) else {
        throw UprightError(
          .usage, "nothing can be sent there", at: LiveAddress.shown(url),
          remedy: "give an rtmp, rtmps, srt, udp or tcp address")
      }
      container = try OutputContainer(target: url)
    case .file(let path):
      guard InputTrust.scheme(of: path) == nil, path != "-" else {
        throw UprightError(
          .usage, "not a file", at: LiveAddress.shown(path), remedy: "give a path")
      }
      container = try OutputContainer(target: path)
      if !options.overwrites, FileManager.default.fileExists(atPath: path) {
        throw UprightError(
          .cannotCreate, "the output is there already", at: path, remedy: "give another name")
      }
    }
    guard Self.containers.contains(container) else {
      throw UprightError(
        .usage, "\(container.rawValue) is no live output", at: output.shown,
        remedy: "use HLS, rtmp, srt, or a file in mp4, mov, mkv, ts or flv")
    }
    try options.check(for: container)
    let canvas: FrameDirector.Canvas
    (canvas, warning) = try Self.canvas(options.canvas, container)
    form = LiveForm(
      canvas: canvas,
      guidance: try options.fixedGuidance(
        policy: configuration.policy.stream, container: container),
      codec: options.codec ?? container.defaultCodec, follows: container.canFollow)
  }

  private static let schemes: Set<String> = ["rtmp", "rtmps", "srt", "udp", "tcp"]
  /// Those that take AAC and H.264.
  private static let containers: Set<OutputContainer> = [
    .hls, .hlsTS, .mpegts, .flv, .mp4, .mov, .matroska,
  ]

  private static func canvas(
    _ asked: CanvasRule, _ container: OutputContainer
  ) throws(UprightError) -> (FrameDirector.Canvas, warning: String?) {
    switch asked == .auto ? container.defaultCanvas : asked {
    case .follow, .auto: return (.follow, nil)
    case .portrait: return (.fixed(isLandscape: false), nil)
    case .landscape: return (.fixed(isLandscape: true), nil)
    case .initial: return (.initial, nil)
    case .majority:
      guard asked == .auto else {
        throw UprightError(
          .usage, "what lasts longest cannot be known ahead here", at: "--canvas majority",
          remedy: "use --canvas initial, portrait or landscape")
      }
      return (
        .initial,
        "\(container.rawValue): the canvas is the first frame's: what lasts longest cannot be known"
          + " ahead"
      )
    }
  }
}

extension LiveOutput {
  /// What messages call it.
  fileprivate var shown: String {
    switch self {
    case .hls(let place), .file(let place): place
    case .push(let url): LiveAddress.shown(url)
    }
  }
}

extension LiveConfiguration {
  /// The outputs, each with its form.
  ///
  /// - Throws: `usage` for what contradicts itself or cannot be live, before anything is opened.
  func targets() throws(UprightError) -> [LiveTarget] {
    guard !outputs.isEmpty else {
      throw UprightError(.usage, "a session without an output", remedy: "give one")
    }
    guard Set(outputs).count == outputs.count else {
      throw UprightError(.usage, "two outputs are one", remedy: "give each its own place")
    }
    for (isSet, option) in [
      (options.start != nil, "--start"), (options.end != nil, "--to"), (options.splits, "--split"),
      (options.sound != nil, "--audio"), (options.upright == .metadata, "--upright metadata"),
    ] where isSet {
      throw UprightError(
        .usage, "is nothing for a live session", at: option, remedy: "leave it out")
    }
    guard segmentSeconds.isFinite, segmentSeconds >= 0.5, segmentSeconds <= 60 else {
      throw UprightError(
        .usage, "segments of \(segmentSeconds) s", at: "--segment", remedy: "use 0.5 to 60")
    }
    do throws(PolicyError) { _ = try RotationReducer(policy) } catch {
      throw UprightError(error, code: .badData)
    }
    var targets: [LiveTarget] = []
    for output in outputs { targets.append(try LiveTarget(output, self)) }
    for target in targets {
      do throws(PolicyError) { try target.form.guidance?.check() } catch {
        throw UprightError(error, code: .usage)
      }
    }
    return targets
  }
}
