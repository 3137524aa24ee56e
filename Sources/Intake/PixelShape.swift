package import Orientation
package import UprightMediaIO

/// Settles between the container and the bitstream what shape a frame's samples have.
///
/// A bitstream that says something else than square is believed. One that says nothing, or square as
/// encoders do without being asked, leaves the word to the container; but once it has changed its
/// mind in mid-stream, the container's word, which is about the beginning, is worth no more.
package struct PixelShape {

  package init() {
  }
  private var first: Rational??
  private var hasChanged = false

  /// Writes the ratio that stands into the frame.
  package mutating func resolve(_ frame: inout VideoFrame, container: Rational) {
    let own = frame.statesSampleAspectRatio ? frame.sampleAspectRatio : nil
    if let first {
      if own != nil && own != first { hasChanged = true }
    } else {
      first = .some(own)
    }
    if !hasChanged && (own ?? .one) == .one { frame.sampleAspectRatio = container }
  }
}
