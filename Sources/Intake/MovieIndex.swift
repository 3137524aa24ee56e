internal import UprightSignals
internal import UprightMediaIO

/// The boxes at the top level of an MP4 or MOV file (ISO/IEC 14496-12, 4.2), up to the first invalid one.
/// Fragmented files have two for each fragment: at most 10 000 are read.
struct MovieFileBoxes: Sequence, IteratorProtocol {
  private let file: ByteSource
  private var position: Int? = 0
  /// The number of boxes that may still be read.
  private(set) var rest = 10_000

  init(_ file: ByteSource) { self.file = file }

  mutating func next() -> MP4Box? {
    guard let start = position, rest > 0,
      let box = MP4Box(header: file.read(at: start, count: 16), at: start)
    else { return nil }
    rest -= 1
    position = box.isComplete ? box.whole.upperBound : nil
    return box
  }
}

/// The index of an MP4 or MOV file: its `moov` box (ISO/IEC 14496-12, 8.2.1).
enum MovieIndex {
  /// The boxes that such a file begins with.
  private static let firstBoxes: Set<MP4BoxType> = [
    "ftyp", "styp", "mdat", "moov", "free", "skip", "wide", "pnot",
  ]

  /// Returns whether `file` is an MP4 or MOV file without its whole index, because it is truncated or was
  /// never finished.
  static func isMissing(in file: ByteSource) -> Bool {
    var boxes = MovieFileBoxes(file)
    var isFirst = true
    while let box = boxes.next() {
      if isFirst, !firstBoxes.contains(box.type) { return false }
      isFirst = false
      guard box.type == "moov" else { continue }
      return box.size != nil && file.read(at: box.whole.upperBound - 1, count: 1).isEmpty
    }
    return !isFirst && boxes.rest > 0
  }
}
