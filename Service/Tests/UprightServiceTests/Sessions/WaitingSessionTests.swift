import Foundation
import Testing
import Upright
import UprightOrientation
import UprightServiceTestSupport

@testable import UprightRTMP
@testable import UprightService

extension LivePublishing {
  @Suite("Sessions that wait for their first publisher")
  struct WaitingSessionTests {
    /// The workers of this process.
    private static func workers() -> Int {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
      return names.compactMap(pid_t.init).count { process in
        guard CommandLineProgram.isRunning(process, parent: getpid()),
          let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline")
        else { return false }
        return String(decoding: line, as: UTF8.self).contains(SessionWorker.option)
      }
    }

    @Test(
      "They have no process; events are kept, and the first frame of the first publisher is there")
    func asleep() async throws {
      let service = try await RunningService(
        make: RunningService.live(.process, RunningService.patient))
      let port = try Loopback.freeTCPPort()
      var addresses: [String] = []
      for index in 0..<10 {
        addresses.append(
          try await service.session(
            "s\(index)", at: port, more: ", \"options\": {\"segment\": 1, \"frames\": \"sensor\"}"))
      }
      #expect(Self.workers() == 0)
      let state = try await service.state("s0")
      #expect(state["state"].string == "waiting" && state["outputs"][0]["state"].string != "failed")
      let turn = try await service.ask(
        "POST", "/v1/sessions/s0/events", "{\"device\": \"landscapeLeft\"}")
      #expect(turn.status == 200 && turn.json["decisions"].array.isEmpty, "\(turn.text)")
      #expect(try await service.ask("GET", "/v1/sessions/s0/policy").status == 200)
      #expect(Self.workers() == 0)

      let clip = service.scratch.path("clip.flv")
      try DrawnClock.clip(clip, rate: 25, seconds: 6)
      let publisher = try Publisher(clip: clip, to: addresses[0])
      #expect(try await service.waitForFrames(75, of: "s0"))
      // One runs, and one may be in reserve.
      #expect((1...2).contains(Self.workers()))
      #expect(try await service.state("s0")["appOrientation"].string == "landscapeRight")
      #expect(try await service.state("s0")["counters"]["restarts"].int == 0)
      for index in 0..<10 {
        let ended = try await service.ask("DELETE", "/v1/sessions/s\(index)")
        #expect(ended.json["state"].string == "ended", "\(ended.text)")
      }
      publisher.kill()
      let scratch = try Scratch()
      let (path, _) = try await service.fetch("s0", into: scratch)
      let numbers = try DrawnClock.read(path).compactMap(\.number)
      #expect(numbers.first == 0, "\(numbers.prefix(3))")
      try await service.shutDown()
    }

    /// Costs five seconds.
    @Test("A change leaves no process, and holds for the first publisher")
    func changed() async throws {
      let service = try await RunningService(
        make: RunningService.live(.process, RunningService.patient))
      let port = try Loopback.freeTCPPort()
      let address = try await service.session("one", at: port)
      let changed = try await service.ask(
        "PATCH", "/v1/sessions/one", "{\"policy\": \"landscape\"}")
      #expect(changed.status == 200, "\(changed.text)")
      let added = try await service.ask(
        "POST", "/v1/sessions/one/outputs", "{\"type\": \"file\", \"name\": \"a.ts\"}")
      #expect(added.status == 201, "\(added.text)")
      let policy = try await service.ask("GET", "/v1/sessions/one/policy").json
      // The second process is the one in reserve.
      #expect(try await waitUntil { Self.workers() == 2 })
      #expect(try await waitUntil { Self.workers() == 1 })
      let waiting = try await service.state("one")
      #expect(waiting["outputs"].array.count == 2 && waiting["state"].string == "waiting")
      #expect(try await service.ask("GET", "/v1/sessions/one/policy").json == policy)
      let clip = service.scratch.path("clip.flv")
      try DrawnClock.clip(clip, rate: 25, seconds: 4)
      let publisher = try Publisher(clip: clip, to: address)
      #expect(try await service.waitForFrames(10, of: "one"), "\(service.log.lines.suffix(1000))")
      let live = try await service.state("one")
      #expect(live["outputs"].array.count == 2 && live["counters"]["restarts"].int == 0)
      #expect(live["appOrientation"].string == "landscapeRight", "\(live)")
      publisher.kill()
      try await service.shutDown()
    }

    /// Costs four seconds.
    @Test("A publisher that leaves before its first frame leaves no process, and no place is taken")
    func early() async throws {
      let service = try await RunningService(
        { configuration, _ in configuration.maxSessions = 1 },
        make: RunningService.live(.process, RunningService.patient))
      let port = try Loopback.freeTCPPort()
      var addresses: [String] = []
      for name in ["one", "two"] { addresses.append(try await service.session(name, at: port)) }
      let clip = service.scratch.path("clip.flv")
      try DrawnClock.clip(clip, rate: 25, seconds: 4)
      for times in 1...2 {
        let key = try #require(addresses[0].split(separator: "/").last)
        let (client, begin) = try await RTMPClient.publish(String(key), at: port)
        #expect(begin?.isStart == true, "\(String(describing: begin))")
        client.send(RTMPMessage(.audio, stream: 1, payload: [0xAF, 0, 0x11, 0x90]))
        client.leave()
        #expect(
          try await waitUntil {
            let said = service.log.lines.split(
              separator: "session one: waiting: the stream has no video")
            return said.count > times && Self.workers() <= 1
          }, "\(service.log.lines.suffix(1000))")
      }
      #expect(try await service.state("one")["state"].string == "waiting")
      // There is one place.
      let publisher = try Publisher(clip: clip, to: addresses[1])
      #expect(try await service.waitForFrames(10, of: "two"), "\(service.log.lines.suffix(1000))")
      publisher.kill()
      _ = try await service.ask("DELETE", "/v1/sessions/two")
      let again = try Publisher(clip: clip, to: addresses[0])
      #expect(try await service.waitForFrames(10, of: "one"), "\(service.log.lines.suffix(1000))")
      again.kill()
      try await service.shutDown()
    }
  }
}
