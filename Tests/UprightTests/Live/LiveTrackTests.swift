import Foundation
import Testing
import UprightMediaIO
import UprightOrientation
import UprightTestSupport

@testable import UprightLive

/// Publishers whose tracks don't begin together, or don't arrive together.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime, .serialized)
struct LiveTrackTests {
  enum Publisher: String, CaseIterable, CustomTestStringConvertible {
    case audioBeginsLate, videoBeginsLate, audioArrivesLate, videoArrivesLate, pictureStands,
      audioOfTwoCodecs

    var testDescription: String { rawValue }

    /// Returns the tags of a clip, each with the time in milliseconds when it is sent.
    func sent(_ clip: FLVClip) -> [(at: Int, tag: FLVClip.Tag)] {
      let timed: [(at: Int, tag: FLVClip.Tag)] = clip.tags.compactMap { tag in
        var tag = tag
        // The first body bytes of AVC and AAC: the codec, then 0 for its configuration.
        let isConfiguration = tag.kind != 18 && tag.body.count > 1 && tag.body[1] == 0
        let isAudio = tag.kind == 8
        switch self {
        case .audioBeginsLate where isAudio, .videoBeginsLate where tag.isVideo:
          let start = isAudio ? 1500 : 1000
          if isConfiguration { tag.time = start } else if tag.time < start { return nil }
        case .audioArrivesLate where isAudio, .videoArrivesLate where tag.isVideo:
          return (tag.time + 1500, tag)
        case .pictureStands where tag.isVideo && (2000..<5000).contains(tag.time): return nil
        default: break
        }
        return (tag.time, tag)
      }
      var sent: [(at: Int, tag: FLVClip.Tag)] = []
      for (at, tag) in timed {
        sent.append((at, tag))
        guard self == .audioOfTwoCodecs, tag.kind == 8 else { continue }
        // A-law (Video File Format Specification 10.1, E.4.2.1), in turn with AAC.
        let body: [UInt8] = [0x72] + Array(repeating: 0xD5, count: 160)
        sent.append((at, FLVClip.Tag(kind: 8, time: tag.time, body: body)))
      }
      return sent.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        .map(\.element)
    }

    /// The beeps of the clip, one a second, that a viewer hears at least.
    var leastBeeps: Int {
      switch self {
      case .audioBeginsLate: 4
      case .videoBeginsLate: 3
      case .pictureStands, .audioArrivesLate, .videoArrivesLate, .audioOfTwoCodecs: 5
      }
    }
  }

