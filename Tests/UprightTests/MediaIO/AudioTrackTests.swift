import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightLive
@testable import UprightMediaIO

/// Decoded samples become one encoded track, sample by sample.
@Suite struct AudioTrackTests {
  /// Successive samples with one value.
  struct Run: Equatable, CustomStringConvertible {
    let value: Int16
    let start: Int64
    var count: Int
    var description: String { "\(count) samples of \(value) at \(start)" }
  }

  /// An uncompressed track of one channel at 48 kHz.
  private struct Track {
    let encoder: AudioTrackEncoder
    private(set) var runs: [Run] = []
    private(set) var sizes: [Int] = []

    init(live: Bool = false) throws {
      let pcm = try AudioEncoder("pcm_s16le", rate: 48_000, layout: .mono, wantsGlobalHeader: false)
      encoder = try AudioTrackEncoder(
        pcm, live ? .live(rate: 48_000, frameSize: pcm.frameSize) : .file(rate: 48_000),
        start: live ? 0 : nil)
    }

    mutating func add(_ value: Int16, _ count: Int, at position: Int64?) throws {
      var frame = try AudioFrame(encoder.encoder.format, count: count)
      let samples = try #require(frame.planes?[0])
      for index in 0..<count {
        samples.storeBytes(of: value, toByteOffset: index * 2, as: Int16.self)
      }
      frame.pts = position
      try encoder.add(frame) { collect($0) }
    }

    mutating func reach(_ position: Int64, isExpected: Bool) throws {
      try encoder.reach(position, isExpected: isExpected) { collect($0) }
    }

    mutating func finish() throws { try encoder.finish { collect($0) } }

    private mutating func collect(_ packet: consuming Packet) {
      var position = packet.pts ?? .min
      let values = packet.withBytes { Array($0.bindMemory(to: Int16.self)) }
      sizes.append(values.count)
      for value in values {
        if let last = runs.last, last.value == value, last.start + Int64(last.count) == position {
          runs[runs.count - 1].count += 1
        } else {
          runs.append(Run(value: value, start: position, count: 1))
        }
        position += 1
      }
    }
  }

