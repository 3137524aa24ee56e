import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightTestSupport

/// The policies in Samples, with their expected decisions.
enum SamplePolicies {
  static let folder = Fixtures.packageRoot.appendingPathComponent("Samples/policies")

  /// The names of all policies.
  static let all: [String] = names(suffix: ".json").filter { !$0.hasSuffix(".expected") }
  /// The names of the policies with events.
  static let withEvents = names(suffix: ".jsonl")

  private static func names(suffix: String) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) }.sorted()
  }

  static func bytes(_ file: String) throws -> Data {
    try Data(contentsOf: folder.appendingPathComponent(file))
  }

  static func plan(_ name: String) throws -> OrientationPlan {
    try OrientationPlan(
      PolicyDocument(json: bytes("\(name).json")),
      events: RotationEvent.parse(jsonLines: bytes("\(name).jsonl")))
  }
}

@Suite("Sample policies") struct SampleTests {
  @Test("All documented samples exist") func present() {
    let promised = [
      "tabs", "showing-1-nothing-in-common", "showing-2-preferred-all-the-same",
      "showing-3-preferred-not-supported", "showing-4-preferred-not-supported", "showing-5-shown",
      "locked-in-landscape", "locked-in-landscape-ignoring", "manual-only", "full-screen-and-stay",
    ]
    #expect(Set(promised).isSubset(of: SamplePolicies.withEvents))
    #expect(Set(SamplePolicies.withEvents).isSubset(of: SamplePolicies.all))
  }

  @Test("The README lists every sample") func readme() throws {
    let text = try String(
      contentsOf: Fixtures.packageRoot.appendingPathComponent("Samples/README.md"),
      encoding: .utf8)
    for name in SamplePolicies.withEvents { #expect(text.contains("| `\(name)` |"), "\(name)") }
  }

  @Test("Every policy starts", arguments: SamplePolicies.all) func starts(name: String) throws {
    _ = try RotationReducer(PolicyDocument(json: SamplePolicies.bytes("\(name).json")))
  }

  @Test("The decisions are the expected ones", arguments: SamplePolicies.withEvents)
  func pinned(name: String) throws {
    let plan = try SamplePolicies.plan(name)
    let expected = try JSONDecoder().decode(
      JSON.self, from: SamplePolicies.bytes("\(name).expected.json"))
    #expect(plan.entries.first?.from.name == expected["start"].string)
    let rows = expected["decisions"].array
    #expect(rows.count == plan.entries.count)
    for (entry, row) in zip(plan.entries, rows) {
      let found: JSON = .object([
        "at": .number(entry.at), "decision": .string(entry.outcome.rawValue),
        "reason": entry.reason.map { .string($0) } ?? .null, "from": .string(entry.from.name),
        "to": .string(entry.to.name),
      ])
      #expect(found == row, "at \(entry.at)")
    }
  }

  @Test("The two policies locked in landscape differ in one word") func lockedInLandscape()
    throws
  {
    let plain = try SamplePolicies.plan("locked-in-landscape").entries.map(\.short)
    let ignoring = try SamplePolicies.plan("locked-in-landscape-ignoring").entries.map(\.short)
    #expect(plain[1] == "rotate portrait")
    #expect(ignoring[1] == "refuse applicationInactive")
    #expect(plain[2...] == ignoring[2...])
  }
}
