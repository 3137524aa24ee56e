import Testing

@testable import UprightSignals

@Suite("RTCP")
struct ControlPacketTests {
  private static let report: [UInt8] =
    [0x80, 200, 0, 6, 1, 2, 3, 4, 0xE0, 0, 0, 1, 0x80, 0, 0, 0, 0, 0, 0x10, 0]
    + Array(repeating: 0, count: 8)
  private static let goodbye: [UInt8] = [0x81, 203, 0, 1, 1, 2, 3, 4]

  @Test("Sender reports and BYE of a compound packet")
  func parse() {
    let description: [UInt8] = [0x81, 202, 0, 2, 1, 2, 3, 4, 1, 0, 0, 0]
    #expect(
      ControlPacket.parse(Self.report + description + Self.goodbye) == [
        .senderReport(ssrc: 0x0102_0304, time: 0xE000_0001_8000_0000, timestamp: 0x1000),
        .goodbye(ssrcs: [0x0102_0304]),
      ])
  }

  @Test("Truncated and damaged packets end the compound packet")
  func damaged() {
    for count in 0..<Self.report.count {
      #expect(ControlPacket.parse(Array(Self.report.prefix(count))).isEmpty)
    }
    #expect(ControlPacket.parse([0x9F, 203, 0, 1, 1, 2, 3, 4]).isEmpty, "31 sources, one there")
    #expect(ControlPacket.parse([0x80, 200, 0, 0] + Self.report).count == 1, "an empty report")
    #expect(ControlPacket.parse([0x40, 200, 0, 6] + Self.report).isEmpty)
    #expect(ControlPacket.parse(Self.report + [0x80, 203, 255, 255]).count == 1)
  }

  @Test("A request for a keyframe")
  func request() {
    #expect(
      ControlPacket.pictureLossIndication(of: 0x0102_0304, from: 0x0A0B_0C0D)
        == [0x80, 201, 0, 1, 10, 11, 12, 13, 0x81, 206, 0, 2, 10, 11, 12, 13, 1, 2, 3, 4])
  }
}
