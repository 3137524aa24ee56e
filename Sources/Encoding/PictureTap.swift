package import UprightMediaIO
package import UprightOrienting

/// Takes pictures as they are decided and turned, in the place of the encoders.
package protocol PictureTap: AnyObject {
  /// One picture as it was stored, and as it would be encoded.
  func take(
    stored: consuming VideoFrame, upright: consuming VideoFrame, direction: Direction,
    seconds: Double
  ) throws(MediaError)
}
