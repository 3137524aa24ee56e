internal import UprightSignals
internal import UprightMediaIO

/// The index of an MP4 or MOV file: its `moov` box (ISO/IEC 14496-12, 8.2.1).
enum MovieIndex {
  /// Returns the name of the kind of picture that `file` holds (ISO/IEC 23008-12), in boxes like those of an MP4
  /// file; `nil` if it is none, or has an index of tracks too.
  static func picture(in file: ByteSource) -> String? {
    var hasItems = false
    var boxes = MovieFileBoxes(file)
    guard let first = boxes.next(), first.type == "ftyp" else { return nil }
    while let box = boxes.next() {
      if box.type == "moov" { return nil }
      if box.type == "meta" { hasItems = true }
    }
    guard hasItems else { return nil }
    let brands = file.read(at: first.payload.lowerBound, count: min(first.payload.count, 256))
    return brands.starts(with: Array("avi".utf8)) ? "AVIF" : "HEIC"
  }

  /// Returns whether `file` is an MP4 or MOV file without its whole index, because it is truncated or was
  /// never finished.
  static func isMissing(in file: ByteSource) -> Bool {
    var boxes = MovieFileBoxes(file)
    var isFirst = true
    while let box = boxes.next() {
      if isFirst, !MovieContent.firstBoxes.contains(box.type) { return false }
      isFirst = false
      guard box.type == "moov" else { continue }
      return box.size != nil && file.read(at: box.whole.upperBound - 1, count: 1).isEmpty
    }
    return !isFirst && boxes.rest > 0
  }
}
