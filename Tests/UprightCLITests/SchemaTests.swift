import Foundation
import Testing
import UprightTestSupport

@Suite("upright schema")
struct SchemaTests {
  @Test("The list of schemas")
  func list() throws {
    let run = try Upright.run(["schema"])
    #expect(run.status == 0 && run.errors.isEmpty)
    let names = run.text.split(separator: "\n").map { $0.prefix { $0 != " " } }
    #expect(names == ["policy", "events", "report", "plan", "check"])
  }

  @Test(
    "Each is printed as JSON, with its identifier",
    arguments: ["policy", "events", "report", "plan", "check"])
  func print(name: String) throws {
    let run = try Upright.run(["schema", name])
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.json["$id"].string == "urn:upright:schema:\(name):1")
    _ = try JSONSchema(run.json)
  }

  @Test(
    "Each is the same as the file in Schemas",
    arguments: ["policy", "events", "report", "plan", "check"])
  func kept(name: String) throws {
    let file = Fixtures.packageRoot.appendingPathComponent("Schemas/\(name).schema.json")
    let kept = try String(contentsOf: file, encoding: .utf8)
    #expect(try Upright.run(["schema", name]).text == kept, "run make schemas")
  }

  @Test("Every built-in policy is valid", arguments: ["phone", "fullscreen-player", "manual"])
  func builtIn(name: String) throws {
    let schema = try JSONSchema(text: Upright.run(["schema", "policy"]).text)
    #expect(try schema.fault(in: Upright.run(["policies", name]).json) == nil)
  }

  @Test("The report of a transcode is valid")
  func report() throws {
    let scratch = try Scratch()
    let report = scratch.path("report.json")
    let run = try Upright.run(
      ["transcode"] + Clip.sensorRun + [
        "-o", scratch.path("out.mp4"), "--to", "4", "--report", report,
      ])
    #expect(run.status == 0)
    let schema = try JSONSchema(text: Upright.run(["schema", "report"]).text)
    #expect(try schema.fault(in: json(report)) == nil)
    #expect(try json(report)["events"].array.isEmpty == false)
  }

  @Test("64: an unknown schema")
  func unknown() throws {
    try refuse(
      64, ["schema", "polcy"], "polcy", "policy, events, report, plan, check",
      in: folderWithOutput())
  }
}
