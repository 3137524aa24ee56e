import Foundation
import UprightOrientation
import Testing
import UprightMediaIO
import UprightTestSupport

@testable import UprightFiles

/// Authenticated publishers that send unusable streams.
@Suite("Live: unusable streams", .enabled(if: FFmpegTool.isHere), .realTime, .tags(.waits))
struct LiveHostileTests {
  /// Sends tags like a socket's handler, until the session rejects the stream. Returns whether it accepted
  /// all of them.
  private static func send(_ tags: [FLVClip.Tag], _ stage: LiveTestSession) -> Bool {
    guard stage.feed.begin() else { return false }
    let start = Date()
    for tag in tags {
      let wait = start.addingTimeInterval(Double(tag.time) / 1000).timeIntervalSinceNow
      if wait > 0 { usleep(UInt32(wait * 1e6)) }
      while !stage.feed.write(tag.bytes) {
        guard stage.feed.isPublishing else { return false }
        usleep(1000)
      }
    }
    return true
  }

  private static func reason(_ stage: LiveTestSession) -> String {
    stage.session.snapshot.reason ?? ""
  }

  /// Checks that the unusable stream is rejected, that the session reports the reason, and that it accepts
  /// the next stream.
  private static func check(
    _ tags: [FLVClip.Tag], _ words: String, frames: Int, _ file: String = "take.ts"
  ) throws {
    let scratch = try Scratch()
    let stage = try LiveTestSession([.file(path: scratch.path(file))])
    let isTaken = Self.send(tags, stage)
    #expect(!isTaken || until { !stage.feed.isPublishing }, "the stream was read to its end")
    #expect(until { Self.reason(stage).contains(words) }, "\(stage.session.snapshot)")
    #expect(stage.session.snapshot.counters.framesIn <= frames)
    let good = try FLVClip(DecodedFrames.source, seconds: 2)
    #expect(Self.send(good.tags, stage), "the next publisher was rejected")
    stage.feed.end()
    // A busy machine may shed frames; each is counted.
    func count(_ reasons: String...) -> Int {
      reasons.reduce(0) { $0 + (stage.session.snapshot.counters.dropped[$1] ?? 0) }
    }
    #expect(
      until { stage.session.snapshot.counters.framesIn + count("shed") >= good.frames })
    #expect(stage.states.contains(.live))
    stage.end()
    #expect(stage.session.snapshot.state == .ended)
    let written = try FFmpegTool.frames(scratch.path(file)).count
    #expect(
      written + count("shed", "late", "queue", "output") >= good.frames,
      "\(stage.session.snapshot.counters.dropped)")
  }

  @Test(
    "A change of the codec in mid-stream disconnects the publisher, which can reconnect")
  func codec() throws {
    let first = try FLVClip(DecodedFrames.source, seconds: 2)
    var other = try FLVClip(DecodedFrames.source, seconds: 10, options: "-c:v flv1")
    for index in other.tags.indices { other.tags[index].time += 2000 }
    try Self.check(first.tags + other.tags, "another codec", frames: first.frames)
  }

  @Test("An unsupported codec")
  func unknownCodec() throws {
    let clip = try FLVClip(DecodedFrames.source, seconds: 10, options: "-c:v flv1")
    try Self.check(clip.tags, "flv1 is not supported", frames: 0)
  }

  @Test("Audio only")
  func audio() throws {
    var clip = try FLVClip(DecodedFrames.source, seconds: 10)
    clip.tags.removeAll { $0.isVideo }
    try Self.check(clip.tags, "no video", frames: 0)
  }

  @Test("Frames of 16384x8704 are rejected before memory is allocated")
  func huge() throws {
    var clip = try FLVClip(DecodedFrames.source, seconds: 10)
    let sets = AVCConfiguration(widthInBlocks: 1024, heightInBlocks: 544)
    let first = try #require(clip.tags.firstIndex { $0.isVideo })
    clip.tags[first] = FLVClip.Tag(
      kind: 9, time: clip.tags[first].time, body: [0x17, 0, 0, 0, 0] + sets.bytes)
    try Self.check(clip.tags, "cannot be decoded", frames: 0)
  }
}

/// An AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.3.3.1) with Baseline parameter sets.
private struct AVCConfiguration {
  private var bits: [Bool] = []
  private(set) var bytes: [UInt8] = []

  /// The size is in macroblocks of 16x16 samples.
  init(widthInBlocks: Int, heightInBlocks: Int) {
    // seq_parameter_set_data (ISO/IEC 14496-10, 7.3.2.1.1) of profile 66, level 6.2.
    for value in [0, 0, 2, 1] { exponential(value) }
    append(0, 1)
    exponential(widthInBlocks - 1)
    exponential(heightInBlocks - 1)
    // frame_mbs_only_flag, direct_8x8_inference_flag, no cropping, no VUI; the stop bit.
    for bit in [1, 1, 0, 0, 1] { append(bit, 1) }
    let sequence: [UInt8] = [0x67, 66, 0xC0, 62] + packed()
    bits = []
    for value in [0, 0] { exponential(value) }
    append(0, 2)
    for value in [0, 0, 0] { exponential(value) }
    append(0, 3)
    for value in [0, 0, 0] { exponential(value) }
    append(0, 3)
    append(1, 1)
    let picture: [UInt8] = [0x68] + packed()
    bytes =
      [1, 66, 0xC0, 62, 0xFF, 0xE1] + size(sequence) + sequence + [1] + size(picture) + picture
  }

  private func size(_ set: [UInt8]) -> [UInt8] { [UInt8(set.count >> 8), UInt8(set.count & 255)] }

  private mutating func append(_ value: Int, _ count: Int) {
    for index in (0..<count).reversed() { bits.append(value >> index & 1 == 1) }
  }

  /// Appends ue(v) (ISO/IEC 14496-10, 9.1).
  private mutating func exponential(_ value: Int) {
    let length = Int.bitWidth - (value + 1).leadingZeroBitCount
    append(0, length - 1)
    append(value + 1, length)
  }

  private func packed() -> [UInt8] {
    stride(from: 0, to: bits.count, by: 8).map { start in
      (0..<8).reduce(UInt8(0)) { byte, bit in
        byte << 1 | (start + bit < bits.count && bits[start + bit] ? 1 : 0)
      }
    }
  }
}
