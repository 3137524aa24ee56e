import Foundation
import UprightOrientation
import UprightPolicy
import Synchronization
import Testing
import UprightMediaIO
import UprightTestSupport

@testable import UprightLive

/// The FLV tags of a clip, sent like a phone.
struct FLVClip: Sendable {
  struct Tag: Sendable {
    let kind: UInt8
    /// The timestamp, in milliseconds.
    var time: Int
    var body: [UInt8]

    var isVideo: Bool { kind == 9 }

    /// The tag as stored in a file (Video File Format Specification 10.1, E.4).
    var bytes: [UInt8] {
      func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      }
      return [kind] + big(body.count, 3) + big(time & 0xFFFFFF, 3) + big(time >> 24 & 255, 1)
        + [0, 0, 0] + body + big(body.count + 11, 4)
    }
  }

  var tags: [Tag] = []

  /// Encodes a clip with FFmpeg.
  ///
  /// - Parameters:
  ///   - video: A lavfi source of FFmpeg, without its duration.
  ///   - audio: Whether there is a tone.
  init(_ video: String, seconds: Double, audio: Bool = true, options: String = "") throws {
    let scratch = try Scratch()
    let path = scratch.path("clip.flv")
    var line = "-f lavfi -i \(video) "
    if audio { line += "-f lavfi -i sine=f=440:r=44100 -c:a aac " }
    line +=
      "-t \(seconds) -c:v libx264 -preset ultrafast -g 30 -bf 0 -pix_fmt yuv420p \(options) -f flv"
    try FFmpegTool.run(line, [path])
    try read(path)
  }

  /// Re-encodes the clip in a file.
  init(file: String, seconds: Double) throws {
    let scratch = try Scratch()
    let path = scratch.path("clip.flv")
    try FFmpegTool.run(
      ["-i", file]
        + "-t \(seconds) -c:v libx264 -preset ultrafast -g 30 -bf 0 -c:a aac -f flv".words + [path])
    try read(path)
  }

  private mutating func read(_ path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var place = 13
    while place + 15 <= bytes.count {
      func big(_ at: Int, _ count: Int) -> Int {
        bytes[place + at..<place + at + count].reduce(0) { $0 << 8 | Int($1) }
      }
      let size = big(1, 3)
      guard place + 15 + size <= bytes.count else { break }
      tags.append(
        Tag(
          kind: bytes[place], time: big(4, 3) | big(7, 1) << 24,
          body: Array(bytes[place + 11..<place + 11 + size])))
      place += 15 + size
    }
    try #require(tags.count > 3)
  }

  /// The number of frames, without the decoder configuration and the end of sequence.
  var frames: Int { tags.count { $0.isVideo && $0.body.count > 1 && $0.body[1] == 1 } }
}

/// A live session under test, and its updates.
final class LiveTestSession: Sendable {
  let session: LiveSession
  let feed = PublishedFeed()
  private let told = Mutex<[LiveUpdate]>([])

  init(
    _ outputs: [LiveOutput], input: LiveInput? = nil,
    configure: (inout LiveConfiguration) -> Void = { _ in }
  ) throws {
    var configuration = LiveConfiguration(input: input ?? .published(feed), outputs: outputs)
    configuration.options.size = .pair(PixelSize(90, 160))
    configuration.options.speed = "ultrafast"
    configuration.segmentSeconds = 1
    // A busy machine must not cause dropped frames.
    configuration.limits.lag = 600
    configure(&configuration)
    session = try LiveSession(configuration)
    session.start { [weak self] update in self?.told.withLock { $0.append(update) } }
  }

  var updates: [LiveUpdate] { told.withLock { $0 } }

  var states: [LiveState] {
    updates.compactMap { if case .state(let state, _) = $0 { state } else { nil } }
  }

  var decisions: [RotationDecision] {
    updates.compactMap { if case .decision(let decision) = $0 { decision } else { nil } }
  }

  var formats: [FormatChange] {
    updates.compactMap { if case .format(let change) = $0 { change } else { nil } }
  }

  /// Publishes the tags in real time, as one connection.
  func publish(_ tags: [FLVClip.Tag], ends: Bool = true) throws {
    try #require(feed.begin())
    send(tags)
    if ends { feed.end() }
  }

  /// Publishes a clip in real time on a thread of its own, as one connection, which stays open.
  func publishing(_ clip: FLVClip) throws -> RunningThread {
    try #require(feed.begin())
    return Thread.running { self.send(clip.tags) }
  }

  func send(_ tags: [FLVClip.Tag]) {
    let start = Date()
    var first: Int?
    var last = 0
    var clock = 0
    for tag in tags {
      let time = tag.time
      // A jump in the times causes no wait.
      if first == nil { (first, last) = (time, time) }
      if abs(time - last) < 1000 { clock += time - last }
      last = time
      let due = start.addingTimeInterval(Double(clock) / 1000)
      let wait = due.timeIntervalSinceNow
      if wait > 0 { usleep(UInt32(wait * 1e6)) }
      while !feed.write(tag.bytes) && !feed.isClosed { usleep(1000) }
    }
  }

  /// Ends the session and waits for its outputs.
  func end() {
    session.stop()
    #expect(session.join(timeout: 30), "the session did not end")
  }
}
