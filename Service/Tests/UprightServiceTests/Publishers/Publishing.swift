import Foundation
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

/// Tests that run one at a time, because they need the whole machine.
@Suite(.enabled(if: FFmpegTool.isHere), .server, .serialized, .tags(.timed))
enum LivePublishing {}

struct PublishingFailure: Error, CustomStringConvertible { let description: String }

/// ffmpeg as a publisher, in a process that can be killed at any time.
final class Publisher: @unchecked Sendable {
  // Unchecked because the process is only ended, which is safe on any thread.
  private let process: pid_t
  private let scratch: Scratch

  /// Publishes the input of ffmpeg's options in real time.
  init(_ options: [String], to address: String) throws {
    guard let path = ExternalTool("ffmpeg").path else {
      throw PublishingFailure(description: "ffmpeg is not installed")
    }
    scratch = try Scratch()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(
      &actions, 2, scratch.path("errors"), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let line = [path, "-nostdin", "-v", "error", "-re"] + options + ["-f", "flv", address]
    var words: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var process: pid_t = 0
    guard posix_spawn(&process, path, &actions, nil, &words, environ) == 0 else {
      throw PublishingFailure(description: "can't run \(path)")
    }
    self.process = process
  }

  /// Publishes a clip without re-encoding it.
  convenience init(clip: String, to address: String) throws {
    try self.init(["-i", clip, "-c", "copy"], to: address)
  }

  deinit { kill() }

  /// Sends SIGKILL, as if a phone's battery were empty. Does nothing if the process has ended.
  func kill() {
    if Glibc.kill(process, SIGKILL) == 0 { waitpid(process, nil, 0) }
  }

  /// Blocks until the process has ended. Returns the exit code.
  func status() -> Int {
    var status: CInt = 0
    guard waitpid(process, &status, 0) == process else { return -1 }
    return Int(status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f)
  }

  var errors: String {
    (try? String(contentsOfFile: scratch.path("errors"), encoding: .utf8)) ?? ""
  }
}

/// Frames that contain their frame number. They have 16 by 9 blocks; the top row is a white block, a black
/// block, twelve binary digits with the lowest first, their parity, and a white block. The number survives
/// encoding, and can be read only from a frame with the expected orientation.
enum DrawnClock {
  private static let columns = 16
  private static let rows = 9
  private static let digits = 12

  /// Returns the FFmpeg source of such frames, without its duration.
  ///
  /// - Parameters:
  ///   - isTurned: Whether to create portrait frames, with the row of blocks along the right edge from the top.
  ///   - showsTime: Whether the digits count 1/25 s of the wall clock instead of frames.
  static func source(
    _ size: PixelSize, rate: Int, isTurned: Bool = false, showsTime: Bool = false
  ) -> String {
    let count = showsTime ? "floor(time(0)*25)" : "n"
    let (width, height) = (size.width / columns, size.height / rows)
    func box(_ column: Int, _ condition: String) -> String {
      "drawbox=x=\(column * width):y=0:w=\(width):h=\(height):color=white:t=fill"
        + ":enable='\(condition)'"
    }
    var boxes = [box(0, "1"), box(columns - 1, "1")]
    var parity: [String] = []
    for digit in 0..<digits {
      let bit = "mod(floor(\(count)/\(1 << digit))\\,2)"
      boxes.append(box(digit + 2, bit))
      parity.append(bit)
    }
    boxes.append(box(columns - 2, "mod(\(parity.joined(separator: "+"))\\,2)"))
    return "color=black:s=\(size.width)x\(size.height):r=\(rate),"
      + boxes.joined(separator: ",") + (isTurned ? ",transpose=clock" : "") + ",format=yuv420p"
  }

  /// Creates a clip of the clock, with or without a tone.
  static func clip(
    _ path: String, size: PixelSize = PixelSize(320, 180), rate: Int = 25, seconds: Int,
    isTurned: Bool = false, audio: Bool = true
  ) throws {
    var words = ["-f", "lavfi", "-i", source(size, rate: rate, isTurned: isTurned)]
    if audio { words += ["-f", "lavfi", "-i", "sine=f=440:r=48000", "-c:a", "aac"] }
    words += "-t \(seconds) -c:v libx264 -preset ultrafast -g \(rate) -bf 0 -f flv".words
    try FFmpegTool.run(words + [path])
  }

  /// One frame of a stream.
  struct Reading: Sendable, Equatable {
    let seconds: Double
    let size: PixelSize
    /// The frame number; `nil` if the frame doesn't have the orientation of its shape, or isn't a clock frame.
    let number: Int?
  }

