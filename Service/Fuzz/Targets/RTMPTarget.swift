#if DEBUG
@testable import UprightRTMP

extension FuzzTarget {
  /// A sequence of AMF 0 values.
  static let amf = FuzzTarget("amf") { bytes in
    guard let values = AMFValue.values(in: bytes) else { return }
    let written = AMFValue.bytes(of: values)
    let again = AMFValue.values(in: written)
    // Compared as bytes: NaN is not equal to itself.
    try expect(
      again.map { AMFValue.bytes(of: $0) } == written, "\(values) is not read back as written")
  }

  /// The bytes of a publisher. The first two bytes are the position at which the stream is cut.
  static let rtmp = FuzzTarget("rtmp") { bytes in
    var input = FuzzInput(bytes)
    let cut = Int(input.integer(UInt16.self))
    let body = Array(input.rest)
    let whole = events([body])
    let pieces = events([Array(body.prefix(cut)), Array(body.dropFirst(cut))])
    try expect(whole == pieces, "a cut at \(cut) changes the events read")
    try expect(
      whole == events([], beforeAnswer: body), "bytes before the answer give other events")
    for case .tag(let tag) in whole ?? [] {
      try expect(tag.bytes.count == tag.payload.count + 15, "a tag of the wrong length")
    }
    // From the start: a handshake, or the commands after it.
    var connection = PublishConnection(random: [])
    _ = try? connection.receive(body)
    connection = PublishConnection(random: [])
    _ = try connection.receive(handshake)
    for case .publish in try connection.receive(body) { connection.refuse("no") }
    _ = connection.takeOutput()
    try checkChunks(body)
  }

  private static let handshake: [UInt8] = [3] + [UInt8](repeating: 0, count: 2 * Handshake.length)

  /// Returns the events of an accepted publisher's bytes, or `nil` if they end the connection.
  private static func events(
    _ pieces: [[UInt8]], beforeAnswer early: [UInt8] = []
  ) -> [PublishConnection.Event]? {
    var connection = PublishConnection(random: [], longestMessage: 1 << 16)
    var writer = ChunkWriter()
    func command(_ values: [AMFValue]) -> [UInt8] {
      writer.bytes(of: RTMPMessage(.command, payload: AMFValue.bytes(of: values)), on: 3)
    }
    let opening =
      handshake
      + command([.string("connect"), .number(1), .object([.init("app", .string("live"))])])
      + command([.string("publish"), .number(2), .null, .string("key")])
    do {
      _ = try connection.receive(opening + early)
      return try connection.accept() + pieces.flatMap { try connection.receive($0) }
    } catch {
      return nil
    }
  }

  /// Checks that messages that were read can be written and read again.
  private static func checkChunks(_ bytes: [UInt8]) throws {
    var reader = ChunkReader(limits: .init(message: 1 << 16, chunkStreams: 8))
    reader.append(bytes)
    var writer = ChunkWriter()
    var again = ChunkReader()
    while let message = try? reader.next() {
      // These messages would change how the second reader continues.
      if [.setChunkSize, .abort].contains(message.kind) { continue }
      again.append(writer.bytes(of: message, on: 3))
      let read = try? again.next()
      try expect(read == message, "\(message) is read as \(String(describing: read))")
    }
  }
}
#endif
