package import UprightMediaIO
package import UprightOrienting

/// Receives turned frames in place of the encoders.
package protocol PictureTap: AnyObject {
  /// Receives one frame as it was stored and as it would be encoded.
  func take(
    stored: consuming VideoFrame, upright: consuming VideoFrame, direction: Direction,
    seconds: Double
  ) throws(MediaError)
}