  @Test("H.264 without a sequence header is refused with the reason at its first keyframe")
  func noSequenceHeader() throws {
    let scratch = try Scratch()
    var clip = try FLVClip("testsrc2=size=160x90:rate=30", seconds: 1)
    clip.tags.removeAll { $0.isVideo && $0.body.count > 1 && $0.body[1] == 0 }
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))])
    try #require(stage.feed.begin())
    for tag in clip.tags where stage.feed.isPublishing { _ = stage.feed.write(tag.bytes) }
    #expect(until { !stage.feed.isPublishing })
    #expect(stage.feed.rejection?.contains("h264 without its sequence header") == true)
    #expect(
      until { stage.session.snapshot.reason?.contains("without its sequence header") == true })
    #expect(stage.session.snapshot.state == .waiting)
    stage.end()
  }

  @Test(
    "A private stream of MPEG-TS that sends a single packet keeps nobody waiting without a reason")
  func privateStream() throws {
    let scratch = try Scratch()
    var ts = TransportStreamBytes()
    var bytes = ts.tables([(6, 0x100, []), (0x1B, 0x101, [])]) + ts.frame(0x100, at: 0)
    for number in 0..<400 { bytes += ts.frame(0x101, at: number * 40) }
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))])
    try #require(stage.feed.begin(.mpegts))
    #expect(stage.feed.write(bytes))
    #expect(
      until { stage.session.snapshot.reason?.contains("doesn't say yet which tracks") == true })
    #expect(stage.session.snapshot.state == .waiting)
    stage.end()
  }

  @Test("AV1 in MPEG-TS is refused with the reason where libavformat doesn't know it")
  func av1() throws {
    let scratch = try Scratch()
    var ts = TransportStreamBytes()
    // The registration of the AOM's specification of AV1 in MPEG-2 transport streams, 2.1.
    var bytes = ts.tables([(6, 0x101, [5, 4] + Array("AV01".utf8))])
    for number in 0..<400 { bytes += ts.frame(0x101, at: number * 40) }
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))])
    try #require(stage.feed.begin(.mpegts))
    #expect(stage.feed.write(bytes))
    stage.feed.end()
    #expect(until { stage.session.snapshot.reason?.contains("AV1 in MPEG-TS") == true })
    #expect(stage.session.snapshot.state == .waiting)
    stage.end()
  }

  @Test("Audio is heard in time, however it begins and arrives", arguments: Publisher.allCases)
  func beeps(_ publisher: Publisher) throws {
    let scratch = try Scratch()
    let path = scratch.path("take.ts")
    let clip = try FLVClip(file: Samples.withAudio, seconds: 7)
    let stage = try LiveTestSession([.file(path: path)]) {
      $0.options.size = .pair(PixelSize(360, 640))
    }
    try #require(stage.feed.begin())
    let start = ContinuousClock.now
    for (at, tag) in publisher.sent(clip) {
      let wait = ContinuousClock.now.duration(to: start + .milliseconds(at))
      if wait > .zero { usleep(UInt32(wait / .microseconds(1))) }
      while !stage.feed.write(tag.bytes) && !stage.feed.isClosed { usleep(1000) }
    }
    stage.feed.end()
    #expect(until { stage.session.snapshot.state == .inputLost })
    stage.end()
    let usual = try #require(FlashAndBeep(path: Samples.withAudio).offsets.first)
    let heard = try FlashAndBeep(path: path)
    figure("\(publisher): flashes \(heard.flashes), beeps \(heard.beeps)")
    #expect(heard.beeps.count >= publisher.leastBeeps, "\(heard.beeps)")
    let steps = zip(heard.beeps, heard.beeps.dropFirst()).map { $1 - $0 }
    #expect(steps.allSatisfy { abs($0 - $0.rounded()) < 0.045 }, "\(steps)")
    for flash in heard.flashes where flash > heard.beeps.first ?? 0 && flash < heard.beeps.last ?? 0
    {
      #expect(heard.beeps.contains { abs($0 - flash - usual) < 0.045 }, "\(flash)")
    }
  }

  @Test(
    "Audio that arrives three seconds late is complete in recordings, and counted where it can't be"
  )
  func audioArrivesLaterThanWaitedFor() throws {
    let scratch = try Scratch()
    let (take, hls) = (scratch.path("take.mp4"), scratch.path("hls"))
    let clip = try FLVClip(file: Samples.withAudio, seconds: 8)
    let stage = try LiveTestSession([.file(path: take), .hls(folder: hls)]) {
      $0.options.size = .pair(PixelSize(360, 640))
    }
    try #require(stage.feed.begin())
    let start = ContinuousClock.now
    let sent = clip.tags.map { (at: $0.time + ($0.kind == 8 ? 3000 : 0), tag: $0) }
    for (at, tag) in sent.filter({ $0.at < 8000 }).sorted(by: { $0.at < $1.at }) {
      let wait = ContinuousClock.now.duration(to: start + .milliseconds(at))
      if wait > .zero { usleep(UInt32(wait / .microseconds(1))) }
      while !stage.feed.write(tag.bytes) && !stage.feed.isClosed { usleep(1000) }
    }
    stage.feed.end()
    #expect(until { stage.session.snapshot.state == .inputLost })
    #expect(
      stage.updates.contains {
        if case .state(.live, let reason?) = $0 {
          reason.contains("after its video")
        } else {
          false
        }
      })
    stage.end()
    #expect(stage.session.snapshot.counters.dropped["audio"] ?? 0 > 0)
    let usual = try #require(FlashAndBeep(path: Samples.withAudio).offsets.first)
    for (path, least) in [(take, 4), ("\(hls)/index.m3u8", 1)] {
      let heard = try FlashAndBeep(path: path)
      figure("\(path): flashes \(heard.flashes), beeps \(heard.beeps)")
      #expect(heard.beeps.count >= least, "\(path): \(heard.beeps)")
      for beep in heard.beeps {
        #expect(heard.flashes.contains { abs(beep - $0 - usual) < 0.045 }, "\(path): \(beep)")
      }
    }
  }

  @Test(
    "Video that can't be decoded has a reason, at the start and in mid-stream",
    arguments: [false, true])
  func undecodable(begins: Bool) throws {
    let scratch = try Scratch()
    let clip = try FLVClip(DecodedFrames.source, seconds: 4, audio: false)
    var isConfigured = false
    // From the first second on, or from the start, only frames that refer to others.
    let tags = clip.tags.filter { tag in
      guard tag.isVideo, tag.time >= 1000 || !begins else { return true }
      let isKey = tag.body[0] >> 4 == 1
      defer { isConfigured = isConfigured || isKey }
      return !isKey || !isConfigured && tag.body[1] == 0
    }.map { tag in
      var tag = tag
      if tag.isVideo, tag.time >= 1000 || !begins, tag.body[1] == 1 {
        for index in tag.body.indices.dropFirst(9) { tag.body[index] = 0x55 }
      }
      return tag
    }
    let stage = try LiveTestSession([.hls(folder: scratch.path("hls"))])
    try stage.publish(tags, ends: false)
    #expect(until { stage.session.snapshot.reason?.contains("decoded") == true })
    #expect(stage.session.snapshot.state == (begins ? .inputLost : .waiting))
    stage.end()
  }

  // Idle for the clip's five seconds, twice.
  @Test(
    "Audio goes on where its codec changes",
    arguments: [("libmp3lame", "aac"), ("aac", "libmp3lame")])
  func codecChanges(_ first: String, _ second: String) throws {
    let scratch = try Scratch()
    let path = scratch.path("take.mkv")
    let clips = try [first, second].map {
      try FLVClip(
        DecodedFrames.source, seconds: 5, options: "-c:a \($0) -ar \($0 == "aac" ? 48000 : 44100)")
    }
    let after = clips[1].tags.filter { !$0.isVideo && $0.kind == 8 }
    // Its configuration comes with the first frame after two seconds.
    var headers = after.filter { second == "aac" && $0.body[1] == 0 }
    for index in headers.indices { headers[index].time = 2000 }
    let tags =
      clips[0].tags.filter { $0.isVideo || $0.kind == 18 || $0.time < 2000 }
      + headers + after.filter { $0.time >= 2000 }
    let stage = try LiveTestSession([.file(path: path)])
    // In the order of their times, which of equal ones is that above.
    try stage.publish(
      tags.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
        .map(\.element))
    #expect(until { stage.session.snapshot.state == .inputLost })
    stage.end()
    let samples = try [UInt8](
      FFmpegTool.run(["-i", path, "-map", "0:a", "-ac", "1", "-ar", "48000", "-f", "s16le", "-"])
    ).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    // In each tenth of a second until the last one: the tone, or silence.
    let windows = stride(from: 4800, to: 48000 * 4, by: 4800).map {
      samples.dropFirst($0).prefix(4800)
    }
    let periods = windows.map { window in
      zip(window, window.dropFirst()).count { $0 < 0 && $1 >= 0 }
    }
    let isHeard = periods.map { abs($0 - 44) <= 1 }
    figure("\(first) to \(second): \(periods)")
    #expect(isHeard.count { !$0 } <= (second == "aac" ? 2 : 6), "\(periods)")
    #expect(isHeard.suffix(10).allSatisfy { $0 }, "\(periods)")
  }
}

