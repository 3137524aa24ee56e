/// A tag of FLV (Video File Format Specification 10.1, E.4). A published stream consists of tags.
package struct FLVTag: Sendable, Hashable {
  /// The kind of a tag's content.
  package enum Kind: UInt8, Sendable {
    case audio = 8
    case video = 9
    case script = 18
  }

  /// The kind of the content.
  package var kind: Kind
  /// Milliseconds; wraps after 49.7 days.
  package var timestamp: UInt32
  /// The tag's data, starting with the codec's header byte.
  package var payload: [UInt8]

  /// Creates a tag.
  package init(_ kind: Kind, timestamp: UInt32, payload: [UInt8]) {
    self.kind = kind
    self.timestamp = timestamp
    self.payload = payload
  }

  /// The encoded tag followed by its size, as in a file.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(payload.count + 15)
    bytes.append(kind.rawValue)
    bytes.appendBigEndian(UInt64(payload.count), bytes: 3)
    bytes.appendBigEndian(UInt64(timestamp & 0xFFFFFF), bytes: 3)
    bytes.append(UInt8(timestamp >> 24))
    bytes += [0, 0, 0]
    bytes += payload
    bytes.appendBigEndian(UInt64(payload.count + 11), bytes: 4)
    return bytes
  }

  /// Returns the tags of bytes that consist of complete ones (Video File Format Specification 10.1, E.4.1).
  package static func tags(of bytes: [UInt8]) -> [[UInt8]] {
    var tags: [[UInt8]] = []
    var rest = bytes[...]
    while rest.count >= 15 {
      let start = rest.startIndex
      let size = 15 + rest[start + 1..<start + 4].reduce(0) { $0 << 8 | Int($1) }
      guard size <= rest.count else { break }
      tags.append(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    return tags
  }
}
