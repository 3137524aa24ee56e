internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// The checked request of a session, and the means to stop it.
package struct TranscodeRequest: Sendable {
  let input: String
  let output: String
  /// The files or addresses that are written: one for each canvas, except that an HLS output has one.
  let outputs: [String]
  let inputFormat: String?
  let container: OutputContainer
  private(set) var options: TranscodeOptions
  /// Whether the caller receives the frames in place of an output. Their format may change.
  private(set) var returnsFrames = false
  /// Whether the first frame is the one that is shown at the start, though it may begin before.
  var beginsWithShown = false
  /// Whether segments are made one by one. GOPs can be copied into them.
  private(set) var makesSegments = false
  let policy: PolicyDocument
  let events: EventSource
  /// Interrupts reading. Frames that were already read are still encoded and written.
  let interrupt = Interrupt()
  /// Interrupts writing as well.
  let writingInterrupt = Interrupt()
  let unfinished = UnfinishedFiles()
  /// Ends the run without an output.
  let cancellation = Interrupt()
  /// Where messages about the run go: what the thread had that made the session.
  var log = LogScope.current

  /// - Throws: `usage` if options contradict each other or the container; `badData` if the policy can't
  ///   start.
  init(
    input: String, output: String, inputFormat: String?, outputFormat: String?,
    options: TranscodeOptions, policy: PolicyDocument, events: EventSource
  ) throws(UprightError) {
    self.input = input
    self.output = output
    self.inputFormat = inputFormat
    container = try OutputContainer(target: output, format: outputFormat).with(options.segments)
    self.options = options
    // Nothing is cut.
    if options.start == 0 { self.options.start = nil }
    self.policy = policy
    self.events = events
    try options.check(for: container)
    try options.checkLadder(for: container)
    outputs = try Self.outputs(output, container, options)
    if options.splits { try SplitSink.check(container, target: output) }
    let policyGuidance = policy.stream
    if let guidance = try options.fixedGuidance(policy: policyGuidance, container: container) {
      do throws(PolicyError) { try guidance.check() } catch {
        throw UprightError(error, code: .usage)
      }
    }
    do throws(PolicyError) { _ = try RotationReducer(policy) } catch {
      throw UprightError(error, code: .badData)
    }
  }

  /// Creates the request of a reader, whose frames have the pixel formats of YUV4MPEG2.
  ///
  /// - Throws: The errors of a transcode's request.
  init(
    reading input: String, inputFormat: String?, options: TranscodeOptions, policy: PolicyDocument,
    events: EventSource
  ) throws(UprightError) {
    var checked = options
    // A file couldn't follow.
    if checked.canvas == .follow { checked.canvas = .auto }
    try self.init(
      input: input, output: "-", inputFormat: inputFormat, outputFormat: "y4m", options: checked,
      policy: policy, events: events)
    self.options = options
    returnsFrames = true
  }

  /// Creates the request of a source of segments, which are written nowhere.
  ///
  /// - Throws: The errors of a transcode's request.
  init(
    segmentsOf input: String, inputFormat: String?, options: TranscodeOptions,
    policy: PolicyDocument, events: EventSource
  ) throws(UprightError) {
    try self.init(
      input: input, output: "segments.m3u8", inputFormat: inputFormat, outputFormat: "hls",
      options: options, policy: policy, events: events)
    makesSegments = true
  }

  /// Returns the same request, to be worked on and stopped apart.
  ///
  /// - Parameter canvas: The one that was chosen for it: the longest orientation needs the signals of the whole input.
  func again(on canvas: FrameCanvas? = nil) throws(UprightError) -> TranscodeRequest {
    var options = options
    if let canvas { options.canvas = canvas.rule }
    return try TranscodeRequest(
      segmentsOf: input, inputFormat: inputFormat, options: options, policy: policy, events: events)
  }

  /// Gives segments the size of the guidance, no side longer than the input's, if no size was asked for.
  mutating func limitSize(to video: StreamInfo) throws(UprightError) {
    guard makesSegments, options.size == nil, policy.stream == nil else { return }
    let guidance = StreamGuidance.standard.limited(to: video.frameShape.streamSize)
    options.size = .pair(guidance.encodeSize)
  }

  /// Returns the outputs of each canvas.
  ///
  /// - Throws: `usage` if two canvases have one address.
  private static func outputs(
    _ output: String, _ container: OutputContainer, _ options: TranscodeOptions
  ) throws(UprightError) -> [String] {
    guard options.canvas == .dual else { return [output] }
    if container.isSegmented {
      guard options.landscapeOutput == nil else {
        throw UprightError(
          .usage, "an HLS output has playlists of both canvases", at: "--landscape-output",
          remedy: "remove it")
      }
      return [output]
    }
    guard !options.hasCommonPlaylist else {
      throw UprightError(
        .usage, "\(container.rawValue) has no playlists", at: "--common-playlist",
        remedy: "remove it, or write a playlist, such as -o out.m3u8")
    }
    let isStream = output == "-" || InputTrust.scheme(of: output) != nil
    guard let landscape = options.landscapeOutput else {
      guard !isStream else {
        throw UprightError(
          .usage, "two canvases need two addresses", at: "--canvas dual",
          remedy: "add --landscape-output, or write a file or a playlist")
      }
      return [OutputName.suffixed(output, "portrait"), OutputName.suffixed(output, "landscape")]
    }
    guard landscape != output else {
      throw UprightError(
        .usage,
        isStream
          ? "two tracks in one connection can't be written by the linked FFmpeg"
          : "both canvases can't be in one file",
        at: "--landscape-output", remedy: "give another address than -o")
    }
    let other =
      landscape == "-"
      ? nil : try OutputContainer(target: landscape).with(options.segments)
    guard other == container else {
      throw UprightError(
        .usage, "is not \(container.rawValue), like the output", at: "--landscape-output",
        remedy: "give both outputs the same container")
    }
    return [output, landscape]
  }

  /// The error of a run that was cancelled; `nil` if it wasn't.
  var cancelled: UprightError? {
    cancellation.isRaised ? UprightError(.cancelled, "cancelled", at: input) : nil
  }

  /// Whether reading was stopped.
  var isStopped: Bool { interrupt.isRaised }

  /// Whether the output is named as a partial file.
  var leavesPartial: Bool { isStopped && !options.keepsPartial }
}

