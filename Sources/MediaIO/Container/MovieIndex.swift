/// The index of an MP4 or MOV file: its `moov` box (ISO/IEC 14496-12, 8.2.1).
enum MovieIndex {
  /// The boxes that such a file begins with.
  private static let firstBoxes = ["ftyp", "styp", "mdat", "moov", "free", "skip", "wide", "pnot"]
  /// The maximum number of boxes at the top level. A fragmented file without `moov` can have any number.
  private static let maxBoxes = 10_000

  /// Returns whether `file` is an MP4 or MOV file without its whole index, because it is truncated or was
  /// never finished.
  static func isMissing(in file: ByteSource) -> Bool {
    var position = 0
    for count in 0..<maxBoxes {
      let header = file.read(at: position, count: 16)
      guard header.count >= 8 else { return count > 0 }
      let type = String(decoding: header[4..<8], as: UTF8.self)
      if count == 0, !firstBoxes.contains(type) { return false }
      guard let size = size(header) else { return type != "moov" }
      let (end, overflow) = position.addingReportingOverflow(size)
      if overflow { return true }
      if type == "moov" { return file.read(at: end - 1, count: 1).isEmpty }
      position = end
    }
    return false
  }

  /// Returns the size in a box's header, in bytes. Returns `nil` if the box extends to the end of the file, or
  /// if the size is invalid.
  private static func size(_ header: [UInt8]) -> Int? {
    func number(_ bytes: Range<Int>) -> Int? {
      guard bytes.upperBound <= header.count else { return nil }
      return Int(exactly: header[bytes].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    guard let short = number(0..<4), short != 0 else { return nil }
    guard let size = short == 1 ? number(8..<16) : short else { return nil }
    return size >= (short == 1 ? 16 : 8) ? size : nil
  }
}
