import Testing
import UprightServiceTestSupport

@testable import UprightRTMP

@Suite("RTMP chunks: messages from bytes in pieces of any size")
struct ChunkTests {
  /// Writes chunks of any type, as a peer might.
  struct Peer {
    var bytes: [UInt8] = []
    var chunkSize = 128

    mutating func number(_ value: Int, _ count: Int) {
      bytes.appendBigEndian(UInt64(value), bytes: count)
    }

    mutating func head(_ type: Int, _ id: Int) {
      switch id {
      case ..<64: number(type << 6 | id, 1)
      case ..<320: number(type << 14 | (id - 64), 2)
      default: number(type << 22 | 1 << 16 | ((id - 64) & 255) << 8 | (id - 64) >> 8, 3)
      }
    }

    /// Writes a message as chunks, of which the first has type `type`.
    mutating func send(
      _ type: Int, id: Int = 4, time: Int, kind: Int = 9, payload: [UInt8], stream: Int = 1,
      repeatsExtended: Bool = true
    ) {
      head(type, id)
      let isExtended = time >= 0xFFFFFF
      if type < 3 { number(min(time, 0xFFFFFF), 3) }
      if type < 2 {
        number(payload.count, 3)
        number(kind, 1)
      }
      if type == 0 { bytes += [UInt8(stream), 0, 0, 0] }
      if isExtended && type < 3 { number(time, 4) }
      var rest = payload[...]
      while true {
        bytes += rest.prefix(chunkSize)
        rest = rest.dropFirst(chunkSize)
        if rest.isEmpty { return }
        head(3, id)
        if isExtended && repeatsExtended { number(time, 4) }
      }
    }
  }

  static func messages(_ bytes: [UInt8], by step: Int) throws -> [RTMPMessage] {
    var reader = ChunkReader()
    var messages: [RTMPMessage] = []
    for start in stride(from: 0, to: bytes.count, by: step) {
      reader.append(bytes[start..<min(start + step, bytes.count)])
      while let message = try reader.next() { messages.append(message) }
    }
    #expect(reader.unread == 0)
    return messages
  }

