import Foundation
import UprightOrientation
import Synchronization
import Testing
import Upright
import UprightServiceTestSupport

@testable import UprightService

/// Recordings over HTTP, without media: their files are written by the tests. Takes about three seconds.
@Suite("Recordings")
struct RecordingTests {
  private static let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) }

  /// Writes a file as a recording of a session, last changed at `time` seconds since 1970.
  private static func put(
    _ name: String, of session: String = "one", in scratch: Scratch, _ data: [UInt8] = [0],
    size: Int = 0, at time: Int? = nil
  ) throws {
    let folder = scratch.path("data/recordings/\(session)")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(data).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    if size > 0 { #expect(truncate("\(folder)/\(name)", off_t(size)) == 0) }
    guard let time else { return }
    var times = [timeval(tv_sec: time, tv_usec: 0), timeval(tv_sec: time, tv_usec: 0)]
    #expect(utimes("\(folder)/\(name)", &times) == 0)
  }

  private static func exists(_ name: String, of session: String = "one", in scratch: Scratch)
    -> Bool
  {
    FileManager.default.fileExists(atPath: scratch.path("data/recordings/\(session)/\(name)"))
  }

  /// Tells the service what a session's output does with a file, as a `LiveSession` would.
  private static func tell(
    _ service: RunningService, _ name: String, _ state: LiveRecording.State, start: Double = 10,
    seconds: Double = 0, reason: String? = nil
  ) {
    var recording = LiveRecording(
      path: service.scratch.path("data/recordings/one/\(name)"), start: start)
    (recording.state, recording.duration, recording.reason) = (state, seconds, reason)
    (recording.frames, recording.dropped) = (Int(seconds * 30), 2)
    service.script.sessions[0].tell(.recording(recording))
  }

  private static func ids(_ answer: Answer) -> [String] { strings("id", answer) }

  /// Returns the values of a member of all recordings in a list. Parsing all of a long list takes too long.
  private static func strings(_ name: String, _ answer: Answer) -> [String] {
    answer.text.components(separatedBy: "\"\(name)\":\"").dropFirst().map {
      String($0.prefix { $0 != "\"" })
    }
  }

  // MARK: - Lists

  @Test("Ten thousand recordings are listed in pages, each once, the newest first")
  func pages() async throws {
    let scratch = try Scratch()
    // Some are equally old.
    for index in 0..<10_000 {
      try Self.put(
        "take-\(index).mp4", of: "s\(index % 7)", in: scratch, at: 1_700_000_000 + index / 3)
    }
    let service = try await RunningService(scratch: scratch)
    let first = try await service.ask("GET", "/v1/recordings")
    #expect(Self.ids(first).count == 100 && first.body.count < 60_000)
    #expect(Self.ids(first).first == "s3~take-9999.mp4")
    var (seen, times, next) = ([String](), [String](), "")
    repeat {
      let page = try await service.ask("GET", "/v1/recordings?limit=999" + next)
      seen += Self.ids(page)
      times += Self.strings("ended", page)
      // What is removed or added meanwhile doesn't disturb the others.
      if next.isEmpty {
        #expect(try await service.ask("DELETE", "/v1/recordings/s0~take-0.mp4").status == 204)
        try Self.put("new.mp4", in: scratch)
      }
      next = Self.strings("next", page).first.map { "&after=\($0)" } ?? ""
    } while !next.isEmpty
    #expect(seen.count == 9999 && Set(seen).count == 9999)
    #expect(times.count == 9999 && times == times.sorted(by: >))
    let one = try await service.ask("GET", "/v1/recordings?session=s3&limit=1000")
    #expect(Self.ids(one).count == 1000 && Self.ids(one).allSatisfy { $0.hasPrefix("s3~") })
    #expect(Self.strings("next", one).count == 1)
    #expect(Self.ids(try await service.ask("GET", "/v1/recordings?session=none")).isEmpty)
  }

  @Test(
    "An invalid query gets 400",
    arguments: [
      "limit=0", "limit=-1", "limit=1001", "limit=x", "limit=99999999999999999999", "after=x",
      "after=", "after=~~", "after=-1~s~take.mp4", "after=1", "after=12345678901234567890~",
      "session=../x", "session=", "session=%00", "sesion=one", "limit=1&limit=1",
    ])
  func query(_ query: String) async throws {
    let service = try await RunningService()
    #expect(try await service.ask("GET", "/v1/recordings?\(query)").status == 400)
  }

  @Test("Only regular media files with plain names are recordings, and links aren't followed")
  func names() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("data/recordings")
    try Self.put("secret.mp4", of: "other", in: scratch)
    try FileManager.default.moveItem(atPath: folder + "/other", toPath: scratch.path("outside"))
    try Self.put("take.mp4", in: scratch, Self.bytes)
    for name in ["notes.txt", "take", ".hidden.mp4", "a b.mp4", "-x.mp4", "take.webm", "x.m3u8"] {
      try Self.put(name, in: scratch)
    }
    let files = FileManager.default
    try files.createDirectory(atPath: folder + "/one/folder.mp4", withIntermediateDirectories: true)
    try files.createSymbolicLink(
      atPath: folder + "/one/link.mp4", withDestinationPath: scratch.path("outside/secret.mp4"))
    try files.createSymbolicLink(
      atPath: folder + "/linked", withDestinationPath: scratch.path("outside"))
    #expect(mkfifo(folder + "/one/pipe.mp4", 0o600) == 0)
    let service = try await RunningService(scratch: scratch)
    let list = try await service.ask("GET", "/v1/recordings")
    #expect(Self.ids(list) == ["one~take.mp4"], "\(list.text)")
    let found = list.json["recordings"][0]
    #expect(found["state"].string == "finished" && found["size"].int == 100_000)
    #expect(found["container"].string == "mp4" && found["duration"] == .null)
    for id in [
      "one~link.mp4", "linked~secret.mp4", "one~folder.mp4", "one~pipe.mp4", "one~notes.txt",
      "one~.hidden.mp4", "one~a%20b.mp4", "..~take.mp4", "one~..", "~", "one~", "~take.mp4",
      "one~take.mp4~", "one%2ftake.mp4", "..%2fone~take.mp4", "one~..%2f..%2fsecret.mp4",
      "one~take.mp4%00", "one~%0d%0aX:%20y.mp4", "one~take.mp4%2f", "one~TAKE.mp4",
      String(repeating: "x", count: 5000) + "~take.mp4",
    ] {
      for (method, path) in [("GET", ""), ("GET", "/file"), ("HEAD", "/file"), ("DELETE", "")] {
        let answer = try await service.ask(method, "/v1/recordings/\(id)\(path)")
        #expect(answer.status == 404, "\(method) \(id)\(path): \(answer.status)")
      }
    }
    #expect(files.fileExists(atPath: scratch.path("outside/secret.mp4")))
    #expect(Self.exists("take.mp4", in: scratch))
  }

  // MARK: - Files

  @Test("A recording is downloaded as a whole and in parts")
  func download() async throws {
    let scratch = try Scratch()
    try Self.put("take.mp4", in: scratch, Self.bytes)
    try Self.put("empty.mkv", in: scratch, [])
    let service = try await RunningService(scratch: scratch)
    let path = "/v1/recordings/one~take.mp4/file"
    let whole = try await service.ask("GET", path)
    #expect(whole.status == 200 && whole.body.elementsEqual(Self.bytes))
    #expect(whole.headers["content-type"] == "video/mp4")
    #expect(whole.headers["content-disposition"] == "attachment; filename=\"take.mp4\"")
    let tag = try #require(whole.headers["etag"])
    let head = try await service.ask("HEAD", path)
    #expect(head.status == 200 && head.body.isEmpty && head.headers["etag"] == tag)
    #expect(head.headers["content-length"] == "100000")
    func part(_ range: String, _ more: [String: String] = [:]) async throws -> Answer {
      try await service.ask("GET", path, headers: ["Range": range].merging(more) { $1 })
    }
    for (range, bytes) in [
      ("bytes=0-0", 0..<1), ("bytes=5-9", 5..<10), ("bytes=99999-", 99_999..<100_000),
      ("bytes=-10", 99_990..<100_000), ("bytes=-999999", 0..<100_000),
      ("bytes=90000-999999999999999999", 90_000..<100_000),
    ] {
      let answer = try await part(range)
      #expect(answer.status == 206 && answer.body.elementsEqual(Self.bytes[bytes]), "\(range)")
      #expect(
        answer.headers["content-range"]
          == "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/100000")
    }
    for range in ["bytes=100000-", "bytes=-0", "bytes=999999999999999999-"] {
      let answer = try await part(range)
      #expect(
        answer.status == 416 && answer.headers["content-range"] == "bytes */100000", "\(range)")
    }
    // A server may ignore these (RFC 9110, 14.2).
    for range in [
      "bytes=0-1,5-6", "bytes=9-5", "bytes=a-b", "lines=1-2", "bytes=", "bytes=--1", "bytes=1",
      "bytes=99999999999999999999-",
    ] {
      #expect(try await part(range).body.count == 100_000, "\(range)")
    }
    #expect(try await part("bytes=5-9", ["If-Range": tag]).status == 206)
    #expect(try await part("bytes=5-9", ["If-Range": "\"other\""]).status == 200)
    #expect(try await part("bytes=5-9", ["If-Range": "W/" + tag]).status == 200)
    let known = try await service.ask("GET", path, headers: ["If-None-Match": "\"x\", \(tag)"])
    #expect(known.status == 304 && known.body.isEmpty && known.headers["etag"] == tag)
    let empty = try await service.ask("GET", "/v1/recordings/one~empty.mkv/file")
    #expect(empty.status == 200 && empty.body.isEmpty)
    #expect(empty.headers["content-type"] == "video/matroska")
    // Another version of the file has another tag.
    try Self.put("take.mp4", in: scratch, Array(Self.bytes.reversed()), at: 1_700_000_000)
    #expect(try await service.ask("HEAD", path).headers["etag"] != tag)
  }

  @Test("A download goes on to its end after the recording was removed")
  func removal() async throws {
    let scratch = try Scratch()
    let large = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 8) }
    try Self.put("take.mp4", in: scratch, large)
    let service = try await RunningService(scratch: scratch)
    let client = try service.connection(receiveBuffer: 4096)
    client.send(service.request("GET", "/v1/recordings/one~take.mp4/file"))
    try await RunningService.onThread { _ = client.text(until: "\r\n\r\n") }
    #expect(try await service.ask("DELETE", "/v1/recordings/one~take.mp4").status == 204)
    #expect(!Self.exists("take.mp4", in: scratch))
    #expect(try await service.ask("GET", "/v1/recordings/one~take.mp4").status == 404)
    #expect(try await service.ask("DELETE", "/v1/recordings/one~take.mp4").status == 404)
    let answer = try await RunningService.onThread { try Answer(client.receive(seconds: 60).bytes) }
    #expect(answer.body.elementsEqual(large))
  }

  // MARK: - Sessions

  @Test(
    "A recording is listed while it is written and when it is finished, and outlives the service")
  func life() async throws {
    let scratch = try Scratch()
    let origin = try EgressProxyTests.Origin { _ in
      "HTTP/1.1 204 Taken\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }
    let service = try await RunningService(
      { configuration, _ in configuration.allowHosts = ["127.0.0.1:\(origin.port)"] },
      scratch: scratch)
    try await service.ask(
      "POST", "/v1/webhooks",
      "{\"url\": \"http://127.0.0.1:\(origin.port)/\", \"events\": [\"recording\"]}")
    try await service.session()
    let events = try service.connection()
    events.send(
      service.request("GET", "/v1/sessions/one/events").replacing("Connection: close\r\n", with: "")
    )
    try await RunningService.onThread { _ = events.text(until: "event: state") }
    for name in ["take.mp4", "take-2.mp4", "broken.mp4"] { try Self.put(name, in: scratch) }
    let one = "/v1/recordings/one~take.mp4"
    Self.tell(service, "take.mp4", .recording)
    let live = try await service.ask("GET", one).json
    #expect(live["state"].string == "recording" && live["ended"] == .null)
    #expect(
      live["started"].string.flatMap { Date(rfc3339: $0) }.map { -$0.timeIntervalSinceNow < 60 }
        == true)
    #expect(try await service.ask("DELETE", one).status == 409)
    #expect(try await service.ask("GET", one + "/file").status == 200)
    // Two rotations, of which one is in the file; and a loss.
    try await service.ask(
      "POST", "/v1/sessions/one/events",
      "[{\"at\": 4, \"device\": \"landscapeLeft\"}, {\"at\": 13, \"device\": \"portrait\"}]")
    service.script.sessions[0].become(.inputLost)
    Self.tell(service, "take.mp4", .finished, seconds: 5)
    let done = try await service.ask("GET", one).json
    #expect(done["state"].string == "finished" && done["duration"].double == 5)
    #expect(done["frames"].int == 150 && done["problem"] == .null)
    let report = done["report"]
    #expect(report["start"].double == 10 && report["dropped"].int == 2)
    #expect(report["inputLosses"].int == 1 && report["rotations"].array.count == 1)
    #expect(report["rotations"][0]["at"].double == 3)
    #expect(report["rotations"][0]["to"].string == "portrait")
    Self.tell(service, "broken.mp4", .recording)
    Self.tell(service, "broken.mp4", .failed, seconds: 1, reason: "the disk is full")
    Self.tell(service, "take-2.mp4", .recording)

    let text = try await RunningService.onThread { events.text(until: "the disk is full") }
    #expect(text.components(separatedBy: "event: recording").count == 3, "\(text)")
    #expect(try await waitUntil { service.service.webhookCounts.delivered == 2 })
    let heads = origin.heads.withLock { $0 }
    let body = try #require(heads.first?.components(separatedBy: "\r\n\r\n").last)
    let message = try JSONDecoder().decode(JSON.self, from: Data(body.utf8))
    #expect(message["event"].string == "recording" && message["session"].string == "one")
    #expect(message["data"] == done)
    // As if the process were killed: nothing ends the recording.
    try await service.shutDown()

    let second = try await RunningService(scratch: scratch)
    #expect(try await second.ask("GET", one).json == done)
    let interrupted = try await second.ask("GET", "/v1/recordings/one~take-2.mp4").json
    #expect(interrupted["state"].string == "interrupted" && interrupted["frames"] == .null)
    #expect(interrupted["started"].string != nil && interrupted["ended"].string != nil)
    let broken = try await second.ask("GET", "/v1/recordings/one~broken.mp4").json
    #expect(broken["state"].string == "failed" && broken["problem"].string == "the disk is full")
    for name in ["take.mp4", "take-2.mp4", "broken.mp4"] {
      #expect(try await second.ask("DELETE", "/v1/recordings/one~\(name)").status == 204)
    }
    #expect(try await second.ask("GET", "/v1/recordings").json["recordings"].array.isEmpty)
    try await second.shutDown()
  }

  @Test("Descriptions that were damaged, removed or left behind do no harm")
  func notes() async throws {
    let scratch = try Scratch()
    let folder = scratch.path("data/recordings/one")
    for (index, note) in [
      "", "{", "[]", "{\"state\": \"finished\"}", "{\"state\": \"x\", \"started\": \"now\"}",
      "{\"state\": \"finished\", \"started\": \"2026-01-02T03:04:05.678Z\", \"frames\": 1e300, \"duration\": -1, "
        + "\"ended\": 7, \"problem\": {}, \"report\": {\"rotations\": 5}}",
      String(repeating: "[", count: 1 << 21),
    ].enumerated() {
      try Self.put("take-\(index).mp4", in: scratch, at: 1_700_000_000 - index)
      try Self.put(".take-\(index).mp4.json", in: scratch, Array(note.utf8))
    }
    try Self.put(".gone.mp4.json", in: scratch, Array("{}".utf8))
    try Self.put(".gone.mp4.json.new", in: scratch, Array("{}".utf8))
    try Self.put(".orphan.ts.json", of: "empty", in: scratch, Array("{}".utf8))
    let service = try await RunningService(scratch: scratch)
    let list = try await service.ask("GET", "/v1/recordings").json["recordings"].array
    #expect(list.count == 7 && list.allSatisfy { $0["state"].string == "finished" })
    #expect(list.allSatisfy { $0["frames"] == .null && $0["report"] == .null })
    #expect(list[5]["started"].string == "2026-01-02T03:04:05.678Z")
    #expect(
      try await waitUntil {
        !FileManager.default.fileExists(atPath: scratch.path("data/recordings/empty"))
      })
    #expect(!Self.exists(".gone.mp4.json", in: scratch))
    #expect(Self.exists(".take-1.mp4.json", in: scratch))
    try FileManager.default.removeItem(atPath: folder)
    #expect(try await service.ask("GET", "/v1/recordings").json["recordings"].array.isEmpty)
  }

  // MARK: - Retention

  @Test("The oldest recordings are removed: by age, then by size, but none that is written or read")
  func retention() async throws {
    let scratch = try Scratch()
    let now = Int(Date().timeIntervalSince1970)
    // More than fits in the buffers of a connection.
    let large = 32 << 20
    try Self.put("old.mp4", in: scratch, at: now - 5000)
    try Self.put("old.txt", in: scratch, at: now - 5000)
    try Self.put("read.mp4", in: scratch, size: large, at: now - 900)
    try Self.put("written.mp4", in: scratch, size: large, at: now - 800)
    for index in 0..<4 {
      try Self.put("take-\(index).mp4", in: scratch, size: large, at: now - 500 + index)
    }
    let service = try await RunningService(
      { configuration, dependencies in
        configuration.recordings = RecordingRetention(maxAge: 3600, maxSize: 4 * large)
        dependencies.retentionInterval = .seconds(3600)
      }, scratch: scratch)
    // At the start: six files are two too many.
    #expect(try await waitUntil { !Self.exists("written.mp4", in: scratch) })
    #expect(!Self.exists("old.mp4", in: scratch) && Self.exists("old.txt", in: scratch))
    #expect(!Self.exists("read.mp4", in: scratch) && Self.exists("take-0.mp4", in: scratch))
    // It is logged after it was removed.
    for id in ["old", "read", "written"] {
      #expect(
        try await waitUntil { service.log.lines.contains("recording one~\(id).mp4: removed") })
    }
    // When one is finished: the oldest two are in use.
    try await service.session()
    Self.tell(service, "take-0.mp4", .recording)
    let client = try service.connection(receiveBuffer: 4096)
    client.send(service.request("GET", "/v1/recordings/one~take-1.mp4/file"))
    try await RunningService.onThread { _ = client.text(until: "\r\n\r\n") }
    try Self.put("next.mp4", in: scratch, size: large)
    Self.tell(service, "next.mp4", .recording)
    Self.tell(service, "next.mp4", .finished)
    #expect(try await waitUntil { !Self.exists("take-2.mp4", in: scratch) })
    #expect(Self.exists("take-0.mp4", in: scratch) && Self.exists("take-1.mp4", in: scratch))
    #expect(Self.exists("take-3.mp4", in: scratch) && Self.exists("next.mp4", in: scratch))
    let answer = try await RunningService.onThread { try Answer(client.receive(seconds: 60).bytes) }
    #expect(answer.body.count == large)
    // Once more, when nothing is in use: everything is too old in an hour.
    Self.tell(service, "take-0.mp4", .finished)
    #expect(
      try await waitUntil {
        service.service.recordings.sweep(now: Date(timeIntervalSinceNow: 3700))
        return Self.ids(try await service.ask("GET", "/v1/recordings")).isEmpty
      })
    try await service.shutDown()
  }

  // MARK: - Settings

  static let limits: [(String, RecordingLimits?)] =
    [
      ("", RecordingLimits()), (", \"segmentDuration\": 600", RecordingLimits(seconds: 600)),
      (", \"segmentDuration\": \"10m\"", RecordingLimits(seconds: 600)),
      (", \"segmentDuration\": \"1.5h\"", RecordingLimits(seconds: 5400)),
      (", \"segmentDuration\": \"1d\"", RecordingLimits(seconds: 86_400)),
      (", \"segmentSize\": \"2G\"", RecordingLimits(bytes: 2 << 30)),
      (", \"segmentSize\": 1048576", RecordingLimits(bytes: 1 << 20)),
      (
        ", \"segmentDuration\": 60, \"segmentSize\": \"500M\"",
        RecordingLimits(seconds: 60, bytes: 500 << 20)
      ),
    ]
    + [
      "\"segmentDuration\": 0", "\"segmentDuration\": -1", "\"segmentDuration\": \"nan\"",
      "\"segmentDuration\": 1e300", "\"segmentDuration\": 1e-9", "\"segmentDuration\": \"2d\"",
      "\"segmentDuration\": null", "\"segmentDuration\": \"\"", "\"segmentDuration\": \"m\"",
      "\"segmentDuration\": \"0x10\"", "\"segmentDuration\": \"1 h\"", "\"segmentDuration\": [60]",
      "\"segmentDuration\": \"99999999999999999999999\"", "\"segmentSize\": 0",
      "\"segmentSize\": -1",
      "\"segmentSize\": 1e300", "\"segmentSize\": \"1K\"", "\"segmentSize\": \"2T\"",
      "\"segmentSize\": \"2g\"", "\"segmentSize\": true",
    ].map { (", " + $0, nil) }

  @Test("The limits of a file", arguments: limits)
  func limit(_ more: String, _ limits: RecordingLimits?) async throws {
    let service = try await RunningService()
    let answer = try await service.session(
      "one", ", \"outputs\": [{\"type\": \"file\", \"name\": \"take.mp4\"\(more)}]")
    guard let limits else {
      #expect(answer.status == 422 && answer.text.contains("output: segment"), "\(answer.text)")
      return
    }
    #expect(answer.status == 201, "\(answer.text)")
    guard
      case .recording(let path, let read)? = service.script.sessions[0].configuration.outputs.first
    else {
      Issue.record("no recording")
      return
    }
    #expect(read == limits && path.hasSuffix("data/recordings/one/take.mp4"))
  }

  @Test("Limits are for files, and a name leaves room for a number")
  func others() async throws {
    let service = try await RunningService()
    let hls = try await service.session(
      "one", ", \"outputs\": [{\"type\": \"hls\", \"segmentDuration\": 60}]")
    #expect(hls.status == 400, "\(hls.text)")
    let long = String(repeating: "x", count: 97)
    for (name, status) in [(long + ".mp4", 422), (long.dropLast() + ".mp4", 201)] {
      let answer = try await service.session(
        "one", ", \"outputs\": [{\"type\": \"file\", \"name\": \"\(name)\"}]")
      #expect(answer.status == status, "\(answer.text)")
    }
  }

  static let settings: [(String, RecordingRetention?)] = [
    ("{}", RecordingRetention()), ("{\"maxAge\": null}", RecordingRetention()),
    ("{\"maxAge\": \"30d\"}", RecordingRetention(maxAge: 2_592_000)),
    ("{\"maxAge\": 60, \"maxSize\": \"1T\"}", RecordingRetention(maxAge: 60, maxSize: 1 << 40)),
    ("{\"maxAge\": 0}", nil), ("{\"maxAge\": -1}", nil), ("{\"maxAge\": 1e300}", nil),
    ("{\"maxAge\": \"forever\"}", nil), ("{\"maxSize\": 0}", nil), ("{\"maxSize\": \"-1G\"}", nil),
    ("{\"maxsize\": 1}", nil), ("[]", nil), ("7", nil),
  ]

  @Test("The settings of the retention rule and of the free space", arguments: settings)
  func configuration(_ text: String, _ rule: RecordingRetention?) throws {
    let scratch = try Scratch()
    let path = scratch.path("config.json")
    let all = "{\"recordings\": \(text), \"minFreeSpace\": \"2G\"}"
    try Data(all.utf8).write(to: URL(fileURLWithPath: path))
    do {
      let read = try ServiceConfiguration(flags: [:], environment: [:], file: path)
      #expect(read.recordings == rule && read.minFreeSpace == 2 << 30)
      try Data(read.documented.compact.utf8).write(to: URL(fileURLWithPath: path))
      let again = try ServiceConfiguration(flags: [:], environment: [:], file: path)
      #expect(again.recordings == rule && again.minFreeSpace == 2 << 30)
    } catch {
      #expect(rule == nil && "\(error)".contains("recordings"), "\(error)")
    }
    #expect(throws: UprightError.self) {
      try ServiceConfiguration(flags: [:], environment: ["UPRIGHT_MIN_FREE_SPACE": "-1"], file: nil)
    }
  }

  @Test("The service isn't ready while less space is free than it needs")
  func space() async throws {
    let service = try await RunningService { configuration, _ in
      configuration.minFreeSpace = .max
    }
    let ready = try await service.ask("GET", "/readyz")
    #expect(ready.status == 503 && ready.text.contains("the disk of the data folder is full"))
  }
}
