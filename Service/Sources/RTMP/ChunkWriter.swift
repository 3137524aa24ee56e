/// Splits messages into chunks (RTMP 1.0, 5.3). Every message has a full header, because the service only
/// sends replies of a few bytes per second.
struct ChunkWriter: Sendable {
  private var chunkSize = 128

  /// Returns the chunks of `message` on the chunk stream `id` (2...63).
  mutating func bytes(of message: RTMPMessage, on id: UInt8) -> [UInt8] {
    var bytes: [UInt8] = [id & 63]
    let isExtended = message.timestamp >= 0xFFFFFF
    bytes.appendBigEndian(isExtended ? 0xFFFFFF : UInt64(message.timestamp), bytes: 3)
    bytes.appendBigEndian(UInt64(message.payload.count), bytes: 3)
    bytes.append(message.kind.rawValue)
    bytes.appendBigEndian(UInt64(message.stream.byteSwapped), bytes: 4)
    if isExtended { bytes.appendBigEndian(UInt64(message.timestamp), bytes: 4) }
    var rest = message.payload[...]
    while true {
      bytes += rest.prefix(chunkSize)
      rest = rest.dropFirst(chunkSize)
      if rest.isEmpty { break }
      bytes.append(0xC0 | (id & 63))
      if isExtended { bytes.appendBigEndian(UInt64(message.timestamp), bytes: 4) }
    }
    if message.kind == .setChunkSize {
      chunkSize = max(1, message.payload.prefix(4).reduce(0) { $0 << 8 | Int($1) })
    }
    return bytes
  }
}
