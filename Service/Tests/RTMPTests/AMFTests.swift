import Testing
import UprightServiceTestSupport

@testable import UprightRTMP

@Suite("AMF 0")
struct AMFTests {
  private static let values: [AMFValue] = [
    .number(3.5), .boolean(true), .string("live"), .string(String(repeating: "x", count: 70_000)),
    .object([.init("app", .string("live")), .init("nested", .object([.init("a", .null)]))]),
    .null, .undefined, .array([.number(1), .string("b")]), .date(1_700_000_000_000),
  ]

  @Test("Encoded values are decoded unchanged") func roundTrip() {
    #expect(AMFValue.values(in: AMFValue.bytes(of: Self.values)) == Self.values)
  }

  @Test("An ECMA array is decoded as an object, whatever its count")
  func array() {
    let object = AMFValue.bytes(of: [.object([.init("width", .number(640))])])
    let bytes = [8, 0xFF, 0xFF, 0xFF, 0xFF] + object.dropFirst()
    #expect(AMFValue.values(in: bytes)?.first?["width"]?.number == 640)
  }

  @Test("Truncated values are rejected") func cut() {
    let bytes = AMFValue.bytes(of: [Self.values[4]])
    for length in 1..<bytes.count { #expect(AMFValue.values(in: bytes[..<length]) == nil) }
  }

  @Test("Nesting and counts are bounded") func bounds() {
    var deep: [UInt8] = []
    for _ in 0..<100_000 { deep += [10, 0, 0, 0, 1] }
    #expect(AMFValue.values(in: deep) == nil)
    #expect(AMFValue.values(in: [10, 0xFF, 0xFF, 0xFF, 0xFF, 5]) == nil)
  }
}
