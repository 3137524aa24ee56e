internal import MediaIO
public import Orientation
internal import OrientationSignals

/// What the stream itself says about how a picture lies.
public struct OrientationSignal: Sendable, Hashable {
  /// Where it was said, the strongest first.
  public enum Source: String, Sendable, CaseIterable {
    /// Coordination of video orientation, an RTP header extension.
    case cvo
    /// H.264 or HEVC SEI display orientation.
    case sei
    /// The frame's own display matrix (EXIF in a JPEG).
    case frameMatrix
    /// The track's display matrix.
    case trackMatrix
    /// The legacy `rotate` tag, degrees clockwise.
    case rotateTag
  }

  /// Where it was said.
  public var source: Source
  /// What stands the picture upright.
  public var orientation: ImageOrientation
  /// Whether the signal says just that; false where its angle is no multiple of 90 and the nearest
  /// quarter turn stands for it.
  public var isExact: Bool

  init(_ message: DisplayOrientationSignal) {
    source = .sei
    orientation = message.orientation
    isExact = message.isExact
  }

  init(source: Source, turn: DisplayTurn) {
    self.source = source
    orientation = turn.nearest
    isExact = turn.orientation != nil
  }
}

/// Reads the in-band signals of one video stream, in precedence, each for the frame it belongs to.
struct SignalReader {
  /// What stands where no frame says otherwise.
  let streamSignal: OrientationSignal?
  private var messages: DisplayOrientationTracker?
  private var coordination: CVOTimeline?

  init(_ stream: StreamInfo) {
    streamSignal = Self.streamSignal(stream)
    coordination = stream.carriesCVO ? CVOTimeline() : nil
    switch stream.codecName {
    case "h264":
      messages = DisplayOrientationTracker(
        codec: .h264, configuration: stream.parameters.extradata)
    case "hevc":
      messages = DisplayOrientationTracker(
        codec: .hevc, configuration: stream.parameters.extradata)
    default: messages = nil
    }
  }

  private static func streamSignal(_ stream: StreamInfo) -> OrientationSignal? {
    // A matrix without an inverse says nothing; some files hold nine zeros.
    if let turn = stream.displayMatrix?.turn {
      return OrientationSignal(source: .trackMatrix, turn: turn)
    }
    if let degrees = stream.rotateTag {
      return OrientationSignal(source: .rotateTag, turn: RotateTag(degrees: degrees).turn)
    }
    return nil
  }

  /// Looks at a packet before it is decoded; packets come in decoding order.
  mutating func note(_ packet: borrowing Packet) {
    coordination?.note(packet.cvo, pts: packet.pts)
    guard messages != nil else { return }
    let pts = packet.pts
    unsafe packet.withBytes { bytes in unsafe messages?.note(bytes, pts: pts) }
  }

  /// Whether packets can carry signals: else the stream as a whole, or decoded frames, speak.
  var readsPackets: Bool { messages != nil || coordination != nil }

  /// What the packets say of the picture presented at `pts`, or the stream where they do not. Without
  /// a time it is the picture after the last one asked for.
  mutating func signal(at pts: Int64?) -> OrientationSignal? {
    let message = messages?.signal(at: pts).map { OrientationSignal($0) }
    return coordination?.signal(at: pts) ?? message ?? streamSignal
  }

  /// What stands for a decoded frame; nil where nothing is said.
  mutating func signal(for frame: borrowing VideoFrame) -> OrientationSignal? {
    if readsPackets {
      // libavcodec's display matrix is made from the same SEI, without its persistence: not looked at.
      return signal(at: frame.pts)
    }
    if let turn = frame.displayMatrix?.turn {
      return OrientationSignal(source: .frameMatrix, turn: turn)
    }
    return streamSignal
  }
}
