import Foundation
import Testing
import Upright
import UprightOrientation
import UprightServiceTestSupport

@testable import UprightService

extension LivePublishing {
  @Suite("Sessions in processes of their own")
  struct WorkerTests {
    /// Returns the workers of this process that have a session. One in reserve has only one thread.
    private static func workers() -> [pid_t] {
      let files = FileManager.default
      let names = (try? files.contentsOfDirectory(atPath: "/proc")) ?? []
      return names.compactMap(pid_t.init).filter { process in
        guard CommandLineProgram.isRunning(process, parent: getpid()),
          let line = files.contents(atPath: "/proc/\(process)/cmdline"),
          let threads = try? files.contentsOfDirectory(atPath: "/proc/\(process)/task")
        else { return false }
        return String(decoding: line, as: UTF8.self).contains(SessionWorker.option)
          && threads.count > 1
      }
    }

    private static func service() async throws -> RunningService {
      try await RunningService(make: RunningService.live(.process, RunningService.patient))
    }

    private static func state(_ service: RunningService, _ name: String) async throws -> String? {
      try await service.state(name)["state"].string
    }

    @Test("A crash costs a part of one session: its publisher stays, and another process goes on")
    func crash() async throws {
      let service = try await Self.service()
      let port = try Loopback.freeTCPPort()
      let outputs = "{\"type\": \"hls\"}, {\"type\": \"file\", \"name\": \"take.mp4\"}"
      let address = try await service.session(
        "one", at: port, outputs: outputs, more: ", \"options\": {\"segment\": 1}")
      let other = try await service.session(
        "other", at: port, more: ", \"options\": {\"segment\": 1}")
      let clip = service.scratch.path("clip.flv")
      try DrawnClock.clip(clip, rate: 25, seconds: 30)
      #expect(Self.workers().isEmpty)
      var publishers = [try Publisher(clip: clip, to: address)]
      #expect(try await service.waitForFrames(25, of: "one"))
      let worker = try #require(Self.workers().first)
      publishers.append(try Publisher(clip: clip, to: other))
      for name in ["one", "other"] {
        #expect(try await service.waitForFrames(75, of: name))
      }
      kill(worker, SIGSEGV)
      let killed = ContinuousClock.now
      #expect(
        try await waitUntil { try await service.state("one")["counters"]["restarts"].int == 1 })
      #expect(try await waitUntil(10) { try await Self.state(service, "one") == "live" })
      let seconds = killed.duration(to: .now) / .seconds(1)
      print("recovered in \(seconds) s")
      #expect(seconds < 5)
      #expect(Self.workers().count == 2 && !Self.workers().contains(worker))
      let frames = try await service.state("one")["counters"]["framesIn"].int ?? 0
      #expect(try await service.waitForFrames(frames + 75, of: "one"))
      let text = service.log.lines
      #expect(
        text.contains("session one: recovering: the process of the session was ended by SIGSEGV"))
      #expect(!text.contains("publisher disconnected"), "\(text)")
      for name in ["one", "other"] { _ = try await service.ask("DELETE", "/v1/sessions/\(name)") }
      publishers.forEach { $0.kill() }
      let scratch = try Scratch()
      let (path, list) = try await service.fetch("one", into: scratch)
      #expect(list.discontinuities >= 1)
      let numbers = try DrawnClock.read(path).compactMap(\.number)
      #expect(numbers == numbers.sorted() || Set(numbers).count > 100)
      let recordings = try await service.ask("GET", "/v1/recordings").json["recordings"].array
      #expect(recordings.count == 2, "\(recordings)")
      let folder = try Scratch()
      let calm = try await service.fetch("other", into: folder)
      let all = try DrawnClock.read(calm.path).compactMap(\.number)
      #expect(zip(all, all.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(all)")
      try await service.shutDown()
      #expect(try await waitUntil { Self.workers().isEmpty })
    }

    @Test("A session takes the process in reserve, unless that one has ended")
    func reserve() async throws {
      let plan = try WorkerPlan(LiveConfiguration(input: .published(PublishedFeed()), outputs: []))
      let reserve = WorkerReserve(ServiceProcess.program)
      var processes = [try reserve.begin(plan).process]
      for isKilled in [false, true] {
        #expect(try await waitUntil { reserve.spare.withLock { $0 != nil } })
        let spare = try #require(reserve.spare.withLock { $0?.process })
        if isKilled {
          spare.send(SIGKILL)
          _ = spare.waitForEnd()
        }
        processes.append(try reserve.begin(plan).process)
        #expect((processes.last?.id == spare.id) != isKilled)
      }
      // Their connections are closed.
      for process in processes { #expect(process.wait().signal == 0) }
    }

    @Test("Three deaths at the same place are the end of the session")
    func deaths() async throws {
      let service = try await Self.service()
      let port = try Loopback.freeTCPPort()
      _ = try await service.session("one", at: port)
      // A change needs the process.
      let change = try await service.ask(
        "PATCH", "/v1/sessions/one", "{\"options\": {\"fit\": \"blur\"}}")
      #expect(change.status == 200, "\(change.text)")
      for _ in 0..<3 {
        #expect(try await waitUntil { !Self.workers().isEmpty })
        for worker in Self.workers() { kill(worker, SIGKILL) }
        #expect(try await waitUntil { Self.workers().isEmpty || Self.workers().count == 1 })
        try await Task.sleep(for: .milliseconds(500))
      }
      #expect(try await waitUntil { try await Self.state(service, "one") == "failed" })
      let reason = try await service.state("one")["reason"].string ?? ""
      #expect(reason.contains("3 times at the same place"), "\(reason)")
      try await service.shutDown()
    }

    @Test("Media time, the policy and the priority go on, and an output that was stopped stays so")
    func memory() async throws {
      let service = try await Self.service()
      let port = try Loopback.freeTCPPort()
      let address = try await service.session(
        "one", at: port, outputs: "{\"type\": \"hls\"}, {\"type\": \"file\", \"name\": \"a.mp4\"}",
        more: ", \"priority\": \"low\"")
      let clip = service.scratch.path("clip.flv")
      try DrawnClock.clip(clip, rate: 25, seconds: 40)
      let publisher = try Publisher(clip: clip, to: address)
      #expect(try await service.waitForFrames(25, of: "one"))
      _ = try await service.turn("one", "landscapeLeft")
      #expect(
        try await service.ask("POST", "/v1/sessions/one/outputs/file/stop").status == 200)
      let before = try await service.state("one")["appOrientation"].string
      let seconds = try await service.state("one")["seconds"].double ?? 0
      let ahead = "{\"device\": \"portrait\", \"at\": \(seconds + 6)}"
      #expect(
        try await service.ask("POST", "/v1/sessions/one/events", ahead).status == 200)
      for worker in Self.workers() { kill(worker, SIGSEGV) }
      #expect(
        try await waitUntil { try await service.state("one")["counters"]["restarts"].int == 1 })
      #expect(try await waitUntil { try await Self.state(service, "one") == "live" })
      #expect(
        try await waitUntil { try await service.state("one")["appOrientation"].string == before })
      #expect(
        try await waitUntil {
          try await service.state("one")["outputs"].array.map { $0["state"].string }
            == ["live", "stopped"]
        })
      #expect(Self.workers().map { getpriority(__priority_which_t(0), id_t($0)) } == [13])
      let later = try await service.state("one")
      #expect(
        try await waitUntil {
          try await service.state("one")["appOrientation"].string == "portrait"
        })
      let turned = try await service.state("one")["seconds"].double ?? 0
      #expect(later["appOrientation"].string == before)
      #expect((seconds - 2...seconds + 6).contains(later["seconds"].double ?? 0), "\(later)")
      #expect((seconds + 6...seconds + 8).contains(turned), "\(seconds), \(turned)")
      publisher.kill()
      try await service.shutDown()
    }
  }
}
