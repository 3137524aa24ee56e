/// UTF-8 text that is written in short pieces.
///
/// An array checks its uniqueness and its capacity for each piece, which takes longer than copying the piece.
@safe struct TextBuffer: ~Copyable, @unchecked Sendable {
  private var bytes: UnsafeMutablePointer<UInt8>
  private var capacity = 4096
  /// The number of bytes.
  private(set) var count = 0

  init() { unsafe bytes = .allocate(capacity: capacity) }

  deinit { unsafe bytes.deallocate() }

  /// The text so far.
  var text: String {
    unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// Removes and returns the text so far.
  mutating func take() -> [UInt8] {
    defer { count = 0 }
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  /// Removes what was appended after `count` bytes.
  mutating func rewind(to count: Int) { self.count = min(count, self.count) }

  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { piece in
      reserve(piece.count)
      guard let start = piece.baseAddress else { return }
      unsafe (bytes + count).update(from: start, count: piece.count)
      count += piece.count
    }
  }

  mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe bytes[count] = byte
    count += 1
  }

  mutating func append(spaces: Int) {
    reserve(spaces)
    unsafe (bytes + count).update(repeating: UInt8(ascii: " "), count: spaces)
    count += spaces
  }

  /// Appends `text` in quotation marks, as a JSON string.
  mutating func append(quoted text: String) {
    var text = text
    text.withUTF8 { piece in
      // The longest escape has six bytes.
      reserve(6 * piece.count + 2)
      append(UInt8(ascii: "\""))
      for index in piece.indices {
        let byte = unsafe piece[index]
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case UInt8(ascii: "\n"): append("\\n")
        case UInt8(ascii: "\r"): append("\\r")
        case UInt8(ascii: "\t"): append("\\t")
        case ..<0x10: append("\\u000" + String(byte, radix: 16))
        case ..<0x20, 0x7F: append("\\u00" + String(byte, radix: 16))
        default:
          unsafe bytes[count] = byte
          count += 1
        }
      }
      append(UInt8(ascii: "\""))
    }
  }

  private mutating func reserve(_ more: Int) {
    guard count + more > capacity else { return }
    capacity = max(2 * capacity, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    unsafe larger.moveInitialize(from: bytes, count: count)
    unsafe bytes.deallocate()
    unsafe bytes = larger
  }
}
