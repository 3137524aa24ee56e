package import UprightSignals

/// The boxes at the top level of an MP4 or MOV file (ISO/IEC 14496-12, 4.2), up to the first invalid one.
/// Fragmented files have two for each fragment: at most 10 000 are read by default.
package struct MovieFileBoxes: Sequence, IteratorProtocol {
  private let file: ByteSource
  private var position: Int?
  /// The number of boxes that may still be read.
  package private(set) var rest: Int

  package init(_ file: ByteSource, from position: Int = 0, atMost count: Int = 10_000) {
    (self.file, self.position, rest) = (file, position, count)
  }

  package mutating func next() -> MP4Box? {
    guard let start = position, rest > 0,
      let box = MP4Box(header: file.read(at: start, count: 16), at: start)
    else { return nil }
    rest -= 1
    position = box.isComplete ? box.whole.upperBound : nil
    return box
  }
}

/// The index of an MP4 or MOV file in memory: the content of its first `moov` box.
package struct MovieContent {
  /// The bytes of the content.
  package let bytes: [UInt8]
  /// The position of the content in the file.
  let position: Int
  /// Whether `bytes` are all of the content.
  let isComplete: Bool

  /// The largest index that is read into memory.
  private static let largest = 64 << 20

  /// Returns `nil` if there is no index, or it is truncated or too large.
  package init?(in file: ByteSource) {
    // Any other file begins with bytes that are no such box.
    guard let head = MP4Box(header: file.read(at: 0, count: 16)),
      Self.firstBoxes.contains(head.type),
      let box = MovieFileBoxes(file).first(where: { $0.type == "moov" }), box.isComplete,
      box.payload.count <= Self.largest
    else { return nil }
    bytes = file.read(at: box.payload.lowerBound, count: box.payload.count)
    (position, isComplete) = (box.payload.lowerBound, true)
    guard bytes.count == box.payload.count else { return nil }
  }

  /// Returns the index in the first bytes of a file, as far as they hold it; `nil` if it isn't there.
  init?(inOpening opening: [UInt8]) {
    guard let box = MP4Boxes(opening, in: opening.indices).first(where: { $0.type == "moov" })
    else { return nil }
    bytes = Array(opening[box.payload])
    (position, isComplete) = (box.payload.lowerBound, box.isComplete)
  }

  /// The boxes that such a file begins with.
  package static let firstBoxes: Set<MP4BoxType> = [
    "ftyp", "styp", "mdat", "moov", "free", "skip", "wide", "pnot",
  ]
}
