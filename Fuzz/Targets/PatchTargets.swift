#if DEBUG
import UprightOrientation

@testable import UprightSignals

extension FuzzTarget {
  /// An MP4 or MOV file whose matrix and samples are patched. The first byte selects the orientation.
  static let tkhd = FuzzTarget("tkhd") { bytes in
    try check(bytes) { try MovieTag.patch($0, $1) }
  }

  /// A JPEG, PNG, WebP or HEIC image, or a motion photo.
  static let exif = FuzzTarget("exif") { bytes in
    try check(bytes) { try PatchedFormat($0)?.patch($0, $1) }
  }

  /// A Matroska or WebM file.
  static let ebml = FuzzTarget("ebml") { bytes in
    try check(bytes) { try MatroskaTag.patch($0, $1, isForced: false) }
  }

  /// Checks that the edits of a file tell the bytes that are there, and don't overlap.
  private static func check(
    _ bytes: [UInt8], _ patch: ([UInt8], ImageOrientation) throws -> OrientationPatch?
  ) throws {
    var input = FuzzInput(bytes)
    let orientation = input.choice(ImageOrientation.allCases)
    let file = Array(input.rest)
    guard let patch = try patch(file, orientation) else { return }
    var end = 0
    for edit in patch.edits {
      try expect(edit.offset >= end, "an edit at \(edit.offset) before \(end)")
      end = edit.offset + edit.old.count
      try expect(end <= file.count, "an edit beyond the end: \(end)")
      try expect(Array(file[edit.offset..<end]) == edit.old, "other bytes at \(edit.offset)")
    }
  }
}
#endif
