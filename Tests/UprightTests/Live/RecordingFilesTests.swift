import Foundation
import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightMedia
@testable import UprightLive
@testable import UprightMediaIO

/// Which files a recording leaves, with frames that a test makes.
@Suite("The files of a recording")
struct RecordingFilesTests {
  private static let tick = Rational(1, 90_000)

  /// A recording, fed with keyframes.
  private final class Stage {
    let scratch: Scratch
    let sink: RecordingSink
    private(set) var told: [LiveRecording] = []

    init(_ name: String) throws {
      scratch = try Scratch()
      let container = try OutputContainer(target: name)
      var tell: (LiveRecording) -> Void = { _ in }
      sink = RecordingSink(
        container: container, path: scratch.path(name), naming: .free, limits: RecordingLimits(),
        interval: MediaTime(1, .one), interrupt: Interrupt(), report: { tell($0) })
      tell = { [unowned self] in told.append($0) }
      try sink.begin(
        OutputDescription(format: try Self.format(0), videoTimeBase: tick))
    }

    /// Returns a format whose size differs from that of the one before.
    private static func format(_ index: Int) throws -> EncodedFormat {
      let parameters = try CodecParameters(naming: "mjpeg")
      let size = PixelSize(16 + index % 2 * 16, 16)
      parameters.raw.pointee.width = CInt(clamping: size.width)
      parameters.raw.pointee.height = CInt(clamping: size.height)
      return EncodedFormat(index: index, size: size, parameters: parameters)
    }

    /// Writes frames, `interval` seconds apart, each in another format if `changes` is set.
    func write(_ count: Int, every interval: Double, changes: Bool) throws {
      for index in 0..<count {
        let time = Int64((Double(index) * interval * 90_000).rounded())
        let packet = try Packet(
          [UInt8](repeating: 1, count: 100), stream: .made(.video), pts: time, isKey: true)
        let format = changes && index > 0 ? try Self.format(index) : nil
        try sink.write(packet, track: 0, format: format)
      }
    }
  }

  @Test("A format that changes with every frame ends the recording, with the reason")
  func flicker() throws {
    let stage = try Stage("take.mkv")
    let error = #expect(throws: UprightError.self) {
      try stage.write(200, every: 0.04, changes: true)
    }
    #expect(error?.message.contains("the format has changed 60 times") == true)
    #expect(stage.scratch.names.count == 61, "\(stage.scratch.names)")
    #expect(stage.told.last?.state == .finished)
  }

  @Test("A format that changes each second is recorded")
  func slow() throws {
    let stage = try Stage("take.mkv")
    try stage.write(100, every: 1, changes: true)
    try stage.sink.finish(isPartial: false)
    #expect(stage.scratch.names.count == 100)
  }

  @Test("A frame that says it is longer than it was shown moves none after it")
  func long() throws {
    let stage = try Stage("take.mp4")
    // A camera with a frame a second, of which each is repeated at once.
    let times: [Int64] = (0..<24).map { (index: Int64) in index / 3 * 90_000 + index % 3 * 36_000 }
    for time in times {
      var packet = try Packet(
        [UInt8](repeating: 1, count: 100), stream: .made(.video), pts: time,
        isKey: time % 180_000 == 0)
      (packet.dts, packet.duration) = (time, 90_000)
      try stage.sink.write(packet, track: 0, format: nil)
    }
    try stage.sink.finish(isPartial: false)
    let packets = try FFmpegTool.packets(stage.scratch.path("take.mp4"), "v:0")
    let written = packets.compactMap(\.time).map { Int64(($0 * 90_000).rounded()) }
    #expect(written == times)
  }

  @Test(
    "A file that was given up is kept if a part of it is playable", arguments: [(1, 0), (50, 1)])
  func abandoned(frames: Int, files: Int) throws {
    let stage = try Stage("take.mp4")
    try stage.write(frames, every: 0.04, changes: false)
    stage.sink.abandon()
    #expect(stage.scratch.names.count == files, "\(stage.scratch.names)")
    let last = try #require(stage.told.last)
    #expect(last.state == .failed)
    #expect(last.reason?.contains("the file was removed") == (files == 0))
    // The name is free again.
    if files == 0 { #expect(last.path == stage.scratch.path("take.mp4")) }
  }
}
