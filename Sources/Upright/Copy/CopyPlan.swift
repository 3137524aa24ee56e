internal import MediaIO
internal import Orientation
internal import RotationPolicy

/// Whether the pictures of a transcode are copied, and why.
///
/// The first rung of "what does not need new pixels is not encoded": a clip is copied as a whole or not
/// at all.
struct CopyPlan {
  /// One stretch of pictures with the same direction.
  struct Stretch {
    /// Counted in presentation order.
    let firstFrame: Int
    let seconds: Double
    let direction: Direction
  }

  /// The clip as it will be copied.
  struct Copy {
    /// What the output says of its orientation.
    var mark: OrientationMark
    /// In presentation order, the first at frame 0.
    var stretches: [Stretch]
    /// The policy's answers and formats.
    var plan: OrientationPlan
    /// The presentation time of the first picture, in ticks.
    var origin: Int64

    /// Whether each picture says for itself how it lies: the container has one word for all of them.
    var variesWithPictures: Bool {
      stretches.contains { $0.direction.turn != stretches[0].direction.turn }
    }
  }

  /// Nil where pictures are encoded.
  let copy: Copy?
  /// Why, for a person.
  let reason: String

  private init(_ copy: Copy?, _ reason: String) {
    self.copy = copy
    self.reason = reason
  }

  /// Decides for `plan`.
  ///
  /// - Throws: `usage` where copying was asked for and new pictures are needed.
  static func decide(_ plan: SessionPlan) throws(MediaError) -> CopyPlan {
    let options = plan.options
    if options.upright == .pixels && options.reencode == .always {
      return CopyPlan(nil, "asked for")
    }
    let decided = try CopyFinder(plan).decide()
    switch decided {
    case .copy(let copy, let reason): return CopyPlan(copy, reason)
    case .encode(let reason):
      if options.upright == .metadata {
        throw MediaError(
          .usage, "cannot be done by metadata: \(reason)", at: "--upright metadata",
          remedy: "use --upright pixels")
      }
      if options.reencode == .never {
        throw MediaError(
          .usage, "pictures would have to be encoded: \(reason)", at: "--reencode never",
          remedy: "use --reencode auto")
      }
      return CopyPlan(nil, reason)
    }
  }
}

/// Finds out whether a clip can be copied: what costs least is asked first.
private struct CopyFinder {
  enum Answer {
    case copy(CopyPlan.Copy, String)
    case encode(String)
  }

  /// Ends the search where new pictures are needed.
  private struct NeedsPictures: Error { let reason: String }

  private let plan: SessionPlan
  private let isByMetadata: Bool

  init(_ plan: SessionPlan) {
    self.plan = plan
    isByMetadata = plan.options.upright == .metadata
  }

  func decide() throws(MediaError) -> Answer {
    if let reason = reasonFromOptions ?? reasonFromContainer { return .encode(reason) }
    do {
      let copy = try looked()
      return .copy(
        copy,
        isByMetadata ? "the turn is written as metadata" : "every picture is as it should be")
    } catch let error as NeedsPictures {
      return .encode(error.reason)
    } catch let error as MediaError {
      throw error
    } catch {
      throw MediaError(.fault, "\(error)")
    }
  }

  private var reasonFromOptions: String? {
    let options = plan.options
    let isNamed: (Bool, String) -> String? = { $0 ? "\($1) asks for an encoder" : nil }
    let hasRate = if case .constantQuality(nil) = options.rate { false } else { true }
    if let codec = options.codec, codec.rawValue != plan.video.codecName {
      return "the clip is \(plan.video.codecName), --codec asks for \(codec.rawValue)"
    }
    if !options.overlays.isEmpty { return "overlays are drawn into the picture" }
    if options.levels { return "--level turns by any angle" }
    if options.splits { return "--split begins each file with an encoder of its own" }
    if options.start != nil || options.end != nil { return "a cut falls between entry points" }
    if case .standardInput = plan.session.events {
      return "events that come as the run goes are not known ahead"
    }
    return isNamed(hasRate, "--crf or --bitrate") ?? isNamed(options.speed != nil, "--speed")
      ?? isNamed(options.gop != nil, "--gop") ?? isNamed(options.isLive, "--latency live")
      ?? isNamed(!options.encoderOptions.isEmpty, "--encoder-options")
  }

  private var reasonFromContainer: String? {
    let (video, container) = (plan.video, plan.container)
    guard plan.demuxer is Demuxer else { return "a recording of RTP holds no decoding times" }
    switch container {
    case .y4m: return "y4m holds pictures that are not encoded"
    case .hls, .hlsTS: return "segments are cut at pictures that an encoder is asked for"
    default: break
    }
    let known = VideoCodec(rawValue: video.codecName)
    let isTaken =
      known.map { container.canCarry($0) } ?? Muxer.canCopy(video, format: container.muxer)
    guard isTaken, container != .webm || ["vp8", "vp9", "av1"].contains(video.codecName) else {
      return "\(container.rawValue) does not take \(video.codecName)"
    }
    if container.isStreaming && !isByMetadata, let format = video.parameters.pixelFormat,
      format != .yuv420p
    {
      return "streams are made of yuv420p, the clip is \(format)"
    }
    if ["h264", "hevc", "m4v", "mpegvideo", "obu"].contains(plan.demuxer.container.format) {
      return "an elementary stream has no times"
    }
    return plan.demuxer.container.isSeekable ? nil : "the input cannot be looked at ahead"
  }

