import Foundation
import Testing
import UprightTestSupport

@Suite("upright explain")
struct ExplainTests {
  private static func sample(_ name: String) -> String {
    Fixtures.packageRoot.appendingPathComponent("Samples/policies/\(name)").path
  }

  private static let tabs = [
    "--policy", sample("tabs.json"), "--events", sample("tabs.jsonl"),
  ]

  @Test("--why: a paragraph for the start and for each event, with rule, masks and path")
  func why() throws {
    let run = try Upright.run(["explain", "--why"] + Self.tabs)
    #expect(run.status == 0)
    #expect(run.warnings.count == 1 && run.lines.count == 1)
    let paragraphs = run.text.components(separatedBy: "\n\n")
    #expect(paragraphs.count == 20)
    #expect(paragraphs[0].hasPrefix("start    portrait\n    `list` decides, asked through"))
    #expect(
      paragraphs[1] == """
        1.000 s  device landscapeLeft -> refuse: autorotationDisabled
            Rule 5 of automatic rotation: `list` answers no to shouldAutorotate. `list` decides, asked
            through `tabs` > `live`: it supports portrait; the application allows all but upside down; both
            allow portrait.
        """)
    #expect(paragraphs[7].contains("The rotation ends at") && paragraphs[7].contains("(didRotate)"))
    #expect(
      run.text.split(separator: "\n").allSatisfy { $0.count <= 100 && !$0.hasSuffix(" ") })
  }

  @Test("An aligned table with a start row")
  func table() throws {
    let run = try Upright.run(["explain"] + Self.tabs)
    let rows = run.text.split(separator: "\n")
    #expect(rows.count == 21)
    let column = rows[0].distance(
      from: rows[0].startIndex, to: try #require(rows[0].range(of: "app orientation")).lowerBound)
    for row in rows.dropFirst() {
      let cell = row.dropFirst(column)
      #expect(cell.hasPrefix("portrait") || cell.hasPrefix("landscape"), "\(row)")
    }
  }

  @Test("--json has the documented form and order of keys")
  func json() throws {
    let run = try Upright.run(["explain", "--json"] + Self.tabs)
    let schema = try JSONSchema(text: Upright.run(["schema", "report"]).text)
    #expect(schema.fault(in: run.json) == nil)
    #expect(run.json["events"].array.count == 19)
    let keys = [
      "at", "event", "decision", "reason", "target", "from", "to", "allowed", "phases",
    ]
    let text = run.text[...]
    let entry = try #require(text.range(of: "\"at\": 2.0"))
    var place = entry.lowerBound
    for key in keys {
      let next = try #require(text[place...].range(of: "\"\(key)\":"), "\(key)")
      place = next.upperBound
    }
  }

  @Test("--gravity selects the constants")
  func gravity() throws {
    let scratch = try Scratch()
    // 60 degrees from portrait: inside Android's gap, beyond iio's threshold.
    let lines = (0..<40).map {
      #"{"at": \#(Double($0) / 20), "gravity": [-0.866, -0.5, 0]}"# + "\n"
    }
    let events = try scratch.file("tilted.jsonl", lines.joined())
    var turns: [Int] = []
    for name in ["android", "iio"] {
      let run = try Upright.run(
        ["explain", "--json", "--gravity", name, "--events", events])
      turns.append(run.json["events"].array.count { $0["decision"].string == "rotate" })
    }
    #expect(turns == [0, 1])
  }

  @Test("64: options that exclude each other, and invalid values")
  func usage() throws {
    let scratch = try folderWithOutput()
    try refuse(64, ["explain", "--json", "--why"], "--why", in: scratch)
    try refuse(64, ["explain", "--gravity", "moon"], "gravity", in: scratch)
  }
}
