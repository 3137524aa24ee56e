import Foundation
import Testing
import UprightTestSupport

@testable import UprightSignals

@Suite("Janus recording parser")
struct RecordingTests {
  private static func read(_ bytes: some Collection<UInt8>, chunk: Int) -> (
    items: [JanusRecording.Item], skipped: Int, unread: Int
  ) {
    var recording = JanusRecording()
    var items: [JanusRecording.Item] = []
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      recording.append(rest.prefix(chunk))
      rest = rest.dropFirst(chunk)
      while let item = recording.next() { items.append(item) }
    }
    return (items, recording.skipped, recording.unread)
  }

  private static let fixture: JanusFixture = {
    var fixture = JanusFixture("v", "vp8")
    // The second packet contains the marker that packets start with.
    fixture.packets = [
      (0, Array(0..<20)), (33, Array("xMEETx".utf8)), (70_000, []), (4_000_000_000, [1, 2, 3]),
    ]
    return fixture
  }()

  @Test("A recording is read in chunks of any size")
  func whole() {
    let header = JanusRecording.Item.header(.json(Array(Self.fixture.header.utf8)))
    let packets = Self.fixture.packets.map {
      JanusRecording.Item.packet(.init(arrival: Int64($0.ms), bytes: $0.bytes))
    }
    for chunk in [1, 2, 3, 7, 64, 10_000] {
      let read = Self.read(Self.fixture.bytes, chunk: chunk)
      #expect(read.items == [header] + packets)
      #expect(read.skipped == 0 && read.unread == 0)
    }
  }

  @Test("A recording truncated at any byte gives every complete packet")
  func cut() {
    let bytes = [UInt8](Self.fixture.bytes)
    var ends = [10 + Self.fixture.header.utf8.count]
    for packet in Self.fixture.packets {
      ends.append(ends[ends.count - 1] + 10 + packet.bytes.count)
    }
    for length in 0...bytes.count {
      let read = Self.read(bytes.prefix(length), chunk: 4096)
      #expect(read.items.count == ends.filter { $0 <= length }.count, "\(length) bytes")
      #expect(read.unread == length - (ends.last { $0 <= length } ?? 0))
    }
  }

  @Test("Bytes that are not part of a packet are skipped")
  func resync() {
    let bytes = [UInt8](Self.fixture.bytes)
    let first = 10 + Self.fixture.header.utf8.count
    let damaged = bytes[..<first] + [0, 77, 69, 69] + bytes[first...]
    let read = Self.read(damaged, chunk: 5)
    #expect(read.items.count == 5)
    #expect(read.skipped == 4)
  }

  @Test("The older forms are read")
  func older() {
    func big(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
    let packet = Array("MEETECHO".utf8) + big(3) + [7, 8, 9]
    let one = Array("MJR00001".utf8) + big(2) + Array("{}".utf8) + packet + packet
    let item = JanusRecording.Item.packet(.init(arrival: nil, bytes: [7, 8, 9]))
    #expect(Self.read(one, chunk: 6).items == [.header(.json(Array("{}".utf8))), item, item])
    let none = Array("MEETECHO".utf8) + big(5) + Array("video".utf8) + packet
    #expect(Self.read(none, chunk: 6).items == [.header(.word("video")), item])
    #expect(JanusRecording.lastPacket(inTail: one, hasTimes: false)?.bytes == [7, 8, 9])
  }

  @Test("Other files are not recognised")
  func others() {
    for text in ["MJR00003aaaaaaaa", "MJR0000", "ftypisommp42....", "MEETMEETMEET"] {
      #expect(!JanusRecording.recognises(Array(text.utf8)))
    }
    for text in ["MJR00002", "MJR00001", "MEETECHO", "MJR00002{"] {
      #expect(JanusRecording.recognises(Array(text.utf8)))
    }
    #expect(Self.read(Array("MJR00003aaaaaaaa".utf8), chunk: 9).items == [.notARecording])
  }

  @Test("The last packet is found in the last bytes of a truncated file")
  func last() {
    let bytes = [UInt8](Self.fixture.bytes)
    #expect(JanusRecording.lastPacket(inTail: bytes, hasTimes: true)?.arrival == 4_000_000_000)
    let cut = JanusRecording.lastPacket(inTail: Array(bytes.dropLast(2)), hasTimes: true)
    #expect(cut?.arrival == 70_000)
    let tail = JanusRecording.lastPacket(inTail: Array(bytes.suffix(30)), hasTimes: true)
    #expect(tail?.arrival == 4_000_000_000)
    #expect(JanusRecording.lastPacket(inTail: [], hasTimes: true) == nil)
    #expect(JanusRecording.lastPacket(inTail: Array(bytes.prefix(60)), hasTimes: true) == nil)
    for length in 0..<bytes.count {
      _ = JanusRecording.lastPacket(inTail: Array(bytes.prefix(length)), hasTimes: true)
    }
  }

  @Test("Randomly damaged recordings give a bounded number of items")
  func random() {
    var random = SeededGenerator()
    for _ in 0..<50 {
      var bytes = [UInt8](Self.fixture.bytes)
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
      let read = Self.read(bytes, chunk: 13)
      #expect(read.items.count <= 12 && read.unread <= bytes.count, "seed \(random.seed)")
    }
  }
}
