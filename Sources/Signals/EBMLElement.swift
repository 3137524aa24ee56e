/// The header of one EBML element (RFC 8794, 4 to 6).
package struct EBMLElement {
  /// The maximum length of a header, in bytes.
  package static let headerLimit = 12
  /// The ID, including its marker bit.
  package let id: UInt32
  /// The size of the content in bytes; `nil` if unknown.
  package let size: Int?
  /// The position of the content.
  package let content: Int

  /// Parses the element header at `position`; `nil` if there is none.
  package init?(_ bytes: [UInt8], at position: Int) {
    guard position < bytes.count else { return nil }
    let idLength = bytes[position].leadingZeroBitCount + 1
    let sizeStart = position + idLength
    guard idLength <= 4, sizeStart < bytes.count else { return nil }
    id = bytes[position..<sizeStart].reduce(0) { $0 << 8 | UInt32($1) }
    let sizeLength = bytes[sizeStart].leadingZeroBitCount + 1
    content = sizeStart + sizeLength
    guard sizeLength <= 8, content <= bytes.count else { return nil }
    let marked = bytes[sizeStart..<content].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let value = marked & (1 << UInt64(7 * sizeLength) - 1)
    // A size of all ones means unknown.
    size = value == 1 << UInt64(7 * sizeLength) - 1 ? nil : Int(clamping: value)
  }
}
