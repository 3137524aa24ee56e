import Testing
import UprightPolicy
import UprightServiceTestSupport

@testable import UprightService

/// The share of the processors above which no session begins.
@Suite struct ProcessorLoadTests {
  private static let start = ContinuousClock.now

  /// A sample at `second` on a machine of four processors.
  private static func sample(_ second: Double, own: Double, used: Double) -> ProcessorLoad.Sample {
    .init(at: start + .seconds(second), own: own, machine: (used: used, total: 4 * second))
  }

  @Test("The load is that of the last seconds, and the larger one of two shares")
  func shares() {
    // Two of four processors are the service's; first it is idle.
    let samples = [
      Self.sample(0, own: 0, used: 0), Self.sample(10, own: 10, used: 12),
      Self.sample(12, own: 13, used: 18),
    ]
    let all = ProcessorLoad.shares(samples, of: 2)
    #expect(abs(all.own - 13.0 / 24) < 1e-9 && abs(all.machine - 18.0 / 48) < 1e-9)
    let last = ProcessorLoad.shares(Array(samples.dropFirst()), of: 2)
    #expect(abs(last.own - 0.75) < 1e-9 && abs(last.machine - 0.75) < 1e-9)
    #expect(ProcessorLoad.shares([], of: 2) == (0, 0))
    #expect(ProcessorLoad.shares([samples[0]], of: 2) == (0, 0))
    // Counts that go back, as of a process that the kernel has forgotten, are no load.
    #expect(ProcessorLoad.shares([samples[2], Self.sample(13, own: 1, used: 2)], of: 2) == (0, 0))
  }

  @Test("Above the limit a session is refused, and goes on to be until the load has fallen")
  func limit() throws {
    let load = ProcessorLoad(limit: 0.8, processors: 4) { nil }
    // Nothing is known yet.
    try load.admit(running: 0, at: Self.start)
    for second in 0...6 {
      load.add(Self.sample(Double(second), own: 2 * Double(second), used: 3 * Double(second)))
    }
    try load.admit(running: 4, at: Self.start + .seconds(6))
    for second in 7...12 {
      load.add(Self.sample(Double(second), own: 2 * Double(second), used: 4 * Double(second) - 6))
    }
    let problem = #expect(throws: Problem.self) {
      try load.admit(running: 5, at: Self.start + .seconds(12))
    }
    #expect(problem?.status.code == 503 && problem?.retryAfter == 10)
    for second in 13...18 {
      load.add(Self.sample(Double(second), own: 24, used: 42))
    }
    try load.admit(running: 5, at: Self.start + .seconds(18))
  }

  @Test("Sessions that begin at once count as the mean of those that run")
  func burst() throws {
    let load = ProcessorLoad(limit: 0.8, processors: 4) { nil }
    for second in 0...4 {
      load.add(Self.sample(Double(second), own: 2 * Double(second), used: 2 * Double(second)))
    }
    // Four sessions use half of the processors, so two more may come.
    let now = Self.start + .seconds(4)
    for running in 4...6 { try load.admit(running: running, at: now) }
    #expect(throws: Problem.self) { try load.admit(running: 7, at: now) }
    // Without a limit nobody is refused.
    let free = ProcessorLoad(limit: 1, processors: 4) { nil }
    for second in 0...4 {
      free.add(Self.sample(Double(second), own: 4 * Double(second), used: 4 * Double(second)))
    }
    for running in 0...100 { try free.admit(running: running, at: now) }
  }

  @Test("Time of programs with a lower priority, idle time and waiting for disks are free")
  func machine() throws {
    let text = "cpu  100 50 30 400 20 3 7 10 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n"
    let read = try #require(ProcessorLoad.Sample.machine(text, ticks: 10))
    #expect(abs(read.used - 15) < 1e-9 && abs(read.total - 62) < 1e-9)
    for other in ["", "cpu\n", "cpu0 1 2 3 4 5 6 7 8\n", "intr 1 2 3 4 5 6 7 8\n"] {
      #expect(ProcessorLoad.Sample.machine(other, ticks: 10) == nil, "\(other)")
    }
    let now = try #require(ProcessorLoad.Sample.current)
    #expect(now.own > 0 && now.machine.used > 0 && now.machine.total > now.machine.used)
    #expect(ProcessorLoad.processors > 0)
  }

  @Test("The API answers 503 with Retry-After, and sessions of the configuration are started")
  func service() async throws {
    let port = try Loopback.freeTCPPort()
    let service = try await RunningService { configuration, dependencies in
      configuration.maxLoad = 0.5
      configuration.sessions = [
        [
          "name": "own", "input": ["url": .string("rtmp://127.0.0.1:\(port)/live/key-of-own")],
        ]
      ]
      dependencies.loadSample = {
        let all = Self.start.duration(to: .now) / .seconds(1)
        return .init(at: .now, own: 0, machine: (used: all, total: all))
      }
    }
    var refused: Answer?
    #expect(
      try await waitUntil {
        let answer = try await service.session("late")
        if answer.status == 201 { _ = try await service.ask("DELETE", "/v1/sessions/late") }
        refused = answer
        return answer.status == 503
      })
    #expect(refused?.headers["retry-after"] == "10")
    #expect(refused?.json["detail"].string?.contains("100 %") == true, "\(refused?.text ?? "")")
    #expect(try await service.ask("GET", "/v1/sessions/own").status == 200)
    try await service.shutDown()
  }
}
