internal import Foundation
internal import Orientation
internal import RotationPolicy
internal import UprightContainers
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// What a session is asked to do, checked, and how it is stopped.
package struct TranscodeRequest: Sendable {
  let input: String
  let output: String
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

  /// - Throws: `usage` if options contradict each other or the container; `badData` if the policy can't
  ///   start.
  init(
    input: String, output: String, inputFormat: String?, outputFormat: String?,
    options: TranscodeOptions, policy: PolicyDocument, events: EventSource
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

  /// Whether reading was stopped.
  var isStopped: Bool { interrupt.isRaised }

  /// Whether the output gets the name of a partial file.
  var leavesPartial: Bool { isStopped && !options.keepsPartial }
}

extension TranscodeRequest {
  /// What `--canvas auto` means: one file a format is asked for where formats are to change.
  var defaultCanvas: CanvasRule { options.splits ? .follow : container.defaultCanvas }

  /// Whether the format may change in mid-stream.
  var canFollow: Bool { container.canFollow || options.splits }

  /// Whether in-band signals stand in for events.
  var signalsAreEvents: Bool { if case .none = events { true } else { false } }

  /// Whether signals must be read ahead to know how the canvas should be.
  var scansSignals: Bool { signalsAreEvents && options.frames == .metadata }

  /// The events as they will be pushed; empty where they are not known ahead.
  var shiftedEvents: [RotationEvent] {
    guard case .list = events else { return [] }
    var feed = EventFeed(events, offset: options.eventsOffset)
    return (try? feed.takeRest()) ?? []
  }

  /// A director that stands at the start, for frames whose first one is of `size`.
  func director(
    size: PixelSize, guidance: StreamGuidance, canvas: FrameDirector.Canvas
  ) throws(MediaError) -> FrameDirector {
    try FrameDirector(
      policy: startPolicy(size: size), guidance: guidance, frames: options.frames,
      reference: options.reference, canvas: canvas, signalsAreEvents: signalsAreEvents,
      gravity: options.gravity, levels: options.levels)
  }

  /// The policy as it starts. Frames that are upright already and come without events say by their
  /// shape how the device was held.
  private func startPolicy(size: PixelSize) -> PolicyDocument {
    guard options.frames == .upright, signalsAreEvents else { return policy }
    var policy = policy
    policy.device.orientation = DeviceOrientation(frameOf: size, lying: .up)
    return policy
  }
}