  private static func payload(_ count: Int, _ seed: Int = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) }
  }

  @Test(
    "The four header types: timestamps add up, other fields are inherited",
    arguments: [1, 7, 128, 4096])
  func types(step: Int) throws {
    var peer = Peer()
    peer.send(0, time: 1000, payload: Self.payload(300))
    peer.send(1, time: 40, payload: Self.payload(10, 1))
    peer.send(2, time: 33, payload: Self.payload(10, 2))
    peer.send(3, time: 0, payload: Self.payload(10, 3))
    let messages = try Self.messages(peer.bytes, by: step)
    #expect(messages.map(\.timestamp) == [1000, 1040, 1073, 1106])
    #expect(messages.map(\.payload.count) == [300, 10, 10, 10])
    #expect(messages[0].payload == Self.payload(300) && messages[3].payload == Self.payload(10, 3))
    #expect(messages.allSatisfy { $0.stream == 1 && $0.kind == .video })
  }

  @Test(
    "An extended timestamp in every chunk or only in the first one",
    arguments: [true, false])
  func extended(repeats: Bool) throws {
    var peer = Peer()
    // The four bytes of the timestamp must not look like the payload.
    peer.send(0, time: 0xF123_4567, payload: Self.payload(700), repeatsExtended: repeats)
    peer.send(0, time: 5, payload: Self.payload(4))
    let messages = try Self.messages(peer.bytes, by: 100)
    #expect(messages.map(\.timestamp) == [0xF123_4567, 5])
    #expect(messages[0].payload == Self.payload(700))
  }

  @Test("Timestamps may wrap", arguments: [0xFFFF_FFF0])
  func wrap(start: Int) throws {
    var peer = Peer()
    peer.send(0, time: start, payload: [1])
    peer.send(1, time: 40, payload: [2])
    #expect(try Self.messages(peer.bytes, by: 3).map(\.timestamp) == [0xFFFF_FFF0, 24])
  }

  @Test("Chunk stream IDs of one, two and three bytes", arguments: [3, 63, 64, 319, 320, 65_000])
  func ids(id: Int) throws {
    var peer = Peer()
    peer.send(0, id: id, time: 1, payload: Self.payload(200))
    peer.send(1, id: id, time: 1, payload: [9])
    let messages = try Self.messages(peer.bytes, by: 1)
    #expect(messages.map(\.payload.count) == [200, 1])
  }

  @Test("Audio between the chunks of a video message")
  func interleaved() throws {
    var video = Peer()
    video.send(0, id: 6, time: 10, payload: Self.payload(300))
    var audio = Peer()
    audio.send(0, id: 4, time: 12, kind: 8, payload: Self.payload(20, 7))
    // The first video chunk has a header of 12 bytes and a payload of 128.
    let bytes = video.bytes[..<140] + audio.bytes + video.bytes[140...]
    let messages = try Self.messages(Array(bytes), by: 11)
    #expect(messages.map(\.kind) == [.audio, .video])
    #expect(messages[1].payload == Self.payload(300))
  }

  @Test("A new chunk size applies from the next chunk on; an abort drops an incomplete message")
  func control() throws {
    var peer = Peer()
    peer.send(0, id: 2, time: 0, kind: 1, payload: [0, 0, 4, 0], stream: 0)
    peer.chunkSize = 1024
    peer.send(0, time: 0, payload: Self.payload(1000))
    var cut = Peer(chunkSize: 1024)
    cut.send(0, time: 0, payload: Self.payload(2000))
    peer.bytes += cut.bytes[..<(12 + 1024)]
    peer.send(0, id: 2, time: 0, kind: 2, payload: [0, 0, 0, 4], stream: 0)
    peer.send(0, time: 7, payload: [1, 2, 3])
    let messages = try Self.messages(peer.bytes, by: 50)
    #expect(messages.map(\.payload.count) == [4, 1000, 4, 3])
  }

  @Test("Large messages, many chunk streams and invalid chunks are rejected")
  func limits() throws {
    var large = Peer()
    large.send(0, time: 0, payload: Self.payload(100))
    var reader = ChunkReader(limits: .init(message: 64))
    reader.append(large.bytes)
    #expect(throws: RTMPError.self) { _ = try reader.next() }

    var many = Peer()
    for id in 3..<80 { many.send(0, id: id, time: 0, payload: [1]) }
    #expect(throws: RTMPError.self) { _ = try Self.messages(many.bytes, by: 5) }

    for bytes: [UInt8] in [[0xC3], [2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0]] {
      var reader = ChunkReader()
      reader.append(bytes)
      #expect(throws: RTMPError.self) { _ = try reader.next() }
    }
  }

  @Test("Written chunks are read unchanged", arguments: [0, 1, 128, 129, 5000])
  func roundTrip(count: Int) throws {
    var writer = ChunkWriter()
    let sent = [
      RTMPMessage(.command, timestamp: 3, stream: 1, payload: Self.payload(count)),
      RTMPMessage(.setChunkSize, payload: [0, 0, 16, 0]),
      RTMPMessage(.command, timestamp: 0x0100_0000, stream: 2, payload: Self.payload(count, 5)),
    ]
    var bytes: [UInt8] = []
    for message in sent { bytes += writer.bytes(of: message, on: 3) }
    #expect(try Self.messages(bytes, by: 77) == sent)
  }

  @Test("Damaged bytes end in an error or in no message, never in a crash", arguments: 0..<40)
  func garbage(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    var peer = Peer()
    for index in 0..<30 {
      peer.send(index % 4 == 0 ? 0 : 1, time: index, payload: Self.payload(index * 17))
    }
    for _ in 0..<20 {
      peer.bytes[Int.random(in: peer.bytes.indices, using: &random)] = UInt8.random(
        in: 0...255, using: &random)
    }
    var reader = ChunkReader()
    reader.append(peer.bytes)
    var messages = 0
    while let message = try? reader.next(), messages < 10_000 {
      _ = AMFValue.values(in: message.payload)
      messages += 1
    }
    #expect(messages < 10_000)
  }
}