  // MARK: - The clip itself

  private func looked() throws -> CopyPlan.Copy {
    let (session, video) = (plan.session, plan.video)
    let size = video.parameters.size
    if !isByMetadata && video.sampleAspectRatio != .one {
      throw NeedsPictures(reason: "its pixels are \(video.sampleAspectRatio), not square")
    }
    let guidance = try plan.guidance(
      firstSize: size, sampleAspectRatio: video.sampleAspectRatio)
    var director = try session.director(size: size, guidance: guidance, canvas: plan.canvas)
    var events = EventFeed(session.events, offset: session.options.eventsOffset)
    var signals = try Signals(session)
    var stretches: [CopyPlan.Stretch] = []
    func look(at seconds: Double, frame: Int) throws {
      for event in try events.take(upTo: seconds + OrientationTimeline.grain) {
        try director.push(event)
      }
      let direction = try director.direct(
        at: seconds, size: size, signal: try signal(of: signals.change(at: frame), size))
      if !isByMetadata { try check(direction, at: seconds) }
      if let last = stretches.last, last.direction.hasLayout(of: direction) { return }
      stretches.append(.init(firstFrame: frame, seconds: seconds, direction: direction))
    }
    // Most clips that need new pictures need them from the start.
    try look(at: 0, frame: 0)
    let times = try Times(session, plan: plan)
    for frame in times.presented.indices {
      try look(
        at: Double(times.presented[frame] - times.presented[0]) * video.timeBase.doubleValue,
        frame: frame)
    }
    for event in try events.takeRest() { try director.push(event) }
    director.finish()
    var copy = CopyPlan.Copy(
      mark: OrientationMark(), stretches: stretches, plan: director.plan,
      origin: times.presented[0])
    copy.mark = try mark(copy)
    return copy
  }

  /// The signal that stands; a change of size cannot be copied into one track.
  private func signal(
    of change: SignalScan.Change?, _ size: PixelSize
  ) throws -> OrientationSignal? {
    if let other = change?.size, other != size {
      throw NeedsPictures(reason: "its size changes to \(other)")
    }
    return change?.signal
  }

  private func check(_ direction: Direction, at seconds: Double) throws {
    let size = plan.video.parameters.size
    let at = "at \(seconds.rounded(toPlaces: 3)) s"
    if direction.turn != .up {
      throw NeedsPictures(reason: "\(at) the picture must be turned: \(direction.turn.name)")
    }
    if direction.moment != nil { throw NeedsPictures(reason: "\(at) a turn is drawn") }
    if !direction.isCaptureEnabled {
      throw NeedsPictures(reason: "\(at) the camera is not sent")
    }
    if direction.canvas != size {
      throw NeedsPictures(
        reason: "\(at) the picture is \(size) and the canvas \(direction.canvas)")
    }
  }

  private func mark(_ copy: CopyPlan.Copy) throws -> OrientationMark {
    guard isByMetadata else { return OrientationMark() }
    let muxer = plan.container.muxer
    if copy.variesWithPictures {
      guard ["h264", "hevc"].contains(plan.video.codecName) else {
        throw NeedsPictures(
          reason: "the turn changes in mid-clip, which \(plan.video.codecName) cannot say")
      }
      return OrientationMark()
    }
    return try OrientationMark(
      copy.stretches[0].direction.turn, for: plan.video, muxer: muxer, wantsMessage: false,
      isFile: ContainerSink.isStaged(plan.session.output))
  }

  // MARK: - What is read ahead

  /// The in-band signal and the size of each picture, asked for in presentation order.
  private struct Signals {
    private var scan: SignalScan?
    private var present: SignalScan.Change?
    private var next: SignalScan.Change?

    init(_ session: TranscodeSession) throws(MediaError) {
      scan = try SignalScan(url: session.input, format: session.inputFormat)
      next = try scan?.next()
    }

    mutating func change(at frame: Int) throws(MediaError) -> SignalScan.Change? {
      while let change = next, change.frame <= frame {
        present = change
        next = try scan?.next()
      }
      return present
    }
  }

  /// The presentation times of all pictures, in order.
  private struct Times {
    var presented: [Int64] = []

    init(_ session: TranscodeSession, plan: SessionPlan) throws {
      let demuxer = try Demuxer(
        url: session.input, format: session.inputFormat, interrupt: session.interrupt)
      let video = plan.video
      demuxer.select([video.index])
      var feed = PacketFeed(demuxer)
      while let packet = feed.next() {
        guard packet.streamIndex == video.index else { continue }
        if packet.newExtradata != nil { throw NeedsPictures(reason: "its parameters change") }
        if packet.isDiscarded {
          throw NeedsPictures(reason: "an edit list hides pictures of it")
        }
        guard let pts = packet.pts else { throw NeedsPictures(reason: "a picture has no time") }
        presented.append(pts)
      }
      if feed.isStopped { throw MediaError(.cancelled, "stopped", at: session.input) }
      if feed.error != nil || feed.damaged > 0 || presented.count < video.frameCount {
        throw NeedsPictures(reason: "it is damaged")
      }
      guard !presented.isEmpty else { throw NeedsPictures(reason: "there is no picture in it") }
      presented.sort()
    }
  }
}
