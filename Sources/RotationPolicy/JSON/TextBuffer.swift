/// UTF-8 text that is written in short pieces.
///
/// An array checks its uniqueness and its capacity for each piece, which takes longer than copying the piece.
@safe struct TextBuffer: ~Copyable, @unchecked Sendable {
  private var bytes: UnsafeMutablePointer<UInt8>
  private var capacity = 4096
  /// The number of bytes.
  private(set) var count = 0
  /// The last number and its text.
  private var lastNumber = 0.0
  private var digits = "0.0"

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
    let utf8 = text.utf8.span
    unsafe utf8.withUnsafeBufferPointer { unsafe append($0) }
  }

  private mutating func append(_ piece: UnsafeBufferPointer<UInt8>) {
    reserve(piece.count)
    guard let start = piece.baseAddress else { return }
    unsafe (bytes + count).update(from: start, count: piece.count)
    count += piece.count
  }

  /// Appends a short text of the source code, which takes one store instead of a call.
  @inline(__always)
  mutating func append(literal: StaticString) {
    let length = literal.utf8CodeUnitCount
    reserve(length)
    unsafe (bytes + count).update(from: literal.utf8Start, count: length)
    count += length
  }

  /// Appends the shortest digits that parse to the same value. JSON has no NaN: it is written as `null`.
  mutating func append(_ number: Double) {
    // The phases of a rotation have the time of its event.
    if number.bitPattern != lastNumber.bitPattern {
      lastNumber = number
      digits = number.isFinite ? number.description : "null"
    }
    append(digits)
  }

  mutating func append(spaces: Int) {
    reserve(spaces)
    unsafe (bytes + count).update(repeating: UInt8(ascii: " "), count: spaces)
    count += spaces
  }

  /// Appends `text` in quotation marks, as a JSON string.
  mutating func append(quoted text: String) {
    append(literal: "\"")
    let utf8 = text.utf8.span
    unsafe utf8.withUnsafeBufferPointer { piece in
      if unsafe piece.contains(where: Self.needsEscape) {
        for index in piece.indices { append(escaping: unsafe piece[index]) }
      } else {
        unsafe append(piece)
      }
    }
    append(literal: "\"")
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
  }

  private mutating func append(escaping byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append(literal: "\\\"")
    case UInt8(ascii: "\\"): append(literal: "\\\\")
    case UInt8(ascii: "\n"): append(literal: "\\n")
    case UInt8(ascii: "\r"): append(literal: "\\r")
    case UInt8(ascii: "\t"): append(literal: "\\t")
    case ..<0x10: append("\\u000" + String(byte, radix: 16))
    case ..<0x20, 0x7F: append("\\u00" + String(byte, radix: 16))
    default:
      reserve(1)
      unsafe bytes[count] = byte
      count += 1
    }
  }

  private mutating func reserve(_ more: Int) {
    if more > capacity - count { grow(by: more) }
  }

  private mutating func grow(by more: Int) {
    capacity = max(2 * capacity, count + more)
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    unsafe larger.moveInitialize(from: bytes, count: count)
    unsafe bytes.deallocate()
    unsafe bytes = larger
  }
}
