package import Orientation
package import UprightMediaIO

/// What a container needs to know about the frames from a point in the stream on.
package final class EncodedFormat: Sendable {
  /// The index of the format in its output, from 0.
  package let index: Int
  package let size: PixelSize
  package let parameters: CodecParameters

  package init(index: Int, size: PixelSize, parameters: CodecParameters) {
    self.index = index
    self.size = size
    self.parameters = parameters
  }
}
