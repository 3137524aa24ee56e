import Foundation
import UprightOrientation
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

/// Recordings of what ffmpeg publishes. The two tests cost about ten seconds each, most of it idle.
@Suite(
  "Recordings while a publisher sends", .enabled(if: FFmpegTool.isHere), .server, .serialized,
  .tags(.timed, .light))
struct RecordingServiceTests {
  /// Keyframes every second, and a stream that follows the app orientation.
  private static let make = RunningService.live {
    RunningService.patient(&$0)
    $0.options.segmentDuration = 1
    $0.options.canvas = .follow
  }

  private static func list(_ service: RunningService, _ session: String) async throws -> [JSON] {
    let list = try await service.ask("GET", "/v1/recordings?session=\(session)").json
    return list["recordings"].array
  }

  /// Checks that files have each frame of the clock once, in order. Only the last one may be repeated.
  private static func check(_ paths: [String], frames: Int) throws {
    var numbers: [Int] = []
    for path in paths {
      let shown = try DrawnClock.read(path)
      // Each plays by itself from its start, with its part of the audio.
      #expect(abs(shown.first?.seconds ?? -1) < 0.05, "\(path): \(shown.first?.seconds ?? -1)")
      let steps = zip(shown, shown.dropFirst()).map { $1.seconds - $0.seconds }
      #expect(steps.allSatisfy { $0 > 0 && $0 < 0.067 }, "\(path): \(steps.max() ?? 0)")
      let audio = try FFmpegTool.packets(path, "a:0").compactMap(\.time)
      let end = shown.last?.seconds ?? 0
      #expect(
        audio.first.map { $0 > -0.001 && $0 < 0.06 } == true, "\(path): \(audio.first ?? -1)")
      #expect(
        audio.last.map { abs($0 - end) < 0.12 } == true, "\(path): \(audio.last ?? -1), \(end)")
      #expect(zip(audio, audio.dropFirst()).allSatisfy { $1 - $0 > 0.015 && $1 - $0 < 0.035 })
      numbers += try shown.map { try #require($0.number, "\(path) at \($0.seconds)") }
    }
    let last = try #require(numbers.last)
    #expect(Array(numbers.prefix(last + 1)) == Array(0...last))
    #expect(numbers.dropFirst(last + 1).allSatisfy { $0 == last })
    #expect(numbers.count == frames)
  }

  @Test("Files of two seconds, and of one format: every frame is in one of them, and each plays")
  func segments() async throws {
    let port = try Loopback.freeTCPPort()
    let service = try await RunningService(make: Self.make)
    // A file that is there already stays as it is.
    let folder = service.scratch.path("data/recordings/one")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/take-2.mp4"))
    let address = try await service.session(
      "one", at: port,
      outputs: """
        {"type": "file", "name": "take.mp4", "segmentDuration": 2}, {"type": "file", "name": "turns.mkv"},
        {"type": "file", "name": "cut.ts", "segmentDuration": "2s"}
        """, more: ", \"options\": {\"segment\": 1}")
    let other = try await service.session(
      "two", at: port, outputs: "{\"type\": \"file\", \"name\": \"take.mp4\"}")
    let clip = service.scratch.path("clip.flv")
    try DrawnClock.clip(clip, seconds: 7)
    let publishers = try [Publisher(clip: clip, to: address), Publisher(clip: clip, to: other)]
    let live = "/v1/recordings/one~turns.mkv"
    var sizes: Set<Int> = []
    #expect(
      try await waitUntil {
        let size = try await service.ask("GET", live).json["size"].int ?? 0
        if size > 0 { sizes.insert(size) }
        return sizes.count >= 2
      })
    let now = try await service.ask("GET", live).json
    #expect(now["state"].string == "recording" && now["frames"].int ?? 0 > 10, "\(now)")
    #expect(now["duration"].double ?? 0 > 0.5)
    #expect(try await service.ask("DELETE", live).status == 409)
    let part = try await service.ask("GET", live + "/file")
    #expect(part.status == 200 && part.headers["content-length"] == "\(part.body.count)")
    let copy = service.scratch.path("copy.mkv")
    try Data(part.body).write(to: URL(fileURLWithPath: copy))
    #expect(try FFmpegTool.packets(copy, "v:0").count > 10)
    let turned = try await service.turn("one", "landscapeLeft")
    for publisher in publishers { #expect(publisher.status() == 0, "\(publisher.errors)") }
    #expect(try await service.waitForFrames(175, of: "one"))
    #expect(try await service.waitForFrames(175, of: "two"))
    let ended = try await service.ask("DELETE", "/v1/sessions/one")
    // The last frame is repeated after the publisher has left, but not in a recording.
    let frames = try #require(ended.json["counters"]["framesIn"].int)
    #expect(frames >= 175 && ended.json["counters"]["dropped"].object.isEmpty, "\(ended.text)")

    #expect(try String(contentsOfFile: folder + "/take-2.mp4", encoding: .utf8) == "mine")
    let all = try await Self.list(service, "one")
    for (start, ending) in [("take", "mp4"), ("turns", "mkv"), ("cut", "ts")] {
      let files = all.filter {
        $0["name"].string?.hasPrefix(start) == true && $0["name"].string != "take-2.mp4"
      }.sorted { $0["started"].string ?? "" < $1["started"].string ?? "" }
      let numbers = ending == "mp4" ? [1, 3, 4, 5, 6] : [1, 2, 3, 4, 5]
      let names = numbers.map { $0 == 1 ? "\(start).\(ending)" : "\(start)-\($0).\(ending)" }
      #expect(files.compactMap { $0["name"].string } == Array(names.prefix(files.count)))
      // Without limits the container of turns.mkv can't carry two formats.
      #expect(ending == "mkv" ? files.count == 2 : files.count >= 3, "\(files.count)")
      #expect(files.allSatisfy { $0["state"].string == "finished" })
      #expect(files.reduce(0) { $0 + ($1["frames"].int ?? 0) } == frames)
      for file in files.dropLast() where ending != "mkv" {
        let seconds = file["duration"].double ?? 0
        #expect(seconds > 1.9 && seconds < 3.1, "\(seconds)")
      }
      let rotations = files.flatMap { file in
        file["report"]["rotations"].array.map {
          ($0["at"].double ?? 0) + (file["report"]["start"].double ?? 0)
        }
      }
      #expect(rotations.count == 1 && abs(rotations[0] - turned) < 0.001)
      for file in files {
        let name = file["name"].string ?? ""
        #expect(try FFmpegTool.frames("\(folder)/\(name)").count == file["frames"].int)
      }
      try Self.check(files.map { "\(folder)/\($0["name"].string ?? "")" }, frames: frames)
    }
    // The other session has a file of the same name.
    let two = try await service.ask("GET", "/v1/recordings/two~take.mp4").json
    #expect(two["size"].int ?? 0 > 1000)
    try await service.shutDown()
  }

  @Test("A recording of a service that was killed is interrupted, and plays to its last segment")
  func killed() async throws {
    let scratch = try Scratch()
    let port = try Loopback.freeTCPPort()
    let session = """
      {"name": "stage", "input": {"url": "rtmp://127.0.0.1:\(port)/live/stage-key"},
       "outputs": [{"type": "file", "name": "take.mp4", "segmentDuration": 3}],
       "options": {"frames": "sensor", "size": "90x160", "speed": "ultrafast", "segment": 1}}
      """
    let first = try await ServiceProcess(scratch, sessions: [session])
    let publisher = LivePublisher.begin("rtmp://127.0.0.1:\(port)/live/stage-key", seconds: 60)
    let second = "/v1/recordings/stage~take-2.mp4"
    #expect(
      try await waitUntil {
        try await first.ask("GET", second).json["size"].int ?? 0 > 0
      })
    #expect(try await first.ask("GET", second).json["state"].string == "recording")
    _ = try await first.end(SIGKILL)
    _ = try await publisher.value

    let again = try await ServiceProcess(scratch, sessions: [session])
    let list = try await again.ask("GET", "/v1/recordings").json["recordings"].array
    #expect(list.map { $0["state"].string } == ["interrupted", "finished"])
    #expect(list[1]["frames"].int ?? 0 >= 40 && list[1]["report"]["dropped"].int == 0)
    for (index, name) in ["take-2.mp4", "take.mp4"].enumerated() {
      #expect(list[index]["name"].string == name)
      let shown = try DecodedFrames(scratch.path("data/recordings/stage/\(name)"), scratch)
      #expect(shown.times.count >= 14 && shown.longestStep < 0.1)
    }
    // The session comes back and records to another file.
    let publishing = LivePublisher.begin("rtmp://127.0.0.1:\(port)/live/stage-key", seconds: 3)
    #expect(
      try await waitUntil {
        try await again.ask("GET", "/v1/recordings/stage~take-3.mp4").status == 200
      })
    _ = try await publishing.value
    #expect(try await again.ask("DELETE", second).status == 204)
    _ = try await again.end(SIGTERM)
  }
}