  /// Reads every frame of a file or a playlist: landscape frames as drawn, portrait frames rotated clockwise.
  static func read(_ path: String) throws -> [Reading] {
    let scratch = try Scratch()
    let frames = try FFmpegTool.frames(path)
    let side = 144
    let file = scratch.path("pictures.gray")
    try FFmpegTool.run(
      ["-i", path, "-fps_mode", "passthrough", "-an"]
        + ["-vf", "scale=\(side):\(side):flags=area,format=gray", "-f", "rawvideo", file])
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    guard bytes.count == frames.count * side * side else {
      throw PublishingFailure(
        description: "\(frames.count) frames probed, \(bytes.count / side / side) decoded")
    }
    return frames.enumerated().map { index, frame in
      let isPortrait = frame.height > frame.width
      let number = number { column in
        // The centre of the block, along and across the row of blocks.
        let along = (2 * column + 1) * side / (2 * columns)
        let across = side / (2 * rows)
        let (x, y) = isPortrait ? (side - 1 - across, along) : (along, across)
        return bytes[index * side * side + y * side + x] > 128
      }
      return Reading(
        seconds: frame.time ?? -1, size: PixelSize(frame.width, frame.height), number: number)
    }
  }

  private static func number(_ isWhite: (Int) -> Bool) -> Int? {
    guard isWhite(0), !isWhite(1), isWhite(columns - 1) else { return nil }
    let bits = (0..<digits).map { isWhite($0 + 2) }
    guard bits.count(where: \.self) % 2 == (isWhite(columns - 2) ? 1 : 0) else { return nil }
    return bits.enumerated().reduce(0) { $0 | ($1.element ? 1 << $1.offset : 0) }
  }
}

extension RunningService {
  /// Where the media of real sessions runs in the tests.
  static let workers =
    ProcessInfo.processInfo.environment["UPRIGHT_TEST_WORKERS"].flatMap(WorkerMode.init)
    ?? ServiceConfiguration().workers

  /// Real sessions. `change` alters what the service has configured.
  static func live(
    _ workers: WorkerMode = RunningService.workers,
    _ change: @escaping @Sendable (inout LiveConfiguration) -> Void = { _ in }
  ) -> MakeSession {
    let make = workers.makeSession(program: ServiceProcess.program)
    return { (configuration, folders) throws(UprightError) in
      var changed = configuration
      change(&changed)
      return try make(changed, folders)
    }
  }

  /// Real sessions as most tests want them.
  static let liveSession = live(workers, patient)

  /// Frames of a sensor, in the source's size unless the options have one, encoded fast. The session may fall
  /// behind as much as a busy machine makes it.
  static func patient(_ configuration: inout LiveConfiguration) {
    configuration.limits.lag = 600
    configuration.options.speed = "ultrafast"
    if configuration.options.size == nil { configuration.options.size = .source }
    configuration.options.frames = .sensor(.init())
  }

  /// Returns the service's JSON of a session.
  func state(_ name: String) async throws -> JSON {
    try await ask("GET", "/v1/sessions/\(name)").json
  }

  /// Waits until `count` frames of a session have been decoded.
  func waitForFrames(_ count: Int, of name: String, seconds: Double = 60) async throws -> Bool {
    try await waitUntil(seconds) {
      try await state(name)["counters"]["framesIn"].int ?? 0 >= count
    }
  }

  /// Creates a session for a publisher. Returns its address, `rtmp://127.0.0.1:port/live/NAME-key`.
  func session(
    _ name: String, at port: Int, outputs: String = "{\"type\": \"hls\"}", more: String = ""
  ) async throws -> String {
    let address = "rtmp://127.0.0.1:\(port)/live/\(name)-key"
    let made = try await ask(
      "POST", "/v1/sessions",
      """
      {"name": "\(name)", "input": {"url": "\(address)"}, "outputs": [\(outputs)]\(more)}
      """)
    #expect(made.status == 201, "\(made.text)")
    return address
  }

  /// Posts a device orientation, which must cause a rotation. Returns the `at` of the decision, in seconds.
  func turn(_ name: String, _ device: String) async throws -> Double {
    let answer = try await ask(
      "POST", "/v1/sessions/\(name)/events", "{\"device\": \"\(device)\"}")
    #expect(answer.status == 200, "\(answer.text)")
    let decision = try #require(answer.json["decisions"].array.first, "\(answer.text)")
    #expect(decision["decision"].string == "rotate", "\(answer.text)")
    return try #require(decision["at"].double)
  }

  /// Downloads a playlist and its segments over HTTP, as a player does. Returns the path of the copy.
  func fetch(_ name: String, into scratch: Scratch) async throws -> (path: String, list: Playlist) {
    let text = try await ask("GET", "/live/\(name)/index.m3u8", token: nil).text
    let list = try Playlist(text: text)
    for file in Set(list.segments.flatMap { [$0.file, $0.map] }) {
      let answer = try await ask("GET", "/live/\(name)/\(file)", token: nil)
      #expect(answer.status == 200, "\(file)")
      try Data(answer.body).write(to: URL(fileURLWithPath: scratch.path(file)))
    }
    let path = scratch.path("index.m3u8")
    // The end tag keeps players of the copy from waiting for more segments.
    let whole = text.contains("#EXT-X-ENDLIST") ? text : text + "#EXT-X-ENDLIST\n"
    try Data(whole.utf8).write(to: URL(fileURLWithPath: path))
    return (path, list)
  }
}
