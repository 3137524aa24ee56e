import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightSignals

/// Returns the bytes of hexadecimal digits, which may be separated by spaces.
func hex(_ text: String) -> [UInt8] {
  let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
  return stride(from: 0, to: digits.count - 1, by: 2).map {
    UInt8(digits[$0] << 4 | digits[$0 + 1])
  }
}

@Suite("RTP packets and header extensions")
struct PacketTests {
  @Test(
    "Test vectors of libwebrtc, mediasoup and aiortc")
  func vectors() throws {
    for entry in try Fixtures.vectors("rtp_header_extensions")["cases"].array {
      let name = entry["id"].string ?? ""
      var bytes = hex(try #require(entry["hex"].string))
      // This vector is truncated to 240 bytes, before its padding count.
      if name == "mediasoup_packet2" { bytes[0] &= 0xDF }
      let expect = entry["expect"]
      guard expect["error"].string == nil else {
        #expect(RTPPacket(bytes) == nil, "\(name)")
        continue
      }
      let packet = try #require(RTPPacket(bytes), "\(name)")
      #expect(Int(packet.payloadType) == expect["payload_type"].int, "\(name)")
      #expect(Int(packet.sequence) == expect["seq"].int, "\(name)")
      #expect(Int(packet.timestamp) == expect["timestamp"].int, "\(name)")
      #expect(Int(packet.ssrc) == expect["ssrc"].int, "\(name)")
      if let marker = expect["marker"].int { #expect(packet.hasMarker == (marker == 1), "\(name)") }
      if let size = expect["payload_len"].int { #expect(packet.payload.count == size, "\(name)") }
      let wanted = expect["reparsed_ext"].object.isEmpty ? expect["ext"] : expect["reparsed_ext"]
      var found: [String: [UInt8]] = [:]
      for element in packet.extensions.elements where !element.value.isEmpty {
        found["\(element.id)"] = Array(element.value)
      }
      #expect(found == wanted.object.mapValues { hex($0.string ?? "") }, "\(name)")
    }
  }

  struct Row: CustomTestStringConvertible {
    let testDescription: String
    let hex: String
    /// `nil` if the packet is invalid.
    let payload: String?
    var contributors: [UInt32] = []
  }

  static let rows = [
    Row(testDescription: "shortest", hex: "80600001 00000002 00000003", payload: ""),
    Row(testDescription: "version 1", hex: "40600001 00000002 00000003 aa", payload: nil),
    Row(testDescription: "version 3", hex: "c0600001 00000002 00000003 aa", payload: nil),
    Row(
      testDescription: "contributors", hex: "82600001 00000002 00000003 00000007 00000008 aabb",
      payload: "aabb", contributors: [7, 8]),
    Row(
      testDescription: "truncated contributors", hex: "82600001 00000002 00000003 00000007 0000",
      payload: nil),
    Row(testDescription: "padding", hex: "a0600001 00000002 00000003 aa000002", payload: "aa00"),
    Row(
      testDescription: "padding longer than the payload", hex: "a0600001 00000002 00000003 03",
      payload: nil),
    Row(testDescription: "only padding", hex: "a0600001 00000002 00000003 000003", payload: ""),
    Row(testDescription: "padding of 0", hex: "a0600001 00000002 00000003 aa00", payload: nil),
    Row(testDescription: "padding without a byte", hex: "a0600001 00000002 00000003", payload: nil),
    Row(
      testDescription: "extension of another profile",
      hex: "90600001 00000002 00000003 abcd0001 40010203 aa", payload: "aa"),
    Row(
      testDescription: "extension longer than the packet",
      hex: "90600001 00000002 00000003 bede0002 40010203", payload: nil),
    Row(
      testDescription: "extension without its length", hex: "90600001 00000002 00000003 bede",
      payload: nil),
    Row(
      testDescription: "extension of no words", hex: "90600001 00000002 00000003 bede0000 aa",
      payload: "aa"),
  ]

  @Test("Headers", arguments: rows)
  func header(_ row: Row) {
    let packet = RTPPacket(hex(row.hex))
    #expect(packet.map { Array($0.payload) } == row.payload.map(hex))
    if let packet {
      #expect(packet.contributors == row.contributors)
      #expect(packet.sequence == 1 && packet.timestamp == 2 && packet.ssrc == 3)
    }
  }

  @Test("RTCP on the same port is recognised")
  func control() {
    #expect(RTPPacket.isControl(hex("80c80006")))
    #expect(RTPPacket.isControl(hex("81c9")))
    #expect(!RTPPacket.isControl(hex("80600001")))
    #expect(!RTPPacket.isControl(hex("80e00001")))
    #expect(!RTPPacket.isControl([0x80]))
    #expect(!RTPPacket.isControl([]))
  }

  struct ExtensionRow: CustomTestStringConvertible {
    let testDescription: String
    let profile: UInt16
    let hex: String
    let elements: [UInt8: String]
  }

  static let extensionRows = [
    ExtensionRow(testDescription: "one byte", profile: 0xBEDE, hex: "40 01", elements: [4: "01"]),
    ExtensionRow(
      testDescription: "padding between", profile: 0xBEDE, hex: "00 00 40 01 00 51 aabb 00",
      elements: [4: "01", 5: "aabb"]),
    ExtensionRow(
      testDescription: "16 bytes", profile: 0xBEDE,
      hex: "4f 000102030405060708090a0b0c0d0e0f",
      elements: [4: "000102030405060708090a0b0c0d0e0f"]),
    ExtensionRow(
      testDescription: "longer than what is left", profile: 0xBEDE, hex: "40 01 53 aabb",
      elements: [4: "01"]),
    ExtensionRow(
      testDescription: "15 ends it", profile: 0xBEDE, hex: "40 01 f0 aa 50 02",
      elements: [4: "01"]),
    ExtensionRow(
      testDescription: "0 with a length ends it", profile: 0xBEDE, hex: "40 01 03 aa 50 02",
      elements: [4: "01"]),
    ExtensionRow(
      testDescription: "two bytes", profile: 0x1000, hex: "04 01 01", elements: [4: "01"]),
    ExtensionRow(
      testDescription: "two bytes, application bits", profile: 0x100F, hex: "0f 01 01 f0 02 aabb",
      elements: [15: "01", 240: "aabb"]),
    ExtensionRow(
      testDescription: "two bytes, empty and padded", profile: 0x1000, hex: "04 00 00 00 05 01 02",
      elements: [4: "", 5: "02"]),
    ExtensionRow(
      testDescription: "two bytes without a length", profile: 0x1000, hex: "05 01 02 04",
      elements: [5: "02"]),
    ExtensionRow(
      testDescription: "two bytes, too long", profile: 0x1000, hex: "05 01 02 04 ff 01",
      elements: [5: "02"]),
    ExtensionRow(
      testDescription: "profile 0x1010", profile: 0x1010, hex: "04 01 01", elements: [:]),
    ExtensionRow(testDescription: "profile 0xBEDF", profile: 0xBEDF, hex: "40 01", elements: [:]),
    ExtensionRow(testDescription: "empty", profile: 0xBEDE, hex: "", elements: [:]),
  ]

  @Test("Extension elements in both forms", arguments: extensionRows)
  func elements(_ row: ExtensionRow) {
    let block = HeaderExtensions(profile: row.profile, hex(row.hex)[...])
    var found: [UInt8: [UInt8]] = [:]
    for element in block.elements { found[element.id] = Array(element.value) }
    #expect(found == row.elements.mapValues(hex))
    for (id, value) in row.elements { #expect(block[id].map(Array.init) == hex(value)) }
    #expect(block[99] == nil)
  }

  @Test("CVO is found by its URI in both forms and granularities; other lengths are ignored")
  func orientation() {
    let uris = [
      4: "urn:3gpp:video-orientation", 20: "URN:3GPP:video-orientation:6", 0: "", 300: "",
    ]
    let cvo = OrientationExtension(uris)
    #expect(cvo.isNegotiated)
    func value(_ profile: UInt16, _ text: String) -> CVO? {
      cvo.value(in: HeaderExtensions(profile: profile, hex(text)[...]))
    }
    for byte in UInt8.min...UInt8.max {
      let digits = String(byte, radix: 16)
      let two = (byte < 16 ? "0" : "") + digits
      #expect(value(0xBEDE, "40 \(two)") == CVO(byte: byte))
      #expect(value(0x1000, "04 01 \(two)") == CVO(byte: byte))
      #expect(value(0x1000, "14 01 \(two)") == CVO(byte: byte, granularity: .sixBits))
    }
    #expect(value(0xBEDE, "41 0101") == nil)
    #expect(value(0x1000, "04 00") == nil)
    #expect(value(0x1000, "04 02 0101") == nil)
    #expect(value(0xBEDE, "50 01") == nil)
    #expect(value(0xBEDE, "") == nil)
    #expect(!OrientationExtension([4: "urn:ietf:params:rtp-hdrext:toffset"]).isNegotiated)
    #expect(OrientationExtension([:]).value(in: HeaderExtensions()) == nil)
  }

  @Test("Truncated packets and random bytes are never read past their end")
  func hostile() {
    let whole = hex(
      "b26412346543127812345678 00000001 00000002 bede0002 400152aabbcc0000 01020304 02")
    for length in 0...whole.count {
      if let packet = RTPPacket(Array(whole.prefix(length))) {
        #expect(packet.payload.count <= length)
        _ = packet.extensions.elements
      }
    }
    var random = SeededGenerator()
    for _ in 0..<3000 {
      var bytes = (0..<Int.random(in: 0...64, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      if !bytes.isEmpty { bytes[0] = bytes[0] & 0x3F | 0x80 }
      // Set the extension's profile at its position in a packet without contributors.
      if bytes.count > 16, Bool.random(using: &random) {
        bytes[0] = 0x90
        (bytes[12], bytes[13]) = Bool.random(using: &random) ? (0xBE, 0xDE) : (0x10, 0x00)
        (bytes[14], bytes[15]) = (0, UInt8.random(in: 0...8, using: &random))
      }
      guard let packet = RTPPacket(bytes) else { continue }
      let total = packet.extensions.elements.map(\.value.count).reduce(0, +)
      #expect(total + packet.payload.count + 12 <= bytes.count, "seed \(random.seed)")
    }
  }
}
