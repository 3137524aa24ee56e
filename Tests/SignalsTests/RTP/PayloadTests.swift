import Foundation
import Testing
import UprightTestSupport

@testable import UprightSignals

@Suite("Payload formats")
struct PayloadTests {
  static func payloads(_ texts: [String], gaps: Set<Int> = []) -> FramePayloads {
    var payloads = FramePayloads()
    payloads.payloads = texts.map { hex($0)[...] }
    payloads.gaps = gaps
    return payloads
  }

  struct Row: CustomTestStringConvertible {
    let testDescription: String
    let payloads: [String]
    var gaps: Set<Int> = []
    let bytes: String
    var isKey = false
    var isIncomplete = false
    var isStartThere = true
    var malformed = 0
  }

  static func check(_ row: Row, _ frame: DepacketizedFrame) {
    #expect(frame.bytes == hex(row.bytes))
    if !row.bytes.isEmpty { #expect(frame.isKey == row.isKey) }
    #expect(frame.isIncomplete == row.isIncomplete)
    #expect(frame.isStartThere == row.isStartThere)
    #expect(frame.malformed == row.malformed)
  }

  // MARK: - H.264

  static let h264Rows = [
    Row(
      testDescription: "single units", payloads: ["67 01", "68 02", "65 88 03"],
      bytes: "00000001 6701 00000001 6802 00000001 658803", isKey: true),
    Row(testDescription: "a slice that is not an IDR", payloads: ["41 9a"], bytes: "00000001 419a"),
    Row(
      testDescription: "STAP-A", payloads: ["78 0002 6701 0002 6802", "65 88"],
      bytes: "00000001 6701 00000001 6802 00000001 6588", isKey: true),
    Row(
      testDescription: "truncated STAP-A", payloads: ["78 0002 6701 0003 6802"],
      bytes: "00000001 6701", malformed: 1),
    Row(
      testDescription: "STAP-A with an empty unit", payloads: ["78 0000 0002 6701"], bytes: "",
      isStartThere: false, malformed: 1),
    Row(
      testDescription: "FU-A", payloads: ["7c 85 88aa", "7c 05 bb", "7c 45 cc"],
      bytes: "00000001 65 88aabbcc", isKey: true),
    Row(
      testDescription: "FU-A in two units",
      payloads: ["5c 81 9a", "5c 41 bb", "5c 81 1a", "5c 41 cc"],
      bytes: "00000001 41 9abb 00000001 41 1acc"),
    Row(
      testDescription: "FU-A without its middle", payloads: ["7c 85 88aa", "7c 45 cc"], gaps: [1],
      bytes: "00000001 65 88aa", isKey: true, isIncomplete: true),
    Row(
      testDescription: "FU-A without its start", payloads: ["7c 05 bb", "7c 45 cc"], gaps: [0],
      bytes: "", isIncomplete: true, isStartThere: false),
    Row(
      testDescription: "FU-A without its end", payloads: ["7c 85 88aa", "7c 05 bb"],
      bytes: "00000001 65 88aabb", isKey: true, isIncomplete: true),
    Row(
      testDescription: "FU-A interrupted by another unit", payloads: ["7c 85 88aa", "41 1b"],
      bytes: "00000001 6588aa 00000001 411b", isKey: true, isIncomplete: true),
    Row(
      testDescription: "FU-A of one byte", payloads: ["7c"], bytes: "", isStartThere: false,
      malformed: 1),
    Row(
      testDescription: "the second slice of a picture", payloads: ["41 4a"],
      bytes: "00000001 414a", isStartThere: false),
    Row(
      testDescription: "STAP-B, MTAP and FU-B are rejected",
      payloads: ["79 0000 0002 6701", "7a 00", "7b 00", "7d 85 0000 88", "7e", "7f 00", "60 01"],
      bytes: "", isStartThere: false, malformed: 7),
    Row(
      testDescription: "delimiter and SEI", payloads: ["09 10", "06 05 00", "41 9a"],
      bytes: "00000001 0910 00000001 060500 00000001 419a"),
  ]

  @Test("H.264 (RFC 6184)", arguments: h264Rows)
  func h264(_ row: Row) {
    Self.check(row, H264Payload.frame(Self.payloads(row.payloads, gaps: row.gaps)))
  }

  // MARK: - VP8

  static let vp8Rows = [
    Row(testDescription: "shortest descriptor", payloads: ["10 9000"], bytes: "9000", isKey: true),
    Row(testDescription: "inter", payloads: ["10 9100", "00 aa"], bytes: "9100aa"),
    Row(
      testDescription: "PictureID of 7 bits", payloads: ["90 80 11 9000"], bytes: "9000",
      isKey: true),
    Row(
      testDescription: "PictureID of 15 bits", payloads: ["90 80 9111 9000"], bytes: "9000",
      isKey: true),
    Row(
      testDescription: "all fields", payloads: ["90 f0 9111 22 e5 9000", "80 f0 9111 22 e5 aa"],
      bytes: "9000aa", isKey: true),
    Row(testDescription: "TID alone", payloads: ["90 20 40 9100"], bytes: "9100"),
    Row(testDescription: "KEYIDX alone", payloads: ["90 10 1f 9100"], bytes: "9100"),
    Row(
      testDescription: "partitions", payloads: ["10 9000", "11 aa", "12 bb"],
      bytes: "9000aabb", isKey: true),
    Row(
      testDescription: "the beginning is lost", payloads: ["00 aa", "00 bb"], gaps: [0], bytes: "",
      isStartThere: false),
    Row(
      testDescription: "the middle is lost", payloads: ["10 9000", "00 bb"], gaps: [1],
      bytes: "9000", isKey: true),
    Row(
      testDescription: "descriptors cut off",
      payloads: ["90", "90 80", "90 80 91", "90 40", "90 20", "90 f0 9111 22"], bytes: "",
      malformed: 6),
  ]

  @Test("VP8 (RFC 7741)", arguments: vp8Rows)
  func vp8(_ row: Row) {
    Self.check(row, VP8Payload.frame(Self.payloads(row.payloads, gaps: row.gaps)))
  }

  // MARK: - VP9

  static let vp9Rows = [
    Row(testDescription: "key", payloads: ["0c 8249"], bytes: "8249", isKey: true),
    Row(testDescription: "inter", payloads: ["4c 8649"], bytes: "8649"),
    Row(testDescription: "intra-only is not a keyframe", payloads: ["0c 8649"], bytes: "8649"),
    Row(testDescription: "profile 3, key", payloads: ["0c b149"], bytes: "b149", isKey: true),
    Row(
      testDescription: "PictureID of 7 and of 15 bits", payloads: ["88 11 82", "84 9111 49"],
      bytes: "8249", isKey: true),
    Row(
      testDescription: "layer indices, not flexible", payloads: ["ac 11 00 07 8249"],
      bytes: "8249", isKey: true),
    Row(
      testDescription: "layer indices, flexible", payloads: ["bc 11 00 8249"], bytes: "8249",
      isKey: true),
    Row(testDescription: "three references", payloads: ["dc 11 03 05 06 8649"], bytes: "8649"),
    Row(
      testDescription: "a fourth reference", payloads: ["dc 11 03 05 07 06 8649"], bytes: "",
      malformed: 1),
    Row(
      testDescription: "scalability structure",
      payloads: ["8e 11 38 0140 00b4 0280 0168 02 04 01 08 0102 8249"], bytes: "8249", isKey: true),
    Row(
      testDescription: "two layers become a superframe",
      payloads: ["a8 11 00 00 82", "a4 11 00 00 49", "ac 11 03 00 86aa"],
      bytes: "8249 86aa d9 02000000 02000000 d9", isKey: true),
    Row(
      testDescription: "the base layer is lost", payloads: ["ac 11 03 00 86aa"], gaps: [0],
      bytes: "", isStartThere: false),
    Row(
      testDescription: "the beginning is lost", payloads: ["44 aa"], gaps: [0], bytes: "",
      isStartThere: false),
    Row(
      testDescription: "the middle is lost", payloads: ["08 82", "00 49", "04 aa"], gaps: [1],
      bytes: "82", isKey: true, isIncomplete: true),
    Row(
      testDescription: "the end is lost", payloads: ["08 82"], bytes: "82", isKey: true,
      isIncomplete: true),
    Row(
      testDescription: "descriptors cut off",
      payloads: [
        "88", "88 91", "28", "28 00", "58", "58 01", "0a", "0a 18", "0a 18 00", "0a 08",
        "0a 08 01", "0a 08 01 08 01",
      ], bytes: "", malformed: 12),
  ]

  @Test("VP9 (RFC 9628)", arguments: vp9Rows)
  func vp9(_ row: Row) {
    Self.check(row, VP9Payload.frame(Self.payloads(row.payloads, gaps: row.gaps)))
  }

  // MARK: - Audio

  @Test("Opus: the duration of a packet (RFC 6716, 3.1)")
  func opus() {
    let rows: [(String, Int?)] = [
      ("08", 960), ("00", 480), ("10", 1920), ("18", 2880), ("60", 480), ("68", 960), ("80", 120),
      ("f8", 960), ("fc", 960), ("f9", 1920), ("fa", 1920), ("fb 03", 2880), ("fb 86", 5760),
      ("fb 07", nil), ("fb 00", nil), ("fb", nil), ("", nil), ("1b 03", nil), ("1b 02", 5760),
    ]
    for (text, samples) in rows { #expect(OpusPacket.duration(hex(text)) == samples, "\(text)") }
    #expect(OpusPacket.identification.count == 19)
  }

  @Test("RED: the primary block after the copies (RFC 2198)")
  func redundancy() {
    let rows: [(String, String?)] = [
      ("6f aabb", "aabb"), ("ef 0f0002 6f 0102 aabb", "aabb"),
      ("ef 0f0001 ef 0f0002 6f 01 0202 aa", "aa"), ("6f", ""), ("ef 0f0002 6f 0102", ""),
      ("ef 0f0002 6f 01", nil), ("ef 0f00", nil), ("ef 0f0002", nil), ("", nil),
    ]
    for (text, primary) in rows {
      #expect(
        RedundantPayload.primary(hex(text)[...]).map(Array.init) == primary.map(hex), "\(text)")
    }
  }

  @Test("Random payloads are never read past their end")
  func random() {
    var random = SeededGenerator()
    for _ in 0..<2000 {
      var frame = FramePayloads()
      for index in 0..<Int.random(in: 1...6, using: &random) {
        // Use slices whose indices don't start at 0.
        let bytes = (0..<Int.random(in: 3...40, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
        frame.payloads.append(bytes[Int.random(in: 0...3, using: &random)...])
        if Int.random(in: 0...3, using: &random) == 0 { frame.gaps.insert(index) }
      }
      let size = frame.payloads.map(\.count).reduce(0, +)
      for made in [H264Payload.frame(frame), VP8Payload.frame(frame), VP9Payload.frame(frame)] {
        #expect(made.bytes.count <= size * 5 + 64, "seed \(random.seed)")
      }
      _ = RedundantPayload.primary(frame.payloads[0])
    }
  }
}
