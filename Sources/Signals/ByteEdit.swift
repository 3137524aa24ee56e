package import UprightOrientation

/// A change of some bytes of a file.
package struct ByteEdit: Sendable, Hashable {
  /// The position of the first byte in the file.
  package let offset: Int
  /// The bytes that are there; empty for an insertion.
  package let old: [UInt8]
  /// The bytes that replace them.
  package let new: [UInt8]

  package init(at offset: Int, _ old: [UInt8], _ new: [UInt8]) {
    (self.offset, self.old, self.new) = (offset, old, new)
  }

  /// Whether no other byte of the file moves.
  package var isInPlace: Bool { old.count == new.count }

  /// The edit that restores the old bytes, in a file whose earlier edits have moved its bytes by `shift`.
  package func reversed(movedBy shift: Int) -> ByteEdit { ByteEdit(at: offset + shift, new, old) }

  /// The edit without the bytes at its start and end that it doesn't change; `nil` if it changes none.
  package var trimmed: ByteEdit? {
    guard isInPlace else { return self }
    guard let first = old.indices.first(where: { old[$0] != new[$0] }),
      let last = old.indices.last(where: { old[$0] != new[$0] })
    else { return nil }
    return ByteEdit(at: offset + first, Array(old[first...last]), Array(new[first...last]))
  }
}

/// A file whose bytes are read by their position.
package protocol ByteFile {
  /// The size in bytes.
  var size: Int { get }

  /// Returns the bytes in `range`, fewer at the end of the file.
  func bytes(in range: Range<Int>) throws(UprightError) -> [UInt8]
}

extension [UInt8]: ByteFile {
  package var size: Int { count }

  package func bytes(in range: Range<Int>) -> [UInt8] { Array(self[range.clamped(to: indices)]) }
}

/// A part of a file as a file of its own, such as the movie at the end of a motion photo.
struct FilePart: ByteFile {
  let file: any ByteFile
  let range: Range<Int>

  var size: Int { range.count }

  func bytes(in part: Range<Int>) throws(UprightError) -> [UInt8] {
    let part = part.clamped(to: 0..<range.count)
    return try file.bytes(
      in: range.lowerBound + part.lowerBound..<range.lowerBound + part.upperBound)
  }
}

/// The changes that give a file an orientation, and what is known of the file.
package struct OrientationPatch: Sendable, Hashable {
  /// The changes, in the order of their offsets, none of which overlap.
  package var edits: [ByteEdit] = []
  /// FFmpeg's name of the codec, or the four characters of the sample entry.
  package var codec = ""
  /// The size of the stored frames.
  package var size = PixelSize(0, 0)
  /// The number of frames of the main track.
  package var frames = 1
  /// The duration in seconds. `nil` for a still.
  package var duration: Double?
  /// Whether the file says where it was taken.
  package var hasLocation = false
  /// What is wrong with the file, for the user.
  package var damage: [String] = []

  package init() {}

  /// Adds an edit, if it changes anything.
  mutating func add(_ edit: ByteEdit) {
    if let edit = edit.trimmed { edits.append(edit) }
  }

  /// Returns the same patch with its edits in order.
  ///
  /// - Throws: `badData` if some of them overlap, in a file whose parts do.
  func ordered() throws(UprightError) -> OrientationPatch {
    var patch = self
    // What is inserted comes before what it is inserted before. A sample may belong to several tracks.
    patch.edits = Set(edits).sorted { ($0.offset, $0.old.count) < ($1.offset, $1.old.count) }
    for (one, next) in zip(patch.edits, patch.edits.dropFirst())
    where next.offset - one.offset < one.old.count {
      throw UprightError(
        .badData, "two parts of the file overlap at byte \(next.offset)",
        remedy: "the file is damaged")
    }
    return patch
  }

  /// Whether the file stays as long as it is.
  package var isInPlace: Bool { edits.allSatisfy(\.isInPlace) }
}
