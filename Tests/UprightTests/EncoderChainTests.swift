import Foundation
import Orientation
import Testing
import UprightTestSupport

@testable import UprightEncoding
@testable import UprightMediaIO
@testable import UprightPipeline

/// Formats that change faster than an encoder can be emptied: what comes out is whole, in order, and
/// the same every time.
@Suite struct EncoderChainTests {
  /// What came out of a chain.
  private struct Outcome: Equatable {
    /// The pictures' times in the order of decoding.
    var pts: [Int64] = []
    var dts: [Int64] = []
    var durations: [Int64] = []
    /// Bytes and key flags, in a word each.
    var packets: [String] = []
    /// Packets that had come out before each format's first, and its size.
    var formats: [String] = []
    /// Packets that had come out after each picture went in.
    var after: [Int] = []
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var pictures = 120
    /// Whether picture `index` is landscape.
    let isLandscape: @Sendable (Int) -> Bool
    var isLive = false
    /// How many encoders that takes.
    let formats: Int
  }

  static let cases = [
    Case(testDescription: "no change", isLandscape: { _ in false }, formats: 1),
    Case(testDescription: "every picture", isLandscape: { $0 % 2 == 1 }, formats: 120),
    Case(testDescription: "two in a row", isLandscape: { $0 / 2 % 2 == 1 }, formats: 60),
    Case(
      testDescription: "one picture in between", isLandscape: { [7, 60, 100].contains($0) },
      formats: 7),
    Case(testDescription: "the last picture", isLandscape: { $0 == 119 }, formats: 2),
    Case(testDescription: "the second picture", isLandscape: { $0 > 0 }, formats: 2),
    Case(testDescription: "three long ones", isLandscape: { $0 / 40 == 1 }, formats: 3),
    Case(testDescription: "one picture only", pictures: 1, isLandscape: { _ in true }, formats: 1),
    Case(testDescription: "live", isLandscape: { $0 / 5 % 2 == 1 }, isLive: true, formats: 24),
  ]

  /// Some 33 ms apart, unevenly, in ticks of 1/30000.
  private static func time(_ index: Int) -> Int64 { Int64(index * 1000 + index * 373 % 700) }

  private static func settings(isLive: Bool = false) -> VideoEncoder.Settings {
    VideoEncoder.Settings(
      codec: .h264, size: PixelSize(2, 2), format: .yuv420p, colour: Colour(),
      timeBase: Rational(1, 30000), frameRate: Rational(30, 1), isLive: isLive,
      wantsGlobalHeader: true, repeatsHeaders: true,
      options: isLive ? [:] : ["bf": "3", "b_strategy": "0"])
  }

  private static func picture(_ index: Int, size: PixelSize) throws -> VideoFrame {
    var frame = try FramePool(size: size, format: .yuv420p).frame()
    for component in 0..<3 {
      guard let plane = frame.plane(component) else { continue }
      let height = component == 0 ? size.height : size.height / 2
      memset(plane.start, component == 0 ? Int32(40 + index) : 128, plane.stride * height)
    }
    frame.pts = time(index)
    frame.duration = 777
    return frame
  }

  private static func run(_ test: Case) throws -> Outcome {
    var outcome = Outcome()
    let chain = EncoderChain(settings(isLive: test.isLive), followsColour: true)
    func note(_ packet: consuming Packet, _ format: EncodedFormat?) {
      if let format {
        outcome.formats.append("\(format.index): \(format.size) at \(outcome.pts.count)")
      }
      outcome.pts.append(packet.pts ?? -1)
      outcome.dts.append(packet.dts ?? .max)
      outcome.durations.append(packet.duration)
      outcome.packets.append("\(packet.size) \(packet.isKey)")
    }
    for index in 0..<test.pictures {
      let size = test.isLandscape(index) ? PixelSize(96, 64) : PixelSize(64, 96)
      try chain.encode(picture(index, size: size)) { note($0, $1) }
      outcome.after.append(outcome.pts.count)
    }
    try chain.finish { note($0, $1) }
    #expect(chain.packets == test.pictures)
    #expect(chain.formats == test.formats)
    return outcome
  }

  @Test("every picture comes out once, in its format's place, times rising", arguments: cases)
  func order(_ test: Case) throws {
    let outcome = try Self.run(test)
    #expect(outcome.pts.sorted() == (0..<test.pictures).map(Self.time))
    #expect(outcome.durations.allSatisfy { $0 == 777 })
    #expect(zip(outcome.dts, outcome.dts.dropFirst()).allSatisfy { $0 < $1 })
    #expect(zip(outcome.dts, outcome.pts).allSatisfy { $0 <= $1 })
    // Each format is announced with its first packet, which is a key, has its first picture, and comes
    // when all before it are out.
    var expected: [String] = []
    var last: Bool?
    for index in 0..<test.pictures where test.isLandscape(index) != last {
      last = test.isLandscape(index)
      expected.append("\(expected.count): \(last == true ? "96x64" : "64x96") at \(index)")
      #expect(outcome.packets[index].hasSuffix("true") && outcome.pts[index] == Self.time(index))
    }
    #expect(outcome.formats == expected)
    if test.isLive {
      // A packet out for every picture in, across changes too.
      #expect(outcome.after == Array(1...test.pictures))
    }
  }

  @Test("the same every time, picture by picture", .long, arguments: cases)
  func same(_ test: Case) throws {
    let first = try Self.run(test)
    for _ in 0..<2 { #expect(try Self.run(test) == first) }
  }

  @Test("what waits behind a change is bounded")
  func bounded() throws {
    let test = try #require(Self.cases.first { $0.testDescription == "three long ones" })
    let outcome = try Self.run(test)
    // 32 packets, and what the two encoders hold by themselves: 20 frames of lookahead, and one a thread.
    let inside = outcome.after.enumerated().map { $0 + 1 - $1 }.max() ?? 0
    #expect(inside < 32 + 2 * 40, "\(inside) pictures inside")
  }

  @Test("an error of the output comes through, and leaves no thread behind")
  func error() throws {
    let chain = EncoderChain(Self.settings(), followsColour: true)
    var came = 0
    let error = #expect(throws: MediaError.self) {
      for index in 0..<200 {
        let size = index / 10 % 2 == 1 ? PixelSize(96, 64) : PixelSize(64, 96)
        try chain.encode(Self.picture(index, size: size)) { (_, _) throws(MediaError) in
          came += 1
          if came == 15 { throw MediaError(.inputOutput, "the disk is full") }
        }
      }
    }
    #expect(error?.message == "the disk is full")
    #expect(came == 15)
  }

  @Test("a picture after a change does not wait for the old encoder", .long)
  func wait() throws {
    // A figure for people to read; whether a machine is quick is no test.
    let chain = EncoderChain(Self.settings(), followsColour: true)
    var slowest = 0.0
    for index in 0..<120 {
      let size = index >= 60 ? PixelSize(1280, 720) : PixelSize(720, 1280)
      let frame = try Self.picture(index, size: size)
      let start = ContinuousClock.now
      try chain.encode(frame) { (_, _) in }
      if index == 60 { figure("the picture after a change waits \(start.secondsUntilNow) s") }
      if index > 60 { slowest = max(slowest, start.secondsUntilNow) }
    }
    let start = ContinuousClock.now
    try chain.finish { (_, _) in }
    figure(
      "the slowest of the 59 after it: \(slowest) s; to empty one encoder: \(start.secondsUntilNow) s"
    )
    #expect(chain.packets == 120)
  }
}
