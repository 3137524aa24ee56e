import Foundation
import Testing
import UprightServiceTestSupport

@testable import UprightMedia
@testable import UprightService

/// Players with low latency in a process of their own, which wait for parts that the test publishes.
@Suite(
  "Blocked players", .enabled(if: ExternalTool("cc").isHere, "needs a C compiler"), .realTime)
struct BlockedPlayersTests {
  private static let players = 1000
  private static let parts = 6

  /// An edition with the given number of parts of segment 5, as long as that of a real stream.
  private static func edition(parts: Int, isEnded: Bool = false) -> HLSOrigin.Edition {
    var text = "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:4\n" + String(repeating: "#\n", count: 1000)
    text += "#EXTINF:2.0,\n4.m4s\n"
    for part in 0..<parts { text += "#EXT-X-PART:DURATION=0.3,URI=\"5.\(part).m4s\"\n" }
    if isEnded { text += "#EXT-X-ENDLIST\n" }
    return .init(
      text: text, lastSegment: 4, lastPart: .init(segment: 5, index: parts - 1),
      hint: isEnded ? nil : "5.\(parts).m4s", targetDuration: 2, partTarget: 0.334,
      isEnded: isEnded)
  }

  /// The wall clock, in seconds.
  private static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// The time of each answer is measured by `make bench-live`. Costs 5 seconds.
  @Test("A thousand players wait for each part, and every one gets it")
  func crowd() async throws {
    var files = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    files.rlim_cur = files.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)

    let service = try await RunningService { configuration, _ in
      configuration.maxConnections = 2 * Self.players + 50
    }
    let made = try await service.session("one", ", \"latency\": \"low\"")
    #expect(made.status == 201, "\(made.text)")
    let origin = try #require(service.service.sessions.find("one").origin)
    origin.publish(Self.edition(parts: 1), as: "index.m3u8")
    let program = service.scratch.path("players")
    let source = Fixtures.packageRoot.appendingPathComponent("Tests/Players/blocked_players.c")
    try ExternalTool("cc").run(["-O2", "-Wall", "-Wextra", "-Werror", "-o", program, source.path])
    let port = try #require(service.service.port)
    async let played = RunningService.onThread {
      try ExternalTool(program).run(
        ["\(port)", "/live/one/index.m3u8", "\(Self.players)", "60"]
      ).output
    }
    var published: [Double] = []
    for part in 1...Self.parts {
      try #require(
        try await waitUntil { origin.waiting == Self.players }, "\(origin.waiting)")
      published.append(Self.now)
      origin.publish(
        Self.edition(parts: part + 1, isEnded: part == Self.parts), as: "index.m3u8")
    }
    let found = try JSONDecoder().decode(JSON.self, from: await played)
    #expect(found["failed"].int == 0, "\(found["failure"])")
    #expect(found["answers"].int == Self.players * Self.parts)
    let all = found["parts"].array
    try #require(all.count == Self.parts)
    for (index, (part, published)) in zip(all, published).enumerated() {
      #expect(part[0].int == 5 && part[1].int == index + 1 && part[2].int == Self.players)
      let (first, last) = (part[3].double ?? 0, part[4].double ?? .infinity)
      #expect(
        first > published && last < published + 20, "\(first - published) to \(last - published) s")
      print("part \(index + 1): from \(first - published) to \(last - published) s after it")
    }
    #expect(origin.waiting == 0)
    try await service.shutDown()
  }
}
