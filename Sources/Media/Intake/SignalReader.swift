package import UprightOrientation
internal import UprightSignals
package import UprightMediaIO

/// Reads the in-band orientation signals of one video stream and returns them per frame, in order of
/// precedence.
package struct SignalReader {
  /// The signals of the whole stream, strongest first. They apply if a frame has no signal.
  private let streamSignals: [OrientationSignal]
  private let video: Int
  private let timeBase: Rational
  private var messages: DisplayOrientationTracker?
  private var coordination: CVOTimeline?
  private var timed: TimedSignals?
  private var script: ScriptSignals?
  private var pictures: PictureSignals?
  private var gravity: GravitySignals?
  /// Why the sensors turn nothing, and whether they should level frames.
  private var gravityLack: String?
  private let levels: Bool

  /// Creates a reader for `video`, and reads the timed tracks that describe it.
  ///
  /// - Parameter use: How readings of motion sensors turn frames; `nil` if they don't.
  package init(
    _ source: any PacketSource, _ video: StreamInfo, gravity use: GravityUse? = nil
  ) throws(UprightError) {
    self.video = video.index
    levels = if case .level = use { true } else { false }
    timeBase = video.timeBase
    streamSignals = Self.streamSignals(source, video)
    coordination = video.carriesCVO ? CVOTimeline() : nil
    let codec: DisplayOrientationTracker.Codec? =
      switch video.codecName {
      case "h264": .h264
      case "hevc": .hevc
      default: nil
      }
    messages = codec.map {
      DisplayOrientationTracker(codec: $0, configuration: video.parameters.extradata)
    }
    if let demuxer = source as? Demuxer {
      timed = try TimedSignals(demuxer, video)
      if let use { gravity = try GravitySignals(demuxer, use) }
      if use != nil, gravity == nil { gravityLack = GravitySignals.lack(demuxer) }
    }
    script = ScriptSignals(source, video)
    pictures = PictureSignals(source, video)
  }

  private static func streamSignals(
    _ source: any PacketSource, _ stream: StreamInfo
  ) -> [OrientationSignal] {
    var signals: [OrientationSignal] = []
    // A matrix without an inverse is ignored; some files contain nine zeros. Matroska has no matrix:
    // libavformat derives one from its projection.
    if let turn = stream.displayMatrix?.turn {
      let isMatroska = (source as? Demuxer)?.isMatroska == true
      signals.append(OrientationSignal(isMatroska ? .projection : .trackMatrix, turn))
    }
    if let degrees = stream.rotateTag {
      signals.append(OrientationSignal(.rotateTag, RotateTag(degrees: degrees).turn))
    }
    return signals
  }

  /// Warnings for the user about invalid values.
  var warnings: [String] {
    (timed?.warnings ?? []) + (script?.warnings ?? []) + damage + contradiction
      + [gravityLack].compactMap(\.self)
  }

  /// The signal of the whole stream is stronger than the sensors'.
  private var contradiction: [String] {
    guard let signal = streamSignals.first, let first = gravity?.first else { return [] }
    guard signal.orientation.quarterTurns != first.quarterTurns else {
      return levels ? ["the \(signal.source.rawValue) is followed: frames aren't levelled"] : []
    }
    return [
      "the \(signal.source.rawValue) says \(signal.orientation.name), and the camera's gravity \(first.name): "
        + "the \(signal.source.rawValue) is followed"
    ]
  }

  private var damage: [String] {
    guard let count = messages?.damagedMessages, count > 0 else { return [] }
    return [
      "\(count) display orientation message\(count == 1 ? " is" : "s are") truncated or out of range, "
        + "and ignored (SEI)"
    ]
  }

  /// Reads a packet of any stream before it is decoded. Call this in file order.
  package mutating func read(_ packet: borrowing Packet) {
    script?.read(packet)
    guard packet.streamIndex == video else { return }
    coordination?.add(packet.cvo, pts: packet.pts)
    pictures?.read(packet)
    guard messages != nil else { return }
    let pts = packet.pts
    unsafe packet.withBytes { bytes in unsafe messages?.read(bytes, pts: pts) }
  }

  /// Returns all signals for the frame presented at `pts`, strongest first. If `pts` is `nil`, the frame is
  /// the one after the last one queried.
  ///
  /// - Parameter frameMatrix: The display matrix of the decoded frame. Ignored for H.264 and HEVC, because
  ///   libavcodec derives it from the same SEI without its persistence.
  mutating func signals(at pts: Int64?, frameMatrix: DisplayTurn? = nil) -> [OrientationSignal] {
    var signals: [OrientationSignal] = []
    if let turn = coordination?.turn(at: pts) { signals.append(OrientationSignal(.cvo, turn)) }
    if messages != nil {
      if let message = messages?.signal(at: pts) {
        signals.append(OrientationSignal(.sei, message.values.turn))
      }
    } else if let turn = frameMatrix ?? pictures?.turn(at: pts) {
      signals.append(OrientationSignal(.frameMatrix, turn))
    }
    if let turn = timed?.turn(at: pts) { signals.append(OrientationSignal(.mebx, turn)) }
    if let turn = script?.turn(at: pts) { signals.append(OrientationSignal(.flv, turn)) }
    signals += streamSignals
    if let turn = gravity?.turn(at: pts.map { MediaTime($0, timeBase) }) {
      signals.append(OrientationSignal(.gravity, turn))
    }
    return signals
  }

  /// Returns all signals for a decoded frame, strongest first. The first one takes effect.
  package mutating func signals(for frame: borrowing VideoFrame) -> [OrientationSignal] {
    signals(at: frame.pts, frameMatrix: frame.displayMatrix?.turn)
  }
}
