import Foundation
import Orientation

/// Rewrites the display matrix in a finished MP4 or MOV file, byte by byte: no library that could
/// agree with the one under test by sharing its mistake.
package enum DisplayMatrixPatch {
  /// What the patch could not do.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// The four numbers a, b, c, d of the matrix that stands `orientation` upright, written out: x to
  /// the right, y down, row vectors (ISO/IEC 14496-12, 6.2.2).
  package static func numbers(_ orientation: ImageOrientation) -> [Int32] {
    switch orientation {
    case .up: [1, 0, 0, 1]
    case .upMirrored: [-1, 0, 0, 1]
    case .down: [-1, 0, 0, -1]
    case .downMirrored: [1, 0, 0, -1]
    case .leftMirrored: [0, 1, 1, 0]
    case .right: [0, 1, -1, 0]
    case .rightMirrored: [0, -1, -1, 0]
    case .left: [0, -1, 1, 0]
    }
  }

  /// Gives the first track of the file at `path` the matrix of `orientation`, or of four `numbers`.
  package static func apply(
    _ orientation: ImageOrientation, to path: String, numbers given: [Int32]? = nil
  ) throws {
    try write((given ?? numbers(orientation)).map { $0 << 16 }, to: path)
  }

  /// Gives the first track of the file at `path` the matrix of a turn by `degrees` clockwise.
  package static func apply(clockwiseDegrees degrees: Double, to path: String) throws {
    let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
    try write([cosine, sine, -sine, cosine].map { Int32(($0 * 65536).rounded()) }, to: path)
  }

  private static func write(_ four: [Int32], to path: String) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    guard let name = data.range(of: Data("tkhd".utf8)), name.lowerBound >= 4 else {
      throw Failure(description: "\(path) has no tkhd")
    }
    let box = name.lowerBound - 4
    // Version 1 has two times and a duration of eight bytes instead of four.
    let matrix = box + (data[box + 8] == 1 ? 60 : 48)
    let values = [four[0], four[1], 0, four[2], four[3], 0, 0, 0, 1 << 30]
    for (index, value) in values.enumerated() {
      let start = matrix + 4 * index
      withUnsafeBytes(of: value.bigEndian) { data.replaceSubrange(start..<start + 4, with: $0) }
    }
    try data.write(to: URL(fileURLWithPath: path))
  }
}