  @Test("A file: jitter is ignored, a gap becomes silence, repeated samples are dropped")
  func file() throws {
    var track = try Track()
    try track.add(1, 960, at: 500)
    try track.add(2, 960, at: 500 + 960 + 2048)
    try track.add(3, 960, at: 500 + 1920 + 5000)
    try track.add(4, 3000, at: 500 + 1920 + 5000 + 960 - 2500)
    try track.add(5, 100, at: 0)
    try track.add(6, 10, at: nil)
    try track.finish()
    #expect(
      track.runs == [
        Run(value: 1, start: 500, count: 960), Run(value: 2, start: 1460, count: 960),
        Run(value: 0, start: 2420, count: 5000), Run(value: 3, start: 7420, count: 960),
        Run(value: 4, start: 8380, count: 500), Run(value: 6, start: 8880, count: 10),
      ])
  }

  @Test("A file: after a long gap, a whole frame later, times continue where the audio does")
  func jump() throws {
    var track = try Track()
    try track.add(1, 1000, at: 0)
    try track.add(2, 1000, at: 1_000_000)
    try track.add(3, 1000, at: 1000)
    try track.finish()
    #expect(
      track.runs == [
        Run(value: 1, start: 0, count: 1000), Run(value: 0, start: 1000, count: 24),
        Run(value: 2, start: 1_000_000, count: 1000), Run(value: 3, start: 1_001_000, count: 1000),
      ])
    #expect(track.sizes == [1024, 1024, 976])
  }

  @Test("A live session: packets in bursts with one time are all there, also after a gap")
  func bursts() throws {
    var track = try Track(live: true)
    for packet in 0..<200 as Range<Int64> {
      let time = packet / 5 * 5120 + (packet < 100 ? 0 : 9600)
      try track.add(1, 1024, at: time)
      try track.reach(time, isExpected: true)
    }
    try track.finish()
    #expect(track.runs.filter { $0.value == 1 }.reduce(0) { $0 + $1.count } == 200 * 1024)
    #expect(track.runs.filter { $0.value == 0 }.reduce(0) { $0 + $1.count } == 9600)
    #expect(track.encoder.leftOut == 0)
  }

  @Test("A live session: from 0, with silence up to the video, without what is too far ahead")
  func live() throws {
    var track = try Track(live: true)
    try track.add(1, 1000, at: 5000)
    try track.add(2, 1000, at: 31 * 48_000)
    try track.add(3, 1000, at: 3000)
    try track.reach(54_000, isExpected: true)
    try track.add(4, 1000, at: 6000)
    try track.reach(10_000, isExpected: false)
    try track.add(5, 5000, at: 7000)
    try track.finish()
    #expect(
      track.runs == [
        Run(value: 0, start: 0, count: 5000), Run(value: 1, start: 5000, count: 1000),
        Run(value: 3, start: 6000, count: 1000), Run(value: 4, start: 7000, count: 1000),
        Run(value: 0, start: 8000, count: 2000), Run(value: 5, start: 10_000, count: 2000),
      ])
  }

  @Test("Silence is encoded in pieces: its length doesn't need memory")
  func flat() throws {
    let track = try Track(live: true)
    var packets = 0
    let stopped = UprightError(.cancelled, "enough")
    let error = #expect(throws: UprightError.self) {
      try track.encoder.reach(1 << 50, isExpected: false) { (_) throws(UprightError) in
        packets += 1
        if packets == 100 { throw stopped }
      }
    }
    #expect(error?.code == .cancelled)
  }

  // MARK: - Decoding

  /// 48 kHz, stereo, as the AAC encoder takes it.
  private static func stereo() throws -> AudioFormat {
    try AudioEncoder("aac", rate: 48_000, layout: .stereo, wantsGlobalHeader: false).format
  }

  private static func audio(_ demuxer: Demuxer) throws -> StreamInfo {
    try #require(demuxer.container.streams.first { $0.kind == .audio })
  }

  /// The positions and lengths of decoded frames.
  private struct Decoded {
    var frames: [(start: Int64?, count: Int)] = []

    var count: Int { frames.reduce(0) { $0 + $1.count } }

    /// The largest distance between the end of a frame and the start of the next.
    var widestGap: Int64? {
      zip(frames, frames.dropFirst()).map { before, after in
        guard let start = before.start, let next = after.start else { return .max }
        return abs(next - start - Int64(before.count))
      }.max()
    }

    mutating func add(_ frame: consuming AudioFrame) { frames.append((frame.pts, frame.count)) }
  }

  struct Change: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let rates: [Int]
    let layouts: [String]
  }

  @Test(
    "A stream that changes its rate, its channels or its layout is decoded without a gap",
    .enabled(if: Needs.ffmpeg, "needs ffmpeg"),
    arguments: [
      Change(
        testDescription: "48 kHz, 44.1 kHz, 32 kHz, 48 kHz",
        rates: [48_000, 44_100, 32_000, 48_000],
        layouts: ["stereo", "stereo", "stereo", "stereo"]),
      Change(
        testDescription: "44.1 kHz, 48 kHz, 44.1 kHz", rates: [44_100, 48_000, 44_100],
        layouts: ["stereo", "mono", "5.1(side)"]),
      Change(
        testDescription: "a third channel in front, then behind", rates: [48_000, 48_000, 48_000],
        layouts: ["3.0", "3.0(back)", "3.0"]),
    ])
  func changes(_ test: Change) throws {
    let scratch = try Scratch()
    let format = try Self.stereo()
    var (decoded, expected) = (Decoded(), 0.0)
    var decoder: AudioDecoder?
    var next: Int64 = 1_000_000
    let tick = Rational(1, 1_000_000_000)
    for (index, (rate, layout)) in zip(test.rates, test.layouts).enumerated() {
      // Not Matroska, in which newer releases of FFmpeg mark samples of the first and the last packet as discarded.
      let path = scratch.path("\(index).ts")
      try FFmpegTool.run([
        "-f", "lavfi", "-i", "sine=f=440:r=\(rate):d=0.5,aformat=channel_layouts=\(layout)", "-c:a",
        "ac3", path,
      ])
      let demuxer = try Demuxer(url: path)
      let stream = try Self.audio(demuxer)
      while var packet = try demuxer.read() {
        // One clock for all of them, in which every packet follows the one before it.
        (packet.pts, packet.dts) = (next, next)
        packet.timeBase = tick
        next += Int64(clamping: 1536e9 / Double(rate))
        expected += 1536 * 48_000 / Double(rate)
        let current =
          try decoder
          ?? AudioDecoder(
            stream: StreamInfo(
              index: 0, kind: .audio, parameters: stream.parameters, timeBase: tick))
        decoder = current
        try current.decode(packet, as: format) { decoded.add($0) }
      }
    }
    try decoder?.finish(as: format) { decoded.add($0) }
    #expect(decoder?.damagedPackets == 0)
    #expect(abs(Double(decoded.count) - expected) < 8, "\(decoded.count), not \(expected)")
    let gap = try #require(decoded.widestGap)
    #expect(gap <= 2, "\(decoded.frames)")
  }

  @Test(
    "A sample rate of 1 Hz doesn't make gigabytes of one packet",
    .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
  func slow() throws {
    let scratch = try Scratch()
    let path = scratch.path("slow.mkv")
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "anullsrc=r=1:cl=mono:n=20000", "-frames:a", "2", "-c:a", "pcm_u8", path,
    ])
    let demuxer = try Demuxer(url: path)
    let decoder = try AudioDecoder(stream: Self.audio(demuxer))
    var decoded = Decoded()
    var packets = 0
    while let packet = try demuxer.read() {
      packets += 1
      try decoder.decode(packet, as: Self.stereo()) { decoded.add($0) }
    }
    #expect(packets == 2 && decoder.damagedPackets == 2)
    #expect(decoded.frames.isEmpty)
  }

  /// Until libavformat knows the parameters of such a track, only the first frame of a packet has a time.
  @Test(
    "Late audio of a live transport stream is complete",
    .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
  func late() throws {
    let scratch = try Scratch()
    let path = scratch.path("late.ts")
    try FFmpegTool.run(
      "-f lavfi -i color=s=64x48:d=4 -itsoffset 2 -f lavfi -i sine=d=2:r=48000 -c:v libx264 -c:a aac",
      [path])
    let source = try Demuxer(url: path, settings: ["analyzeduration": "1000000"])
    var reader: LiveAudioReader?
    var (untimed, ends, count) = (0, [Int64](), Int64(0))
    while let packet = try source.read() {
      guard let stream = source.stream(packet.streamIndex), stream.kind == .audio else { continue }
      if packet.pts == nil { untimed += 1 }
      let taking = try reader ?? LiveAudioReader(stream, as: Self.stereo())
      reader = taking
      try taking.take(packet) { frame, time in
        if let end = ends.last { #expect(abs(time - end) < 4) }
        count += Int64(frame.count)
        ends.append(time + Int64(frame.count) * LiveClock.rate / 48000)
      }
    }
    #expect(untimed > 60)
    #expect(count >= 96000, "\(count)")
  }

  @Test(
    "A live input's audio a century after its epoch has the time that it says",
    .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
  func century() throws {
    let scratch = try Scratch()
    let path = scratch.path("late.mkv")
    try FFmpegTool.run([
      "-f", "lavfi", "-i", "sine=d=0.2:r=48000", "-c:a", "pcm_s16le", "-output_ts_offset",
      "3200000000", path,
    ])
    let source = try Demuxer(url: path)
    let stream = try #require(source.bestStream(.audio))
    let reader = try LiveAudioReader(stream, as: Self.stereo())
    let audio = try LiveAudio()
    var times: [Int64] = []
    while let packet = try source.read() {
      try reader.take(packet) { frame, time in times.append(time) }
    }
    #expect(times.first == 3_200_000_000 * LiveClock.rate)
    for time in times + [.max, .min] {
      let frame = try AudioFrame.silence(1024, audio.format)
      try audio.add(frame, at: time) { _, _ in }
    }
  }
}
