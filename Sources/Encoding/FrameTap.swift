internal import Orientation
package import UprightFrames
package import UprightMediaIO
internal import UprightOrienting

/// Receives turned frames in place of the encoders.
package protocol FrameTap: AnyObject {
  /// Receives one frame as it was stored and as it would be encoded.
  func take(
    stored: consuming VideoFrame, upright: consuming VideoFrame, direction: FrameDirection,
    seconds: Double
  ) throws(UprightError)
}
