import Foundation
import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightMedia
@testable import UprightMediaIO

/// The format changes faster than an encoder can be flushed. The output is complete, in order, and
/// identical in every run.
@Suite struct EncoderChainTests {
  /// The output of a chain.
  struct Outcome: Equatable {
    /// The frames' presentation times, in decoding order.
    var pts: [Int64] = []
    var dts: [Int64] = []
    var durations: [Int64] = []
    /// The size and the key flag of each packet.
    var packets: [String] = []
    /// For each format, its index, its size, and the number of packets before its first packet.
    var formats: [String] = []
    /// The number of packets output after each frame was sent.
    var after: [Int] = []
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var pictures = 120
    /// Whether frame `index` is landscape.
    let isLandscape: @Sendable (Int) -> Bool
    var isLive = false
    /// The number of encoders that this takes.
    let formats: Int
    var codec = VideoCodec.h264
  }

  static let cases = [
    Case(testDescription: "no change", isLandscape: { _ in false }, formats: 1),
    Case(testDescription: "every frame", isLandscape: { $0 % 2 == 1 }, formats: 120),
    Case(testDescription: "two in a row", isLandscape: { $0 / 2 % 2 == 1 }, formats: 60),
    Case(
      testDescription: "one frame in between", isLandscape: { [7, 60, 100].contains($0) },
      formats: 7),
    Case(testDescription: "the last frame", isLandscape: { $0 == 119 }, formats: 2),
    Case(testDescription: "the second frame", isLandscape: { $0 > 0 }, formats: 2),
    Case(testDescription: "three long ones", isLandscape: { $0 / 40 == 1 }, formats: 3),
    Case(testDescription: "one frame only", pictures: 1, isLandscape: { _ in true }, formats: 1),
    Case(testDescription: "live", isLandscape: { $0 / 5 % 2 == 1 }, isLive: true, formats: 24),
  ]

  /// About 33 ms apart, irregularly, in ticks of 1/30000.
  private static func time(_ index: Int) -> Int64 { Int64(index * 1000 + index * 373 % 700) }

  static func settings(
    codec: VideoCodec = .h264, isLive: Bool = false
  ) -> VideoEncoder.Settings {
    var settings = VideoEncoder.Settings(
      codec: codec, size: PixelSize(2, 2), format: .yuv420p, colour: Colour(),
      timeBase: Rational(1, 30000))
    settings.frameRate = Rational(30, 1)
    (settings.isLive, settings.isAmongOthers) = (isLive, isLive)
    (settings.wantsGlobalHeader, settings.repeatsHeaders) = (true, true)
    settings.options = isLive || codec != .h264 ? [:] : ["bf": "3", "b_strategy": "0"]
    return settings
  }