extension TranscodeRequest {
  /// The canvas rule for `--canvas auto`: with one file per format, the format may change.
  var defaultCanvas: CanvasRule {
    if options.splits { return .follow }
    let isFixed = options.destination?.needsOneFormat(in: container) == true
    return isFixed ? .majority : container.defaultCanvas
  }

  /// Whether the format may change mid-stream.
  var canFollow: Bool {
    options.canvas != .dual && (container.canFollow || options.splits || returnsFrames)
  }

  /// The playlists of an HLS output with several renditions; `nil` for any other output.
  func playlists(hasAudio: Bool) -> RenditionPlaylists? {
    guard options.isMultivariant(in: container) else { return nil }
    return RenditionPlaylists(
      path: output, hasPrefix: true, renditions: options.renditions,
      isCommon: options.hasCommonPlaylist, hasAudio: hasAudio)
  }

  /// Whether in-band signals are the events, because no others were given.
  var signalsAreEvents: Bool { if case .none = events { true } else { false } }

  /// Whether signals must be scanned in advance to choose the canvas.
  var scansSignals: Bool { signalsAreEvents && options.frames.isSignalled }

  /// How readings of the camera's motion sensors turn frames; `nil` if they don't.
  var gravityUse: GravityUse? {
    guard options.frames.isSignalled else { return nil }
    if options.levels { return .level }
    return options.frames == .gravity ? .quarterTurns(options.gravity) : nil
  }

  /// Whether the crop moves in the middle of a format.
  var movesFocus: Bool {
    guard case .list(let events) = events else { return false }
    return events.contains { if case .focus = $0.action { true } else { false } }
  }

  /// The events with the offset added; empty if they aren't known in advance.
  var shiftedEvents: [RotationEvent] {
    guard case .list = events else { return [] }
    var queue = EventQueue(events, offset: options.eventsOffset)
    return (try? queue.takeRest()) ?? []
  }

  /// Creates a director at the start of the input, whose first frame is shown in `size`.
  func director(
    size: PixelSize, guidance: StreamGuidance, canvas: FrameCanvas
  ) throws(UprightError) -> FrameDirector {
    var director = try FrameDirector(
      policy: startPolicy(size: size), canvas: DirectedCanvas(canvas, guidance: guidance),
      frames: options.frames, reference: options.reference, signalsAreEvents: signalsAreEvents,
      gravity: options.gravity, focus: options.focusRule)
    (director.levels, director.takesFocus) = (options.levels, options.fills)
    director.keepsOddSizes = returnsFrames
    return director
  }

  /// Returns the initial policy. For upright frames without events, the shape of the frames determines the
  /// device orientation.
  private func startPolicy(size: PixelSize) -> PolicyDocument {
    guard options.frames == .upright, signalsAreEvents else { return policy }
    var policy = policy
    policy.device.orientation = DeviceOrientation(frameOf: size, lying: .up)
    return policy
  }
}
