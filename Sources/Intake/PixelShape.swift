package import UprightOrientation
package import UprightMediaIO

/// Selects between the container's and the bitstream's sample aspect ratio.
///
/// A bitstream ratio other than square is used. If the bitstream has none, or a square one, which encoders
/// write by default, the container's ratio is used. Once the bitstream's ratio has changed in mid-stream, the
/// container's ratio is ignored, because it describes only the start.
package struct PixelShape {

  package init() {
  }
  private var first: Rational??
  private var hasChanged = false

  /// Sets the frame's sample aspect ratio to the selected one.
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
