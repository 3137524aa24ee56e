public import UprightOrientation

/// Orientation metadata from the input stream.
public struct OrientationSignal: Sendable, Hashable {
  /// The source of a signal, in order of precedence. Only the first source that has a signal is used; the
  /// others are neither combined with it nor applied after it.
  public enum Source: String, Sendable, CaseIterable {
    /// Coordination of video orientation (CVO), an RTP header extension.
    case cvo
    /// H.264 or HEVC SEI display orientation.
    case sei
    /// The frame's display matrix (EXIF in an image, the rotation of an AVIF file).
    case frameMatrix
    /// Apple's timed track `com.apple.quicktime.video-orientation`.
    case mebx
    /// `onMetaData` of FLV and RTMP.
    case flv
    /// The track's display matrix.
    case trackMatrix
    /// Matroska's projection: a roll, and a mirror that is written as a yaw of 180 degrees.
    case projection
    /// The legacy `rotate` tag, in degrees clockwise.
    case rotateTag
    /// Gravity, as the camera's motion sensors read it.
    case gravity
  }

  /// The source of the signal.
  public let source: Source
  /// The turn that makes the frame upright, at any angle.
  public let turn: DisplayTurn

  package init(_ source: Source, _ turn: DisplayTurn) {
    self.source = source
    self.turn = turn
  }

  /// The orientation that makes the frame upright: the nearest quarter turn if the angle is not a multiple of
  /// 90 degrees.
  public var orientation: ImageOrientation { turn.nearest }

  /// The clockwise rotation after the flip, in degrees, 0 ..< 360, as signalled.
  public var degrees: Double { turn.clockwiseDegrees }

  /// Whether `orientation` is exact. `false` if the signalled angle is not a multiple of 90 degrees and
  /// `orientation` is the nearest quarter turn.
  public var isExact: Bool { turn.isExact }
}

/// How the readings of a camera's motion sensors turn frames.
package enum GravityUse: Sendable {
  /// By quarter turns, which don't flicker.
  case quarterTurns(GravityClassifier.Configuration)
  /// To the degree, so that the horizon is level.
  case level
}
