public import UprightOrientation

/// Where the chroma samples of subsampled video are between the luma samples (ISO/IEC 23091-2, 8.7).
public struct ChromaPosition: Sendable, Hashable {
  /// From 0, on the left luma column of the block, to 256, on the right one.
  public var x: Int
  /// From 0, on the top luma row of the block, to 256, on the bottom one.
  public var y: Int

  /// A position in 1/256 of the distance between two luma samples.
  public init(x: Int, y: Int) {
    self.x = x
    self.y = y
  }

  /// On the left luma column, between two rows: the default of H.264 and HEVC.
  public static let left = ChromaPosition(x: 0, y: 128)
  /// Between all four luma samples: JPEG.
  public static let center = ChromaPosition(x: 128, y: 128)
  /// On the top left luma sample: BT.2020.
  public static let topLeft = ChromaPosition(x: 0, y: 0)

  /// Where the samples are after the frame was turned.
  public func turned(_ orientation: ImageOrientation) -> ChromaPosition {
    let x = orientation.isMirrored ? 256 - x : x
    return switch orientation.clockwiseDegrees {
    case 90: ChromaPosition(x: 256 - y, y: x)
    case 180: ChromaPosition(x: 256 - x, y: 256 - y)
    case 270: ChromaPosition(x: y, y: 256 - x)
    default: ChromaPosition(x: x, y: y)
    }
  }

  /// The luma samples per chroma sample along an axis, and where the first chroma sample starts.
  func axis(_ shift: Int, _ position: Int) -> (step: Double, start: Double) {
    guard shift > 0 else { return (1, 0) }
    let step = Double(1 << shift)
    return (step, 0.5 + Double(position) / 256 - step / 2)
  }
}
