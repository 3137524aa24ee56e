import Foundation
import UprightOrientation

/// Rewrites the display matrix of an MP4 or MOV file byte by byte, without a library that could share a
/// mistake with the code under test.
package enum DisplayMatrixPatch {
  /// The error for a file that can't be patched.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Returns the values a, b, c, d of the matrix that turns frames of `orientation` upright. x points
  /// right, y down, with row vectors (ISO/IEC 14496-12, 6.2.2).
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

  /// Writes the matrix of `orientation`, or the four values of `numbers`, into the first track of the file
  /// at `path`.
  package static func apply(
    _ orientation: ImageOrientation, to path: String, numbers given: [Int32]? = nil
  ) throws {
    try write((given ?? numbers(orientation)).map { $0 << 16 }, to: path)
  }

  /// Writes the matrix of a rotation by `degrees` clockwise into the first track of the file at `path`.
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
    // In version 1, the two times and the duration have eight bytes instead of four.
    let matrix = box + (data[box + 8] == 1 ? 60 : 48)
    let values = [four[0], four[1], 0, four[2], four[3], 0, 0, 0, 1 << 30]
    for (index, value) in values.enumerated() {
      let start = matrix + 4 * index
      withUnsafeBytes(of: value.bigEndian) { data.replaceSubrange(start..<start + 4, with: $0) }
    }
    try data.write(to: URL(fileURLWithPath: path))
  }
}
