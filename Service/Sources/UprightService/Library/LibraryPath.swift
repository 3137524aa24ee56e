internal import Foundation

/// The path of a file below the library's folder: names of any bytes.
///
/// A name is neither empty nor hidden, and doesn't begin with `~`, which signatures in URLs begin with.
struct LibraryPath: Sendable, Hashable {
  let names: [[UInt8]]

  /// The longest path that the kernel takes, in bytes.
  private static let longest = 4095

  /// - Returns: `nil` if a name can't be one.
  init?(names: [[UInt8]]) {
    let count = names.reduce(names.count) { $0 + $1.count }
    guard !names.isEmpty, count <= Self.longest, names.allSatisfy(Self.isName) else { return nil }
    self.names = names
  }

  /// - Parameter encoded: The path as a part of a URL.
  /// - Returns: `nil` if no file of the library can have it.
  init?(encoded: Substring) {
    let parts = encoded.split(separator: "/", omittingEmptySubsequences: false)
    self.init(encoded: parts)
  }

  /// - Parameter parts: The names as they are in a URL.
  init?(encoded parts: some Collection<Substring>) {
    let names = parts.compactMap(Self.decoded)
    guard names.count == parts.count else { return nil }
    self.init(names: names)
  }

  /// Whether a file or folder of this name may be in the library.
  static func isName(_ name: some Collection<UInt8>) -> Bool {
    guard let first = name.first else { return false }
    return ![UInt8(ascii: "."), UInt8(ascii: "~")].contains(first)
      && !name.contains(0) && !name.contains(UInt8(ascii: "/"))
  }

  /// The path, as the kernel takes it.
  var bytes: [UInt8] { Array(names.joined(separator: [UInt8(ascii: "/")])) }

  /// The path for messages and lists. Bytes that are no UTF-8 are replaced.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The path as a part of URLs (RFC 3986, 2.1).
  var encoded: String {
    names.map { name in
      name.map { byte in
        let isPlain = AddressRules.isNameByte(byte) || byte == UInt8(ascii: "~")
        return isPlain ? String(UnicodeScalar(byte)) : "%" + [byte].hexadecimal.uppercased()
      }.joined()
    }.joined(separator: "/")
  }

  /// Returns the bytes of a part of a URL's path; `nil` if an escape isn't complete.
  static func decoded(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
        let value = UInt8(digits, radix: 16)
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  /// The last name's extension, in lower case.
  var fileExtension: String {
    let name = names[names.count - 1]
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return "" }
    return String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
  }
}

extension LibraryPath: Comparable {
  static func < (a: Self, b: Self) -> Bool {
    a.bytes.lexicographicallyPrecedes(b.bytes)
  }
}
