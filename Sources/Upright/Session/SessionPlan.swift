internal import Foundation
internal import MediaIO
internal import Orientation
internal import RotationPolicy

/// What a session has found out and decided before its first frame.
struct SessionPlan {
  let session: TranscodeSession
  let demuxer: any PacketSource
  let video: StreamInfo
  /// Tracks beside the pictures, in output order.
  let sideTracks: [SideTrackWriter]
  /// What does not go into the output, and why.
  let dropped: [String]
  let canvas: FrameDirector.Canvas
  /// Whether the canvas is the first frame's only because the clip cannot be looked at ahead.
  let canvasIsAGuess: Bool
  let codec: VideoCodec
  let stills: SessionStills
  var warnings: [String]
  /// Whether pictures are copied; nil only while that is being decided.
  private(set) var copyPlan: CopyPlan?
  /// The name of the codec that the pictures are in.
  var outputCodec: String {
    switch copyPlan?.way {
    case .copy?: video.codecName
    case .parts(let clip)?: (clip.codec ?? codec).rawValue
    case .encode?, nil: codec.rawValue
    }
  }

  var options: TranscodeOptions { session.options }
  var container: OutputContainer { session.container }

  init(_ session: TranscodeSession, isDryRun: Bool = false) throws(MediaError) {
    self.session = session
    try OutputCheck.check(session, isDryRun: isDryRun)
    stills = try SessionStills(session.options)
    demuxer = try openSource(
      session.input, format: session.inputFormat, sound: session.options.sound,
      interrupt: session.interrupt)
    guard let video = demuxer.bestStream(.video) else {
      throw MediaError(
        .badData, "there is no video stream", at: session.input, remedy: "give a clip with pictures"
      )
    }
    self.video = video
    codec = session.options.codec ?? Self.usualCodec(of: video, session)
    var warnings: [String] = []
    var dropped: [String]
    (sideTracks, dropped) = try Self.sideTracks(
      demuxer, video: video, container: session.container, warnings: &warnings)
    if session.options.splits, !demuxer.container.chapters.isEmpty {
      dropped.append("chapters: they are the whole clip's, and each format has its own file")
    }
    let lost = demuxer.container.implausibleChapters
    if lost > 0 { dropped.append("\(lost) chapters: they begin at times that cannot be") }
    self.dropped = dropped
    canvas = try Self.canvas(session, demuxer, video)
    let asked = session.options.canvas
    canvasIsAGuess = canvas == .initial && asked == .auto
    self.warnings = warnings
    let (decided, warning) = try CopyPlan.decide(self).chunked(self)
    copyPlan = decided
    if let warning { self.warnings.append(warning) }
    if dropsLocation && container.hasTags {
      self.warnings.append("GPS position tags are left out (--keep-location keeps them)")
    }
  }

  /// Whether HDR has to become SDR, as far as the container tells.
  var mapsTones: Bool {
    if case .copy? = copyPlan?.way { return false }
    let depth = video.parameters.pixelFormat?.bitDepth ?? 8
    return video.parameters.isHDR && depth > 8 && codec != .raw && !codec.keepsDepth
  }

  /// What is encoded where nothing is asked for: in a file the input's codec, so that its depth and HDR
  /// stay, and a folder's copied and encoded clips are alike; in a stream H.264.
  private static func usualCodec(of video: StreamInfo, _ session: TranscodeSession) -> VideoCodec {
    let (container, options) = (session.container, session.options)
    let usual = container.defaultCodec
    guard [.mp4, .mov, .matroska, .webm].contains(container) else { return usual }
    let depth = video.parameters.pixelFormat?.bitDepth ?? 8
    let same = VideoCodec(rawValue: video.codecName)
    let suitable = [same, depth > 8 ? .hevc : nil].compactMap(\.self).first { codec in
      guard container.canCarry(codec), codec.isLinked, depth == 8 || codec.keepsDepth else {
        return false
      }
      // What the options say to the usual codec's encoder may mean nothing to this one's.
      let check: ()? = try? codec.check(
        speed: options.speed, rate: options.rate, options: options.encoderOptions)
      return check != nil
    }
    return suitable ?? usual
  }

  // MARK: - Tracks

