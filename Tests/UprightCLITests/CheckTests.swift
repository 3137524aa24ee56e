import Foundation
import Testing
import UprightTestSupport

/// `upright check`. Costs ten seconds, in which it sleeps.
@Suite("Playlists are checked on the command line")
struct CheckTests {
  private static let ended = """
    #EXTM3U
    #EXT-X-VERSION:3
    #EXT-X-TARGETDURATION:2
    #EXTINF:2,
    a.ts
    #EXTINF:1.5,
    b.ts
    #EXT-X-ENDLIST

    """

  @Test("A correct playlist: exit status 0")
  func correct() throws {
    let scratch = try Scratch()
    let path = try scratch.file("a.m3u8", Self.ended)
    let outcome = try Upright.run(["check", path])
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    // The segments aren't there.
    #expect(
      outcome.text.hasPrefix("no violation in the playlist\nthe media can't be checked: ")
        && outcome.text.contains("b.ts"), "\(outcome.text)")
    let json = try Upright.run(["check", path, "--json", "--reload", "5"])
    #expect(json.status == 0 && json.json["loads"].int == 1)
    #expect(json.json["violations"].array.isEmpty)
  }

  @Test("A violation is printed with its line, clause and rule: exit status 65")
  func violation() throws {
    let scratch = try Scratch()
    let path = try scratch.file("a.m3u8", Self.ended.replacing("#EXTINF:1.5", with: "#EXTINF:2.5"))
    let outcome = try Upright.run(["check", path])
    #expect(outcome.status == 65)
    #expect(
      outcome.text.hasPrefix("must: line 7: ")
        && outcome.text.hasSuffix("(RFC 8216, 4.3.3.1: target-duration)\n"), "\(outcome.text)")
    #expect(outcome.errors == "upright: error: a rule is violated: \(path)\n", "\(outcome.errors)")
    let json = try Upright.run(["check", path, "--json"])
    #expect(json.status == 65)
    let found = json.json["violations"].array
    #expect(found.count == 1 && found.first?["rule"].string == "target-duration", "\(json.text)")
    #expect(found.first?["line"].int == 7 && found.first?["level"].string == "must")
  }

  @Test("A recommendation that isn't followed: exit status 0")
  func recommendation() throws {
    let scratch = try Scratch()
    let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=2000\nv.m3u8\n"
    let outcome = try Upright.run(["check", try scratch.file("a.m3u8", master)])
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    #expect(outcome.text.hasPrefix("should: "), "\(outcome.text)")
  }

  @Test("A playlist that changes is loaded again and compared with what it was")
  func reload() async throws {
    let scratch = try Scratch()
    let live = Self.ended.replacing("#EXT-X-ENDLIST\n", with: "")
    let path = try scratch.file("a.m3u8", live)
    async let checked = Task.detached { try Upright.run(["check", path, "--reload", "30"]) }.value
    try await Task.sleep(for: .seconds(1.5))
    // A segment is replaced, which is against the rules, and the playlist ends.
    let changed = Self.ended.replacing("b.ts", with: "c.ts")
    try Data(changed.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    let outcome = try await checked
    #expect(outcome.status == 65)
    #expect(
      outcome.text.contains(/load [2-9], must: line 7: .*same-segments/), "\(outcome.text)")
  }

  @Test("A playlist that is away for a moment is loaded again; one that stays away is an error")
  func away() async throws {
    let scratch = try Scratch()
    let live = Self.ended.replacing("#EXT-X-ENDLIST\n", with: "")
    for comesBack in [true, false] {
      let path = try scratch.file("\(comesBack).m3u8", live)
      async let checked = Task.detached { try Upright.run(["check", path, "--reload", "30"]) }.value
      try await Task.sleep(for: .seconds(1))
      try FileManager.default.removeItem(atPath: path)
      try await Task.sleep(for: .seconds(2))
      if comesBack { _ = try scratch.file("\(comesBack).m3u8", Self.ended) }
      let outcome = try await checked
      #expect(outcome.status == (comesBack ? 0 : 66), "\(outcome.text) \(outcome.errors)")
      #expect(outcome.text.hasPrefix("no violation in ") == comesBack, "\(outcome.text)")
    }
  }

  @Test("Input that is no playlist, and wrong options")
  func refused() throws {
    let scratch = try Scratch()
    let text = try Upright.run(["check", try scratch.file("a.m3u8", "Hello\n")])
    #expect(text.status == 65 && text.text.contains(": header)"), "\(text.text)")
    let missing = try Upright.run(["check", scratch.path("none.m3u8")])
    #expect(missing.status == 66 && missing.lines.count == 1, "\(missing.errors)")
    let large = try scratch.file("large.m3u8", Data(count: (16 << 20) + 1))
    let refused = try Upright.run(["check", large])
    #expect(refused.status == 65 && refused.lines.count == 1, "\(refused.errors)")
    for seconds in ["-1", "nan", "1e9", "soon"] {
      try refuse(64, ["check", "a.m3u8", "--reload=\(seconds)"], "reload", in: scratch)
    }
  }
}
