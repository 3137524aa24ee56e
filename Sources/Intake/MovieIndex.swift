internal import OrientationSignals
internal import UprightMediaIO

/// The boxes at the top level of an MP4 or MOV file (ISO/IEC 14496-12, 4.2), up to the first invalid one.
/// Fragmented files have two for each fragment: at most 10 000 are read.
struct MovieFileBoxes: Sequence, IteratorProtocol {
  private let file: ByteSource
  private var position: Int? = 0
  /// The number of boxes that may still be read.
  private(set) var rest = 10_000

  init(_ file: ByteSource) { self.file = file }

  /// Returns the next box and its position in the file.
  mutating func next() -> (header: MP4BoxHeader, position: Int)? {
    guard let start = position, rest > 0,
      let header = MP4BoxHeader(file.read(at: start, count: 16))
    else { return nil }
    rest -= 1
    position = header.size.flatMap {
      let (end, overflow) = start.addingReportingOverflow($0)
      return overflow ? nil : end
    }
    return (header, start)
  }
}

/// The index of an MP4 or MOV file: its `moov` box (ISO/IEC 14496-12, 8.2.1).
enum MovieIndex {
  static let type = MP4BoxHeader.type("moov")
  /// The boxes that such a file begins with.
  private static let firstBoxes = Set(
    ["ftyp", "styp", "mdat", "moov", "free", "skip", "wide", "pnot"].map(MP4BoxHeader.type))

  /// Returns whether `file` is an MP4 or MOV file without its whole index, because it is truncated or was
  /// never finished.
  static func isMissing(in file: ByteSource) -> Bool {
    var boxes = MovieFileBoxes(file)
    var isFirst = true
    while let (header, position) = boxes.next() {
      if isFirst, !firstBoxes.contains(header.type) { return false }
      isFirst = false
      guard header.type == type else { continue }
      guard let size = header.size else { return false }
      let (end, overflow) = position.addingReportingOverflow(size)
      return overflow || file.read(at: end - 1, count: 1).isEmpty
    }
    return !isFirst && boxes.rest > 0
  }
}
