import Testing

@testable import UprightSignals

/// `CODECS` from parameter sets, sequence headers and descriptors.
struct CodecNameTests {
  @Test(
    "H.264: profile, constraints and level",
    arguments: [
      ([0x64, 0x00, 0x28] as [UInt8], "avc1.640028"), ([0x42, 0xC0, 0x1E], "avc1.42c01e"),
      ([0x4D, 0x40, 0x0B], "avc1.4d400b"), ([0x6E, 0x10, 0x33], "avc1.6e1033"),
    ])
  func avc(_ numbers: [UInt8], _ name: String) {
    let unit: [UInt8] = [0x67] + numbers + [0xAC, 0xD9]
    #expect(CodecName.name([0, 0, 0, 1] + unit, codec: .h264) == name)
    let box: [UInt8] =
      [1] + numbers + [0xFF, 0xE1, 0, UInt8(unit.count)] + unit + [1, 0, 2, 0x68, 0xEB]
    #expect(CodecName.name(box, codec: .h264) == name)
  }

  @Test(
    "HEVC: profile, compatibility, tier, level and constraints",
    arguments: [
      ([0x01, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 0x5D] as [UInt8], "hvc1.1.6.L93.90"),
      ([0x22, 0x20, 0, 0, 0, 0xB0, 0, 0, 0, 0, 0, 0x7B], "hvc1.2.4.H123.b0"),
      ([0x42, 0x20, 0, 0, 0, 0, 0x23, 0, 0, 0, 0, 0x99], "hvc1.A2.4.L153.0.23"),
      ([0x04, 0x08, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x3C], "hvc1.4.80000010.L60"),
    ])
  func hevc(_ profile: [UInt8], _ name: String) {
    let unit: [UInt8] = [0x42, 0x01] + EmulationPrevention.escaped([0x01] + profile + [0xA0])
    #expect(CodecName.name([0, 0, 0, 1] + unit, codec: .hevc) == name)
  }

  @Test(
    "AV1: profile, level, tier and depth",
    arguments: [
      ([0x81, 0x05, 0x0C, 0x00] as [UInt8], 8, "av01.0.05M.08"),
      ([0x81, 0x2D, 0x8C, 0x00], 10, "av01.1.13H.10"),
      ([0x12, 0x00, 0x0A, 0x04, 0, 0, 0, 0x44], 10, "av01.0.08H.10"),
      ([0x0A, 0x02, 0x09, 0x00], 8, "av01.0.04M.08"),
    ])
  func av1(_ bytes: [UInt8], _ depth: Int, _ name: String) {
    #expect(CodecName.av1(bytes, depth: depth) == name)
  }

  @Test("AAC by its object type")
  func aac() {
    #expect(CodecName.aac([0x11, 0x90]) == "mp4a.40.2")
    #expect(CodecName.aac([0x2B, 0x92]) == "mp4a.40.5")
    // The escape value: 31, then 6 bits.
    #expect(CodecName.aac([0xF9, 0x40]) == "mp4a.40.42")
    #expect(CodecName.aac([]) == "mp4a.40.2")
  }

  @Test("Nothing, noise and truncated sets have no name")
  func broken() {
    for bytes: [UInt8] in [
      [], [0], [0, 0, 1], [0, 0, 1, 0x67], [0, 0, 1, 0x67, 0x64], [1, 2, 3],
    ] {
      #expect(CodecName.name(bytes, codec: .h264) == nil)
      #expect(CodecName.name(bytes, codec: .hevc) == nil)
      #expect(CodecName.av1(bytes, depth: 8) == nil)
    }
    #expect(CodecName.av1([0x0A, 0x09, 0x00], depth: 8) == nil)
  }
}
