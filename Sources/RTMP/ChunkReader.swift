/// Puts messages together from chunks (RTMP 1.0, 5.3): bytes in as they come, messages out.
///
/// What a peer can make grow is bounded: chunk streams, the length of a message, and the sum of those
/// that are begun and not whole.
struct ChunkReader: Sendable {
  /// What is refused.
  struct Limits: Sendable, Hashable {
    /// Bytes of one message, and of all that are begun.
    var message = 8 << 20
    /// Chunk streams in use at a time.
    var chunkStreams = 64
  }

  private struct Stream {
    var kind = RTMPMessage.Kind(rawValue: 0)
    var messageStream: UInt32 = 0
    var length = 0
    var timestamp: UInt32 = 0
    /// Of a chunk of types 1 and 2, and of a new message of type 3: what its timestamp adds.
    var delta: UInt32 = 0
    /// What an extended timestamp said; nil where the last header had none.
    var extended: UInt32?
    /// Bytes of the present message that have come.
    var received = 0
  }

  private let limits: Limits
  private var streams: [Int: Stream] = [:]
  /// What has come of messages that are not whole. Apart, so that it grows in place.
  private var payloads: [Int: [UInt8]] = [:]
  private var chunkSize = 128
  private var buffer: [UInt8] = []
  private var position = 0
  private var begun = 0

  /// A reader at the start of a connection, behind the handshake.
  init(limits: Limits = Limits()) { self.limits = limits }

  /// Bytes that wait for the rest of their chunk.
  var unread: Int { buffer.count - position }

  /// Adds what was received.
  mutating func append(_ bytes: some Collection<UInt8>) {
    if position > 0 {
      buffer.removeFirst(position)
      position = 0
    }
    buffer += bytes
  }

  /// The next whole message; nil where more bytes are wanted. Chunk sizes and aborts are obeyed here
  /// and handed on.
  ///
  /// - Throws: where the bytes are no chunks, or a limit is passed.
  mutating func next() throws(RTMPError) -> RTMPMessage? {
    while let header = try header() {
      guard let message = try take(header) else { continue }
      try obey(message)
      return message
    }
    return nil
  }

  // MARK: - One chunk

  private struct Header {
    let id: Int
    var stream: Stream
    /// Of header and payload.
    let end: Int
    let payload: Range<Int>
  }

  /// The next chunk's header, where the chunk is there whole.
  private func header() throws(RTMPError) -> Header? {
    var place = position
    func number(_ count: Int) -> Int? {
      guard place + count <= buffer.count else { return nil }
      defer { place += count }
      return buffer[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
    }
    guard let first = number(1), let id = Self.chunkStream(first & 63, number) else { return nil }
    let type = first >> 6
    var stream = streams[id] ?? Stream()
    if type == 3 && streams[id] == nil { throw RTMPError("a chunk of a stream that never began") }
    if type < 3 {
      if stream.received > 0 { throw RTMPError("a message begins inside another") }
      guard try Self.readHeader(type, into: &stream, number) else { return nil }
    } else {
      guard continueHeader(&stream, at: &place) else { return nil }
    }
    if stream.length > limits.message {
      throw RTMPError("a message of \(stream.length) bytes, \(limits.message) are taken")
    }
    let count = min(chunkSize, stream.length - stream.received)
    guard place + count <= buffer.count else { return nil }
    return Header(id: id, stream: stream, end: place + count, payload: place..<place + count)
  }

  /// Ids 0 and 1 mean that one or two bytes follow (5.3.1.1).
  private static func chunkStream(_ low: Int, _ number: (Int) -> Int?) -> Int? {
    switch low {
    case 0: number(1).map { $0 + 64 }
    case 1: number(2).map { ($0 & 255) << 8 + ($0 >> 8) + 64 }
    default: low
    }
  }

  /// Types 0 to 2 (5.3.1.2); false where bytes are missing.
  private static func readHeader(
    _ type: Int, into stream: inout Stream, _ number: (Int) -> Int?
  ) throws(RTMPError) -> Bool {
    guard let short = number(3) else { return false }
    if type < 2 {
      guard let length = number(3), let kind = number(1) else { return false }
      stream.length = length
      stream.kind = .init(rawValue: UInt8(kind))
    }
    if type == 0 {
      guard let id = number(4) else { return false }
      // The one number that is little endian.
      stream.messageStream = UInt32(id).byteSwapped
    }
    var time = UInt32(short)
    stream.extended = nil
    if short == 0xFFFFFF {
      guard let long = number(4) else { return false }
      time = UInt32(long)
      stream.extended = time
    }
    if type == 0 {
      stream.timestamp = time
      // A type 3 chunk that begins a message adds the timestamp of a type 0 before it (5.3.1.2.4).
      stream.delta = time
    } else {
      stream.delta = time
      stream.timestamp &+= time
    }
    return true
  }

  /// Type 3: what follows is more of the message, or another like the last; false where bytes are
  /// missing.
  private func continueHeader(_ stream: inout Stream, at place: inout Int) -> Bool {
    if stream.received == 0 { stream.timestamp &+= stream.delta }
    guard let extended = stream.extended else { return true }
    // Some senders repeat the extended timestamp here and some do not: taken where it is the same.
    guard place + 4 <= buffer.count else { return false }
    let here = buffer[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    if here == extended { place += 4 }
    return true
  }

  private mutating func take(_ header: Header) throws(RTMPError) -> RTMPMessage? {
    var stream = header.stream
    defer { streams[header.id] = stream }
    if streams[header.id] == nil, streams.count >= limits.chunkStreams {
      throw RTMPError("too many chunk streams")
    }
    payloads[header.id, default: []] += buffer[header.payload]
    stream.received += header.payload.count
    begun += header.payload.count
    position = header.end
    if begun > limits.message { throw RTMPError("too much is begun and not finished") }
    guard stream.received >= stream.length else { return nil }
    begun -= stream.received
    stream.received = 0
    return RTMPMessage(
      stream.kind, timestamp: stream.timestamp, stream: stream.messageStream,
      payload: payloads.removeValue(forKey: header.id) ?? [])
  }

  /// What is said to the chunk layer itself (5.4.1, 5.4.2).
  private mutating func obey(_ message: RTMPMessage) throws(RTMPError) {
    switch message.kind {
    case .setChunkSize:
      let size = message.payload.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard message.payload.count >= 4, size >= 1, size <= 0x7FFF_FFFF else {
        throw RTMPError("a chunk size of \(size)")
      }
      // No message is longer than this.
      chunkSize = min(size, 0xFFFFFF)
    case .abort:
      let id = message.payload.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      begun -= payloads.removeValue(forKey: id)?.count ?? 0
      streams[id]?.received = 0
    default: break
    }
  }
}
