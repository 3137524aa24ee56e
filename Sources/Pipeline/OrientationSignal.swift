public import Orientation

/// What the stream itself says about how a picture lies.
public struct OrientationSignal: Sendable, Hashable {
  /// Where it was said. The order is the precedence: the first that says something stands, and what
  /// the others say is neither composed with it nor applied after it.
  public enum Source: String, Sendable, CaseIterable {
    /// Coordination of video orientation, an RTP header extension.
    case cvo
    /// H.264 or HEVC SEI display orientation.
    case sei
    /// The frame's own display matrix (EXIF in a JPEG).
    case frameMatrix
    /// Apple's timed track `com.apple.quicktime.video-orientation`.
    case mebx
    /// FLV's and RTMP's `onMetaData`.
    case flv
    /// The track's display matrix.
    case trackMatrix
    /// Matroska's projection: a roll, and a mirror that is written as half a turn of yaw.
    case projection
    /// The legacy `rotate` tag, degrees clockwise.
    case rotateTag
  }

  /// Where it was said.
  public var source: Source
  /// What stands the picture upright, at any angle.
  public var turn: DisplayTurn

  package init(_ source: Source, _ turn: DisplayTurn) {
    self.source = source
    self.turn = turn
  }

  /// What stands the picture upright; the nearest quarter turn where the angle is none.
  public var orientation: ImageOrientation { turn.nearest }

  /// The clockwise turn that is left after the flip, in degrees, 0 ..< 360, as it was said.
  public var degrees: Double { turn.clockwiseDegrees }

  /// Whether the signal says just that; false where its angle is no multiple of 90 and the nearest
  /// quarter turn stands for it.
  public var isExact: Bool { turn.isExact }
}
