import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightSignals

@Suite("Orientation in FLV's onMetaData")
struct FLVOrientationTests {
  typealias Value = FLVOrientation.Value

  @Test("Numbers, text and names; orientation before rotation")
  func values() {
    let table: [(Value?, Value?, ImageOrientation?)] = [
      (.number(6), nil, .right), (.number(1), nil, .up), (.number(7), nil, .rightMirrored),
      (.text("8"), nil, .left), (.text("leftMirrored"), nil, .leftMirrored),
      (.text("RIGHT"), nil, .right), (.number(90), nil, .right), (.number(0), nil, .up),
      (.number(270), nil, .left), (.number(-90), nil, .left), (.text("180"), nil, .down),
      (nil, .number(90), .right), (nil, .text("270"), .left), (nil, .number(450), .right),
      (nil, .number(-90), .left), (nil, .number(0), .up),
      (.number(3), .number(90), .down), (.text("sideways"), .number(90), .right),
      (.number(9), nil, nil), (.number(1.5), nil, nil), (.text(""), nil, nil),
      (.text("portrait"), nil, nil), (.other, nil, nil), (.number(.nan), .number(.infinity), nil),
      (nil, .text("quarter"), nil), (nil, .number(1e300), nil), (.number(-3690), nil, nil),
      (nil, nil, nil),
    ]
    for (orientation, rotation, expected) in table {
      let said = FLVOrientation(orientation: orientation, rotation: rotation)
      #expect(said.turn?.orientation == expected, "\(said)")
    }
    #expect(FLVOrientation(orientation: nil, rotation: .number(80)).turn?.clockwiseDegrees == 80)
  }

  @Test("Invalid members are listed")
  func senseless() {
    let said = FLVOrientation(orientation: .text("sideways"), rotation: .other)
    #expect(
      said.senseless == ["orientation \"sideways\"", "rotation that is neither a number nor text"])
    #expect(FLVOrientation(orientation: .number(6), rotation: .text("90")).senseless.isEmpty)
    let long = FLVOrientation(orientation: .text(String(repeating: "x", count: 500)), rotation: nil)
    #expect((long.senseless.first?.count ?? 0) < 80)
  }

  private static let whole = FLVPatch.body([
    ("width", .number(64)), ("orientation", .text("left")), ("stereo", .flag(true)),
    ("rotation", .number(180)),
  ])

  @Test("A script tag's body, with other members and in other wrappings")
  func script() {
    let expected = FLVOrientation(orientation: .text("left"), rotation: .number(180))
    #expect(FLVOrientation(script: Self.whole) == expected)
    #expect(
      FLVOrientation(script: [2, 0, 13] + Array("@setDataFrame".utf8) + Self.whole) == expected)
    // An object, with members of every type before the orientation.
    let members: [[UInt8]] = [
      [3, 0, 1, 65, 5, 0, 0, 9], [5], [6], [7, 0, 1], [8, 0, 0, 0, 1, 0, 1, 66, 1, 1, 0, 0, 9],
      [10, 0, 0, 0, 2, 5, 1, 0], [11] + [UInt8](repeating: 0, count: 10), [12, 0, 0, 0, 1, 67],
    ]
    var object: [UInt8] = [2, 0, 10] + Array("onMetaData".utf8) + [3]
    for member in members { object += [0, 1, 107] + member }
    object += [0, 11] + Array("orientation".utf8)
    object += [2, 0, 1, 54, 0, 0, 9]
    #expect(FLVOrientation(script: object)?.turn?.orientation == .right)
    #expect(
      FLVOrientation(script: [2, 0, 10] + Array("onTextData".utf8) + [8, 0, 0, 0, 0]) == nil)
  }

  @Test("Truncated, deeply nested or random data: no trap and no wrong value")
  func hostile() {
    for count in Self.whole.indices {
      let said = FLVOrientation(script: Array(Self.whole.prefix(count)))
      #expect(said?.orientation == nil || said?.orientation == .text("left"))
    }
    let head = [2, 0, 10] + Array("onMetaData".utf8) + [3]
    let deep =
      head + [UInt8]([[0, 1, 65, 3]].joined())
      + Array(repeating: [0, 1, 65, 3], count: 5000).joined()
    #expect(FLVOrientation(script: deep)?.isEmpty == true)
    let many = head + [0, 1, 65, 10, 0xFF, 0xFF, 0xFF, 0xFF]
    #expect(FLVOrientation(script: many)?.isEmpty == true)
    var random = SeededGenerator()
    print("FLVOrientationTests.hostile: UPRIGHT_SEED=\(random.seed)")
    for _ in 0..<3000 {
      var bytes = Self.whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
      }
      _ = FLVOrientation(script: bytes)?.turn
      _ = FLVOpening([0x46, 0x4C, 0x56, 1, 1, 0, 0, 0, 9, 0, 0, 0, 0] + bytes)
    }
  }

  private static func tag(_ type: UInt8, _ body: [UInt8], time: Int = 0) -> [UInt8] {
    [type] + MovieWriter.be(body.count, 3) + MovieWriter.be(time, 3) + [0, 0, 0, 0] + body
      + MovieWriter.be(body.count + 11, 4)
  }

  @Test("The start of a file: the first tag, and later tags with the time 0")
  func opening() {
    let header: [UInt8] = [0x46, 0x4C, 0x56, 1, 1, 0, 0, 0, 9, 0, 0, 0, 0]
    func script(_ value: Double) -> [UInt8] { FLVPatch.body([("orientation", .number(value))]) }
    let sequence = Self.tag(9, [0x17, 0, 0, 0, 0]), picture = Self.tag(9, [0x17, 1, 0, 0, 0])
    let file =
      header + Self.tag(18, script(6)) + sequence + picture + Self.tag(18, script(8))
      + Self.tag(18, script(3), time: 40) + picture + Self.tag(18, script(1))
    let opening = FLVOpening(file)
    #expect(opening?.first.turn?.orientation == .right)
    #expect(opening?.later.map(\.frames) == [1, 2])
    #expect(opening?.later.map { $0.said.turn?.orientation } == [.left, .up])
    #expect(FLVOpening(header + Self.tag(18, script(6)) + sequence) == nil)
    for count in file.indices { _ = FLVOpening(Array(file.prefix(count))) }
    // Enhanced RTMP: the start of a sequence is no frame, coded frames are, with and without a composition time.
    let code = Array("hvc1".utf8)
    let start = Self.tag(9, [0x90] + code)
    let enhanced =
      header + Self.tag(18, script(6)) + start + Self.tag(9, [0x91] + code + [0, 0, 0, 1])
    let later = Self.tag(9, [0xA3] + code + [1]) + Self.tag(18, script(8)) + Self.tag(9, [0xD0])
    #expect(FLVOpening(header + Self.tag(18, script(6)) + start) == nil)
    #expect(FLVOpening(enhanced + later)?.later.map(\.frames) == [2])
  }
}
