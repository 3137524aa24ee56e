internal import Orientation
internal import OrientationSignals
package import UprightMediaIO
package import UprightPipeline

/// Reads the in-band signals of one video stream, in precedence, each for the frame it belongs to.
package struct SignalReader {
  /// What stands where no frame says otherwise, the strongest first.
  private let streamSignals: [OrientationSignal]
  private let video: Int
  private var messages: DisplayOrientationTracker?
  private var coordination: CVOTimeline?
  private var timed: TimedSignals?
  private var script: ScriptSignals?

  /// A reader for `video`; reads the timed tracks that describe it.
  package init(_ source: any PacketSource, _ video: StreamInfo) throws(UprightError) {
    self.video = video.index
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
      script = ScriptSignals(demuxer, video)
    }
  }

  private static func streamSignals(
    _ source: any PacketSource, _ stream: StreamInfo
  ) -> [OrientationSignal] {
    var signals: [OrientationSignal] = []
    // A matrix without an inverse says nothing; some files hold nine zeros. Matroska has no matrix:
    // what libavformat gives there was its projection.
    if let turn = stream.displayMatrix?.turn {
      let isMatroska = (source as? Demuxer)?.isMatroska == true
      signals.append(OrientationSignal(isMatroska ? .projection : .trackMatrix, turn))
    }
    if let degrees = stream.rotateTag {
      signals.append(OrientationSignal(.rotateTag, RotateTag(degrees: degrees).turn))
    }
    return signals
  }

  /// What the user should know: values that make no sense.
  var warnings: [String] { (timed?.warnings ?? []) + (script?.warnings ?? []) + damage }

  private var damage: [String] {
    guard let count = messages?.damagedMessages, count > 0 else { return [] }
    return [
      "\(count) display orientation message\(count == 1 ? " is" : "s are") cut short or out of range, "
        + "and passed over (SEI)"
    ]
  }

  /// Looks at a packet of any stream before it is decoded; packets come in the file's order.
  package mutating func note(_ packet: borrowing Packet) {
    script?.note(packet)
    guard packet.streamIndex == video else { return }
    coordination?.note(packet.cvo, pts: packet.pts)
    guard messages != nil else { return }
    let pts = packet.pts
    unsafe packet.withBytes { bytes in unsafe messages?.note(bytes, pts: pts) }
  }

  /// All that is said of the picture presented at `pts`, the strongest first. Without a time it is the
  /// picture after the last one asked for.
  ///
  /// - Parameter frameMatrix: what the decoded frame itself says. With H.264 and HEVC it is not looked
  ///   at: libavcodec makes it from the same SEI, without its persistence.
  mutating func signals(at pts: Int64?, frameMatrix: DisplayTurn? = nil) -> [OrientationSignal] {
    var signals: [OrientationSignal] = []
    if let turn = coordination?.turn(at: pts) { signals.append(OrientationSignal(.cvo, turn)) }
    if messages != nil {
      if let message = messages?.signal(at: pts) {
        signals.append(OrientationSignal(.sei, message.values.turn))
      }
    } else if let frameMatrix {
      signals.append(OrientationSignal(.frameMatrix, frameMatrix))
    }
    if let turn = timed?.turn(at: pts) { signals.append(OrientationSignal(.mebx, turn)) }
    if let turn = script?.turn(at: pts) { signals.append(OrientationSignal(.flv, turn)) }
    return signals + streamSignals
  }

  /// All that is said of a decoded frame, the strongest first; the first one stands.
  package mutating func signals(for frame: borrowing VideoFrame) -> [OrientationSignal] {
    signals(at: frame.pts, frameMatrix: frame.displayMatrix?.turn)
  }
}
