import Foundation
import Testing
import UprightTestSupport

@Suite("upright policies migrate")
struct PoliciesTests {
  private static let old =
    Fixtures.packageRoot.appendingPathComponent("Samples/policies/ios5.json").path
  private static let events =
    Fixtures.packageRoot.appendingPathComponent("Samples/policies/ios5.jsonl").path

  @Test("The iOS 6 document is valid and gives the same decisions")
  func migrate() throws {
    let scratch = try Scratch()
    let run = try Upright.run(["policies", "migrate", Self.old])
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.json["semantics"].string == "ios6")
    #expect(run.json["controllers"]["navigation"]["authority"].string == "visibleChild")
    let schema = try JSONSchema(text: Upright.run(["schema", "policy"]).text)
    #expect(schema.fault(in: run.json) == nil)
    let new = try scratch.file("new.json", run.output)
    let decisions = try [Self.old, new].map { policy in
      try Upright.run(["explain", "--json", "--policy", policy, "--events", Self.events]).json
    }
    #expect(decisions[0] == decisions[1])
  }

  @Test("Properties that can't be migrated are warnings, on standard error only")
  func warnings() throws {
    let scratch = try Scratch()
    let policy = try scratch.file(
      "old.json",
      """
      {"semantics": "ios5", "device": {"orientation": "faceUp"}, "root": "a",
       "application": {"infoPlist": ["landscape"]},
       "controllers": {"a": {"accepts": ["all"]}, "b": {"accepts": []}}}
      """)
    let run = try Upright.run(["policies", "migrate", policy])
    #expect(run.status == 0)
    #expect(run.warnings.count == 2 && run.lines.count == 2)
    #expect(run.errors.contains("\"b\" accepts no orientation"))
    #expect(run.errors.contains("started in landscapeRight, now it starts in portrait"))
    #expect(run.json["controllers"]["b"]["shouldAutorotate"].bool == false)
    let again = try Upright.run(
      ["policies", "migrate", scratch.file("new.json", run.output)])
    #expect(again.output == run.output && again.warnings.count == 1)
  }

  @Test("Errors: no file, a missing file, an invalid document")
  func errors() throws {
    let scratch = try folderWithOutput()
    try refuse(64, ["policies", "migrate"], "migrate FILE", in: scratch)
    try refuse(64, ["policies", "phone", "extra"], "extra", in: scratch)
    try refuse(66, ["policies", "migrate", scratch.path("gone.json")], "gone.json", in: scratch)
    let bad = try scratch.file("bad.json", #"{"semantics": "ios5", "controlers": {}}"#)
    try refuse(65, ["policies", "migrate", bad], bad, "controllers", in: scratch)
    let stuck = try scratch.file(
      "stuck.json", #"{"semantics": "ios5", "controllers": {"n": {"kind": "tab"}}}"#)
    try refuse(65, ["policies", "migrate", stuck], stuck, "controllers.n", in: scratch)
  }
}
