internal import Foundation
public import MediaIO
internal import Orientation
public import RotationPolicy

/// One clip from its file to its output: read, turn, encode, write.
///
/// Reading and decoding run on a thread of their own; turning, encoding and writing on the thread
/// that calls `run`, with a bounded queue between them.
public final class TranscodeSession: Sendable {
  /// A path, a URL, or `-`.
  public let input: String
  /// A path, a URL, or `-`.
  public let output: String
  let inputFormat: String?
  let container: OutputContainer
  let options: TranscodeOptions
  let policy: PolicyDocument
  let events: EventSource
  /// Ends reading: what was read is still finished and written.
  let interrupt = Interrupt()
  /// Ends writing as well.
  let writingInterrupt = Interrupt()
  let unfinished = UnfinishedFiles()

  /// - Parameters:
  ///   - input: a path, a URL that libavformat knows, or `-`.
  ///   - output: a path, a URL or `-`; its name says the container.
  ///   - inputFormat: libavformat's name of the input's format where it cannot be recognised.
  ///   - outputFormat: the container where the name does not say it.
  /// - Throws: `usage` where options contradict each other or the container, before anything is
  ///   opened.
  public init(
    input: String, output: String, inputFormat: String? = nil, outputFormat: String? = nil,
    options: TranscodeOptions = TranscodeOptions(), policy: PolicyDocument = PolicyDocument(),
    events: EventSource = .none
  ) throws(MediaError) {
    self.input = input
    self.output = output
    self.inputFormat = inputFormat
    container = try OutputContainer(target: output, format: outputFormat).with(options.segments)
    self.options = options
    self.policy = policy
    self.events = events
    try options.check(for: container)
    if options.splits { try SplitSink.check(container, target: output) }
    let policyGuidance = policy.stream
    if let guidance = try options.fixedGuidance(policy: policyGuidance, container: container) {
      do throws(PolicyError) { try guidance.check() } catch {
        throw MediaError(error, code: .usage)
      }
    }
    do throws(PolicyError) { _ = try RotationReducer(policy) } catch {
      throw MediaError(error, code: .badData)
    }
  }

  /// Stops reading; what is in flight is finished and the output closed so that it plays. Any thread.
  public func stop() { interrupt.raise() }

  /// Removes what is not finished. For a process that is about to end without waiting for `run`.
  public func abandon() {
    interrupt.raise()
    writingInterrupt.raise()
    unfinished.removeAll()
  }

  /// Whether `stop` was called.
  public var isStopped: Bool { interrupt.isRaised }

  /// Whether the output gets the name of a partial file.
  var leavesPartial: Bool { isStopped && !options.keepsPartial }

  /// Does the work and returns what was done. Blocks; call it on a thread that may.
  ///
  /// - Parameter observe: told about progress, entries and formats as the run goes, on the calling
  ///   thread.
  /// - Throws: as spec 4's exit codes are split; no half output is left under the final name.
  public func run(
    observe: @escaping (SessionUpdate) -> Void = { _ in }
  ) throws(MediaError) -> TranscodeReport {
    let plan = try SessionPlan(self)
    switch plan.copyPlan?.way {
    case .copy(let copy)?: return try CopyRun(plan, copy, observe: observe).run()
    case .parts(let clip)?: return try PartsRun(plan, clip, observe: observe).run()
    case .encode?, nil: return try SessionRun(plan, observe: observe).run()
    }
  }

  /// What a run would do, without an output.
  public func plan() throws(MediaError) -> TranscodePlan {
    TranscodePlan(try SessionPlan(self, isDryRun: true))
  }
}

/// What a session tells while it runs.
public enum SessionUpdate: Sendable {
  /// How far it is.
  case progress(SessionProgress)
  /// An event was answered: an entry of spec 4's `events`.
  case decision(RotationDecision)
  /// The format changed: an entry of spec 4's `formats`.
  case format(JSONValue)
}

/// How far a session is.
public struct SessionProgress: Sendable, Hashable {
  /// Frames written so far.
  public var frames: Int
  /// Seconds on the media timeline.
  public var seconds: Double
  /// The clip's length in seconds; nil where unknown.
  public var duration: Double?
  /// The app orientation at the present frame, by name.
  public var appOrientation: String
  /// Seconds since the start of the run.
  public var elapsed: Double
}

extension TranscodeOptions {
  /// Throws where options contradict each other or the container.
  func check(for container: OutputContainer) throws(MediaError) {
    if canvas == .follow && !container.canFollow && !splits {
      let remedy =
        container == .y4m
        ? "use --canvas portrait or landscape"
        : "use --canvas portrait or landscape, --split for one file per format, or write .mp4, .m3u8 or .ts"
      throw MediaError(
        .usage, "\(container.rawValue) cannot change its format in mid-stream",
        at: "--canvas follow", remedy: remedy)
    }
    try checkCopying()
    let codec = codec ?? container.defaultCodec
    guard container.canCarry(codec) else {
      throw MediaError(
        .usage, "\(container.rawValue) cannot carry \(codec.rawValue)",
        at: "--codec \(codec.rawValue)",
        remedy: "use --codec \(container.defaultCodec.rawValue), or another container")
    }
    try codec.requireEncoder()
    try codec.check(speed: speed, rate: rate, options: encoderOptions)
    for (value, name) in [(start, "--start"), (end, "--to")] {
      if let value, !(value.isFinite && value >= 0) {
        throw MediaError(.usage, "\(value) is no time", at: name, remedy: "give seconds from 0 up")
      }
    }
    if let start, let end, end <= start {
      throw MediaError(.usage, "nothing lies between \(start) and \(end)", at: "--to")
    }
    guard segmentDuration.isFinite, segmentDuration >= 0.1, segmentDuration <= 3600 else {
      throw MediaError(
        .usage, "segments of \(segmentDuration) s", at: "--segment", remedy: "use 0.1 to 3600")
    }
  }

  /// The sizes of the stream where they are known before the first frame; nil for the source's own.
  func fixedGuidance(
    policy: StreamGuidance?, container: OutputContainer
  ) throws(MediaError) -> StreamGuidance? {
    switch size {
    case .pair(let pair): StreamGuidance(encodeSize: pair, captureSize: captureSize)
    case .source: nil
    case nil:
      if let policy {
        StreamGuidance(
          encodeSize: policy.encodeSize, captureSize: captureSize ?? policy.captureSize)
      } else if container.isStreaming {
        StreamGuidance(encodeSize: StreamGuidance.standard.encodeSize, captureSize: captureSize)
      } else {
        nil
      }
    }
  }
}