  private static func sideTracks(
    _ demuxer: any PacketSource, video: StreamInfo, container: OutputContainer,
    warnings: inout [String]
  ) throws(MediaError) -> ([SideTrackWriter], [String]) {
    var tracks: [SideTrackWriter] = []
    var dropped: [String] = []
    let best = demuxer.bestStream(.audio)?.index
    var soundTracks = 0
    for stream in demuxer.container.streams where stream.index != video.index {
      let name = "stream \(stream.index) (\(stream.kind.rawValue), \(stream.codecName))"
      if stream.isDamagedCover {
        dropped.append("\(name): a cover that cannot be read")
        warnings.append("\(name) is left out: a cover that cannot be read")
        continue
      }
      switch stream.kind {
      case .audio:
        guard container.soundEncoder != nil else {
          dropped.append("\(name): \(container.rawValue) carries no sound")
          continue
        }
        guard soundTracks < container.soundTracks,
          container.soundTracks != 1 || stream.index == best
        else {
          dropped.append("\(name): \(container.rawValue) carries one sound track")
          continue
        }
        do throws(MediaError) {
          tracks.append(
            try SideTrackWriter(stream: stream, track: tracks.count + 1, container: container))
          soundTracks += 1
        } catch {
          dropped.append("\(name): \(error.message)")
          warnings.append("\(name) is left out: \(error.message)")
        }
      case .subtitle
      where container.copiesSubtitles(stream.codecName)
        || stream.isText && container.subtitleEncoder != nil,
        .video where stream.isAttachedPicture && container.takesCover(stream.codecName):
        do throws(MediaError) {
          tracks.append(
            try SideTrackWriter(stream: stream, track: tracks.count + 1, container: container))
        } catch {
          dropped.append("\(name): \(error.message)")
        }
      case .video where stream.isAttachedPicture:
        dropped.append("\(name): cover picture")
      case .video:
        dropped.append("\(name): one video track is transcoded")
      default:
        dropped.append("\(name): not carried over")
      }
    }
    if video.metadata["alpha_mode"] == "1" {
      dropped.append("stream \(video.index) (video, \(video.codecName)): what is transparent in it")
    }
    return (tracks, dropped)
  }

  // MARK: - Canvas

  private static func canvas(
    _ session: TranscodeSession, _ demuxer: any PacketSource, _ video: StreamInfo
  ) throws(MediaError) -> FrameDirector.Canvas {
    let asked = session.options.canvas
    let rule = asked == .auto ? session.defaultCanvas : asked
    switch rule {
    case .follow, .auto: return .follow
    case .portrait: return .fixed(isLandscape: false)
    case .landscape: return .fixed(isLandscape: true)
    case .initial: return .initial
    case .majority:
      let isLive = if case .standardInput = session.events { true } else { false }
      guard !isLive, demuxer.container.isSeekable,
        let duration = video.duration ?? demuxer.container.duration
      else {
        if asked == .majority {
          throw MediaError(
            .usage, "what lasts longest cannot be known ahead here", at: "--canvas majority",
            remedy: "use --canvas initial, portrait or landscape")
        }
        return .initial
      }
      return .fixed(isLandscape: try isMostlyLandscape(session, video, duration: duration))
    }
  }

  /// Runs the policy over the whole clip ahead of the frames.
  private static func isMostlyLandscape(
    _ session: TranscodeSession, _ video: StreamInfo, duration: Double
  ) throws(MediaError) -> Bool {
    var director = try session.director(
      size: video.parameters.size, guidance: .standard, canvas: .follow)
    for event in session.shiftedEvents { try director.push(event) }
    if session.scansSignals {
      var scan = try SignalScan(url: session.input, format: session.inputFormat)
      while let change = try scan.next() {
        _ = try director.direct(at: change.seconds, size: change.size, signal: change.signal)
      }
    }
    director.finish()
    return MajorityCanvas.isLandscape(director.plan.timeline, duration: duration)
  }

  // MARK: - Format

  /// The sizes that stand, with the first frame known.
  func guidance(firstSize: PixelSize, sampleAspectRatio: Rational) throws(MediaError)
    -> StreamGuidance
  {
    if let fixed = try options.fixedGuidance(policy: session.policy.stream, container: container) {
      return fixed
    }
    let upright = Placement.uprightSize(
      source: firstSize, sampleAspectRatio: sampleAspectRatio, orientation: .up)
    let guidance = StreamGuidance(encodeSize: upright, captureSize: options.captureSize)
    do throws(PolicyError) { try guidance.check() } catch { throw MediaError(error, code: .usage) }
    return guidance
  }

