package import UprightOrientation
package import UprightFrames
package import UprightMediaIO

/// Receives turned frames in place of the encoders.
package protocol FrameTap: AnyObject {
  /// Receives one frame as it was stored and as it would be encoded, and its time on the media timeline.
  func process(
    stored: consuming VideoFrame, upright: consuming VideoFrame, direction: FrameDirection,
    time: MediaTime
  ) throws(UprightError)
}
