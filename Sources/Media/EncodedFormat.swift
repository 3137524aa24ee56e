package import UprightOrientation
package import UprightMediaIO

/// What a container needs to know about the frames from a point in the stream on.
package final class EncodedFormat: Sendable {
  /// The index of the format in its output, from 0.
  package let index: Int
  package let size: PixelSize
  package let parameters: CodecParameters
  /// The frame rate, in frames per second; `nil` if it is unknown.
  package let frameRate: Rational?

  package init(
    index: Int, size: PixelSize, parameters: CodecParameters, frameRate: Rational? = nil
  ) {
    self.index = index
    self.size = size
    self.parameters = parameters
    self.frameRate = frameRate
  }
}
