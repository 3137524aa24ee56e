package import Orientation
package import UprightMediaIO

/// What a container must know of the pictures from one point of the stream on.
package final class EncodedFormat: Sendable {
  /// Counts the formats of one output, from 0.
  package let index: Int
  package let size: PixelSize
  package let parameters: CodecParameters

  package init(index: Int, size: PixelSize, parameters: CodecParameters) {
    self.index = index
    self.size = size
    self.parameters = parameters
  }
}