/// The bytes of an MPEG transport stream (ISO/IEC 13818-1) of one program.
private struct TransportStreamBytes {
  private var counts: [Int: UInt8] = [:]

  /// Returns the tables of a program with these streams: type, PID, descriptors.
  mutating func tables(_ streams: [(type: UInt8, pid: Int, descriptors: [UInt8])]) -> [UInt8] {
    func big(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
    func section(_ table: UInt8, _ body: [UInt8]) -> [UInt8] {
      let head: [UInt8] = [table] + big(0xB000 | (body.count + 9)) + [0, 1, 0xC1, 0, 0]
      var checksum = UInt32.max
      for byte in head + body {
        checksum ^= UInt32(byte) << 24
        for _ in 0..<8 {
          let isNegative = checksum >> 31 == 1
          checksum <<= 1
          if isNegative { checksum ^= 0x04C1_1DB7 }
        }
      }
      return [0] + head + body + big(Int(checksum >> 16)) + big(Int(checksum & 0xFFFF))
    }
    let entries = streams.flatMap {
      [$0.type] + big(0xE000 | $0.pid) + big(0xF000 | $0.descriptors.count) + $0.descriptors
    }
    return packet(0, section(0, [0, 1, 0xF0, 0]))
      + packet(0x1000, section(2, [0xE1, 0, 0xF0, 0] + entries))
  }

  /// Returns a frame of 100 bytes that no decoder knows, at a time in milliseconds.
  mutating func frame(_ pid: Int, at time: Int) -> [UInt8] {
    let stamp = 90 * time + 90_000
    let marked = [
      0x21 | stamp >> 29 & 14, stamp >> 22, stamp >> 14 | 1, stamp >> 7, stamp << 1 | 1,
    ].map { UInt8(truncatingIfNeeded: $0) }
    let head: [UInt8] = [0, 0, 1, 0xE0, 0, 108, 0x80, 0x80, 5] + marked
    return packet(pid, head + [UInt8](repeating: 0x55, count: 100))
  }

  private mutating func packet(_ pid: Int, _ payload: [UInt8]) -> [UInt8] {
    let count = counts[pid, default: 0]
    counts[pid] = (count + 1) & 15
    let stuffing = 183 - payload.count
    return [0x47, 0x40 | UInt8(pid >> 8), UInt8(pid & 255), 0x30 | count, UInt8(stuffing), 0]
      + [UInt8](repeating: 0xFF, count: stuffing - 1) + payload
  }
}