  static func picture(_ index: Int, size: PixelSize) throws -> VideoFrame {
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

  static func run(_ test: Case) throws -> Outcome {
    var outcome = Outcome()
    let chain = EncoderChain(
      settings(codec: test.codec, isLive: test.isLive), followsColour: true)
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

  @Test("Every frame is output once, in its format's place, in order", arguments: cases)
  func order(_ test: Case) throws {
    let outcome = try Self.run(test)
    #expect(outcome.pts.sorted() == (0..<test.pictures).map(Self.time))
    #expect(outcome.durations.allSatisfy { $0 == 777 })
    #expect(zip(outcome.dts, outcome.dts.dropFirst()).allSatisfy { $0 < $1 })
    #expect(zip(outcome.dts, outcome.pts).allSatisfy { $0 <= $1 })
    // Each format is announced with its first packet, which is a keyframe and holds the format's first
    // frame. All packets of the format before it precede it.
    var expected: [String] = []
    var last: Bool?
    for index in 0..<test.pictures where test.isLandscape(index) != last {
      last = test.isLandscape(index)
      expected.append("\(expected.count): \(last == true ? "96x64" : "64x96") at \(index)")
      #expect(outcome.packets[index].hasSuffix("true") && outcome.pts[index] == Self.time(index))
    }
    #expect(outcome.formats == expected)
    if test.isLive {
      // One packet out for every frame in, also across changes.
      #expect(outcome.after == Array(1...test.pictures))
    }
  }

  @Test("Every run gives the same packets", .long, arguments: cases)
  func same(_ test: Case) throws {
    let first = try Self.run(test)
    for _ in 0..<2 { #expect(try Self.run(test) == first) }
  }

  @Test("The number of frames waiting after a change is limited")
  func bounded() throws {
    let test = try #require(Self.cases.first { $0.testDescription == "three long ones" })
    let outcome = try Self.run(test)
    // 32 packets, and what the two encoders hold: 20 frames of lookahead, and one per thread.
    let inside = outcome.after.enumerated().map { $0 + 1 - $1 }.max() ?? 0
    #expect(inside < 32 + 2 * 40, "\(inside) frames inside")
  }

  @Test("An error of the output is thrown, and all threads end")
  func error() throws {
    let chain = EncoderChain(Self.settings(), followsColour: true)
    var came = 0
    let error = #expect(throws: UprightError.self) {
      for index in 0..<200 {
        let size = index / 10 % 2 == 1 ? PixelSize(96, 64) : PixelSize(64, 96)
        try chain.encode(Self.picture(index, size: size)) { (_, _) throws(UprightError) in
          came += 1
          if came == 15 { throw UprightError(.inputOutput, "the disk is full") }
        }
      }
    }
    #expect(error?.message == "the disk is full")
    #expect(came == 15)
  }

  @Test("A frame after a change does not wait for the old encoder", .long)
  func wait() throws {
    // This only prints a figure. The speed of a machine is not tested.
    let chain = EncoderChain(Self.settings(), followsColour: true)
    var slowest = 0.0
    for index in 0..<120 {
      let size = index >= 60 ? PixelSize(1280, 720) : PixelSize(720, 1280)
      let frame = try Self.picture(index, size: size)
      let start = ContinuousClock.now
      try chain.encode(frame) { (_, _) in }
      if index == 60 { figure("the frame after a change waits \(start.secondsUntilNow) s") }
      if index > 60 { slowest = max(slowest, start.secondsUntilNow) }
    }
    let start = ContinuousClock.now
    try chain.finish { (_, _) in }
    figure(
      "the slowest of the next 59: \(slowest) s; to flush one encoder: \(start.secondsUntilNow) s"
    )
    #expect(chain.packets == 120)
  }
}

/// The encoders of AV1, which the thread sanitizer can't judge.
@Suite struct AV1ChainTests {
  /// Costs half a second. SVT-AV1 crashes if it is opened while it works.
  @Test("In AV1, one encoder of a process waits for the others", .long)
  func turns() throws {
    let test = EncoderChainTests.Case(
      testDescription: "AV1", pictures: 24, isLandscape: { $0 / 8 == 1 }, formats: 3, codec: .av1)
    let alone = try EncoderChainTests.run(test)
    let threads = (0..<4).map { _ in
      WorkThread(name: "chain") { try? EncoderChainTests.run(test) }
    }
    for thread in threads { #expect(thread.join() == alone) }
  }

  @Test("In AV1, live encoders work at the same time: each frame gives its packet at once")
  func company() throws {
    let chains = (0..<3).map { _ in
      EncoderChain(EncoderChainTests.settings(codec: .av1, isLive: true), followsColour: true)
    }
    var counts = [0, 0, 0]
    for index in 0..<20 {
      for (place, chain) in chains.enumerated() {
        let size = index / 5 % 2 == 1 ? PixelSize(96, 64) : PixelSize(64, 96)
        try chain.encode(EncoderChainTests.picture(index, size: size)) { (_, _) in
          counts[place] += 1
        }
      }
      #expect(counts == [index + 1, index + 1, index + 1])
    }
    for chain in chains { try chain.finish { (_, _) in } }
    #expect(chains.map(\.formats) == [4, 4, 4])
  }
}
