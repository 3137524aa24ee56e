/// Assembles messages from chunks (RTMP 1.0, 5.3), incrementally.
///
/// Memory that a peer can use is bounded: the number of chunk streams, the length of a message, and the total
/// size of incomplete messages.
struct ChunkReader: Sendable {
  /// The limits above which a connection is rejected.
  struct Limits: Sendable, Hashable {
    /// Bytes of one message, and of all incomplete messages together.
    var message = 8 << 20
    /// The number of chunk streams.
    var chunkStreams = 64
  }

  private struct Stream {
    var kind = RTMPMessage.Kind(rawValue: 0)
    var messageStream: UInt32 = 0
    var length = 0
    var timestamp: UInt32 = 0
    /// The timestamp delta of chunks of types 1 and 2, and of a new message of type 3.
    var delta: UInt32 = 0
    /// The extended timestamp; `nil` if the last header had none.
    var extended: UInt32?
    /// The number of received bytes of the current message.
    var received = 0
  }

  private let limits: Limits
  private var streams: [Int: Stream] = [:]
  /// The received parts of incomplete messages. Kept apart from `streams` so that they grow in place.
  private var payloads: [Int: [UInt8]] = [:]
  private var chunkSize = 128
  private var buffer: [UInt8] = []
  private var position = 0
  private var incompleteBytes = 0

  /// Creates a reader for the bytes after the handshake.
  init(limits: Limits = Limits()) { self.limits = limits }

  /// The number of bytes that wait for the rest of their chunk.
  var unread: Int { buffer.count - position }

  /// Adds received bytes.
  mutating func append(_ bytes: some Collection<UInt8>) {
    if position > 0 {
      buffer.removeFirst(position)
      position = 0
    }
    buffer += bytes
  }

  /// Returns the next complete message, or `nil` if more bytes are needed. Chunk sizes and aborts are applied
  /// here and also returned.
  ///
  /// - Throws: `RTMPError` if the bytes are not valid chunks, or a limit is exceeded.
  mutating func next() throws(RTMPError) -> RTMPMessage? {
    while let header = try header() {
      guard let message = try process(header) else { continue }
      try apply(message)
      return message
    }
    return nil
  }

  // MARK: - One chunk

  private struct Header {
    let id: Int
    var stream: Stream
    /// The end of the header and payload.
    let end: Int
    let payload: Range<Int>
  }

  /// Returns the next chunk's header, if the chunk is complete.
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
    if type == 3 && streams[id] == nil { throw RTMPError("a chunk stream starts with type 3") }
    if type < 3 {
      if stream.received > 0 { throw RTMPError("a message starts inside another message") }
      guard try Self.readHeader(type, into: &stream, number) else { return nil }
    } else {
      guard continueHeader(&stream, at: &place) else { return nil }
    }
    if stream.length > limits.message {
      throw RTMPError("a message of \(stream.length) bytes exceeds the limit of \(limits.message)")
    }
    let count = min(chunkSize, stream.length - stream.received)
    guard place + count <= buffer.count else { return nil }
    return Header(id: id, stream: stream, end: place + count, payload: place..<place + count)
  }

  /// Returns the chunk stream ID. The values 0 and 1 mean that one or two more bytes follow (5.3.1.1).
  private static func chunkStream(_ low: Int, _ number: (Int) -> Int?) -> Int? {
    switch low {
    case 0: number(1).map { $0 + 64 }
    case 1: number(2).map { ($0 & 255) << 8 + ($0 >> 8) + 64 }
    default: low
    }
  }

  /// Reads a header of type 0 to 2 (5.3.1.2). Returns `false` if bytes are missing.
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
      // This is the only little-endian number.
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
      // A type 3 chunk that starts a message adds the timestamp of a type 0 chunk before it (5.3.1.2.4).
      stream.delta = time
    } else {
      stream.delta = time
      stream.timestamp &+= time
    }
    return true
  }

  /// Reads a header of type 3, which continues the message or starts one with the same header. Returns
  /// `false` if bytes are missing.
  private func continueHeader(_ stream: inout Stream, at place: inout Int) -> Bool {
    if stream.received == 0 { stream.timestamp &+= stream.delta }
    guard let extended = stream.extended else { return true }
    // Some senders repeat the extended timestamp here and some don't. Skip it if it is the same.
    guard place + 4 <= buffer.count else { return false }
    let here = buffer[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    if here == extended { place += 4 }
    return true
  }

  private mutating func process(_ header: Header) throws(RTMPError) -> RTMPMessage? {
    var stream = header.stream
    defer { streams[header.id] = stream }
    if streams[header.id] == nil, streams.count >= limits.chunkStreams {
      throw RTMPError("too many chunk streams")
    }
    payloads[header.id, default: []] += buffer[header.payload]
    stream.received += header.payload.count
    incompleteBytes += header.payload.count
    position = header.end
    if incompleteBytes > limits.message { throw RTMPError("too many bytes in incomplete messages") }
    guard stream.received >= stream.length else { return nil }
    incompleteBytes -= stream.received
    stream.received = 0
    return RTMPMessage(
      stream.kind, timestamp: stream.timestamp, stream: stream.messageStream,
      payload: payloads.removeValue(forKey: header.id) ?? [])
  }

  /// Applies messages for the chunk layer itself (5.4.1, 5.4.2).
  private mutating func apply(_ message: RTMPMessage) throws(RTMPError) {
    switch message.kind {
    case .setChunkSize:
      let size = message.payload.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard message.payload.count >= 4, size >= 1, size <= 0x7FFF_FFFF else {
        throw RTMPError("a chunk size of \(size) is invalid")
      }
      // No message is longer than this.
      chunkSize = min(size, 0xFFFFFF)
    case .abort:
      let id = message.payload.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      incompleteBytes -= payloads.removeValue(forKey: id)?.count ?? 0
      streams[id]?.received = 0
    default: break
    }
  }
}