  /// Seconds per tick of the pictures from the encoders on.
  var pictureTimeBase: Rational { video.timeBase.refined }

  /// What the encoders are opened with; size and colour are filled in by the pictures.
  ///
  /// - Parameter wanted: nil: what was asked for, or the container's usual one.
  func encoderSettings(
    first frame: borrowing VideoFrame, codec wanted: VideoCodec? = nil
  ) -> VideoEncoder.Settings {
    let codec = wanted ?? codec
    let repeatsHeaders =
      container.canFollow && !options.splits && codec != .raw
      && !(codec == .hevc && isSelfContained)
    var settings = VideoEncoder.Settings(
      codec: codec, size: frame.size, format: codec.encodingFormat(for: frame.format),
      colour: frame.colour, timeBase: pictureTimeBase, frameRate: video.frameRate,
      rate: options.rate,
      speed: options.speed, gop: options.gop, isLive: options.isLive,
      wantsGlobalHeader: container.wantsGlobalHeader,
      repeatsHeaders: repeatsHeaders,
      threads: options.threads, options: options.encoderOptions)
    if settings.gop == nil, container.isSegmented, let rate = video.frameRate {
      // Segments are cut at IDRs that are asked for; the encoder's own must not come much oftener.
      settings.gop = max(
        1, Int(clamping: min(rate.doubleValue * options.segmentDuration, 1e6).rounded(.up)) + 1)
    }
    return settings
  }

  /// Whether the only sample entry holds all parameter sets. Where formats change they are in band too:
  /// libavformat 5.1 does not follow HEVC's second sample entry or init segment without.
  private var isSelfContained: Bool {
    guard case .encode? = copyPlan?.way, canvas != .follow else { return false }
    return switch container {
    case .hls: true
    case .mp4, .mov: ContainerSink.isStaged(session.output)
    default: false
    }
  }

  /// What to say of a signal that cannot be followed to the degree; nil where it is.
  func warning(of signal: OrientationSignal, at seconds: Double) -> String? {
    guard !signal.isExact, options.frames == .metadata, !options.levels else { return nil }
    return "at \(seconds): the \(signal.source.rawValue) signal is no multiple of 90 degrees; "
      + "the nearest quarter turn is used (--level follows it)"
  }

  /// Titles, creation time and the like as the output holds them.
  var tags: PlacedTags {
    container.place(Self.kept(demuxer.container.metadata, location: options.keepsLocation))
  }

  /// What of a container's tags goes over.
  static func kept(_ tags: [String: String], location: Bool) -> [String: String] {
    tags.filter { key, _ in
      !technical.contains(key.lowercased()) && (location || !isLocation(key))
    }
  }

  /// Tags that the container has no place for, in words; nil where there are none.
  var droppedTags: String? {
    let names = tags.withoutPlace
    guard !names.isEmpty else { return nil }
    return "tags without a place in \(container.rawValue): " + names.joined(separator: ", ")
  }

  /// Whether positions were found and left out.
  var dropsLocation: Bool {
    !options.keepsLocation
      && demuxer.container.metadata.keys.contains { Self.isLocation($0) }
  }

  /// Whether a tag of that name, in whatever case, says where a clip was taken.
  static func isLocation(_ key: String) -> Bool {
    let key = key.lowercased()
    return key == "location" || key.hasPrefix("location-") || key.contains("location.iso6709")
      || key.hasPrefix("com.apple.quicktime.location") || key == "gps" || key == "xyz"
  }

  /// What describes the old container, or what was applied to the pixels.
  private static let technical: Set<String> = [
    "major_brand", "minor_version", "compatible_brands", "encoder", "rotate", "duration",
    "com.apple.quicktime.video-orientation", "orientation", "rotation",
  ]
}

extension Rational {
  /// A finer time base that has every tick of this one: 1/n, at least 10000 a second, so that decoding
  /// times fit between those of neighbours.
  var refined: Rational {
    var denominator = max(1, self.denominator)
    while denominator < 10_000 { denominator *= 2 }
    return Rational(1, denominator)
  }
}

extension TranscodeSession {
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
