/// The elements of an RTP header extension, in the one-byte or two-byte form (RFC 8285, 4.2 and 4.3). A block
/// with any other profile has no elements.
package struct HeaderExtensions: Sendable, Hashable {
  /// One element.
  package struct Element: Sendable, Hashable {
    /// The identifier that the session maps to a URI: 1...14, or 1...255 in the two-byte form.
    package let id: UInt8
    /// The value; empty only in the two-byte form.
    package let value: ArraySlice<UInt8>
  }

  private enum Form { case oneByte, twoByte }

  private let form: Form?
  private let bytes: ArraySlice<UInt8>

  /// Creates an extension without elements.
  init() {
    form = nil
    bytes = []
  }

  init(profile: UInt16, _ bytes: ArraySlice<UInt8>) {
    // The low four bits of the two-byte form's profile are application bits.
    form = profile == 0xBEDE ? .oneByte : profile & 0xFFF0 == 0x1000 ? .twoByte : nil
    self.bytes = bytes
  }

  /// Returns the value of the first element with `id`, or `nil` if there is none. O(n).
  package subscript(id: UInt8) -> ArraySlice<UInt8>? { elements.first { $0.id == id }?.value }

  /// The elements before the first invalid one. O(n).
  package var elements: [Element] {
    guard let form else { return [] }
    var elements: [Element] = []
    var position = bytes.startIndex
    while position < bytes.endIndex {
      let head = bytes[position]
      position += 1
      if head == 0 { continue }
      let id: UInt8
      let length: Int
      switch form {
      case .oneByte:
        id = head >> 4
        length = Int(head & 15) + 1
        // 15 is reserved. 0 with a length is invalid, because padding has no length. Both end the block.
        if id == 15 || id == 0 { return elements }
      case .twoByte:
        guard position < bytes.endIndex else { return elements }
        id = head
        length = Int(bytes[position])
        position += 1
      }
      guard length <= bytes.endIndex - position else { return elements }
      elements.append(Element(id: id, value: bytes[position..<position + length]))
      position += length
    }
    return elements
  }
}
