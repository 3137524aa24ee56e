import Foundation
import Testing
import UprightTestSupport

@Suite("Invalid events and policies")
struct EventsAndPolicyTests {
  @Test(
    "65: the error of an invalid event has the file and the line", .long,
    arguments: [
      (
        #"{"at": 2, "device": "portrait"}"# + "\n" + #"{"at": 1, "device": "portrait"}"#, 2,
        "backwards"
      ),
      (#"{"at": 1, "device": "landscapeLeftt"}"#, 1, "landscapeLeft"),
      (#"{"at": 1, "devise": "portrait"}"#, 1, "device"),
      (#"{"at": NaN, "device": "portrait"}"#, 1, "NaN"),
      (#"{"at": -1, "device": "portrait"}"#, 1, "-1"),
      (#"{"at": 1e400, "device": "portrait"}"#, 1, ""),
      (#"{"at": "1", "device": "portrait"}"#, 1, "at"),
      (#"{"device": "portrait"}"#, 1, "at"),
      (#"{"at": 1}"#, 1, "has no action"),
      (#"{"at": 1, "device": 7}"#, 1, "device"),
      (#"{"at": 1, "device": "portrait", "lock": true}"#, 1, "lock"),
      (#"{"at": 1, "lock": "yes"}"#, 1, "lock"),
      (#"{"at": 1, "gravity": [0, 1]}"#, 1, "gravity"),
      (#"{"at": 1, "gravity": [0, "down", 1]}"#, 1, "gravity"),
      (#"{"at": 1, "rotate": "faceUp"}"#, 1, "rotate"),
      (#"{"at": 1, "present": "nobody"}"#, 1, "nobody"),
      (#"{"at": 1, "push": "nobody"}"#, 1, "onto"),
      ("portrait at three", 1, ""),
      ("\n\n[1, 2]", 3, ""),
      (#"{"at": 1, "device": "portrait""#, 1, ""),
      ("\u{0}\u{1}\u{2}", 1, ""),
    ])
  func events(_ text: String, _ line: Int, _ word: String) throws {
    let scratch = try folderWithOutput()
    let events = try scratch.file("turns.jsonl", text)
    let place = "\(events), line \(line)"
    try refuse(
      65, ["transcode", Clip.lying, "--events", events, "-o", scratch.path("out.mp4"), "-y"],
      place, word.isEmpty ? place : word, in: scratch)
    try refuse(65, ["explain", "--events", events], place, in: scratch)
  }

  @Test("65: the same on standard input")
  func liveEvents() throws {
    let scratch = try folderWithOutput()
    let text =
      Data(#"{"at": 0, "device": "portrait"}"#.utf8)
      + Data("\n{\"at\": 0.1, \"device\": \"up\"}\n".utf8)
    try refuse(
      65, ["transcode", Clip.lying, "--events", "-", "-o", scratch.path("out.mp4"), "-y"],
      "standard input, line 2", in: scratch, input: .pipe(text))
  }

  @Test(
    "65: the error of an invalid policy has the file and the JSON path, before media are opened",
    .long,
    arguments: [
      (#"{"device": {"idiom": "fone"}}"#, "device.idiom"),
      (#"{"device": {"idiom": "fone"}}"#, "phone"),
      (#"{"device": {"rotationLock": "no"}}"#, "device.rotationLock"),
      (#"{"device": 7}"#, "device"),
      (#"{"divice": {}}"#, "device"),
      (#"{"controllers": {"a": {"supported": "portrait"}}}"#, "controllers.a.supported"),
      (#"{"controllers": {"a": {"supported": ["portrait", 3]}}}"#, "controllers.a.supported[1]"),
      (#"{"controllers": {"a": {"supported": ["landscap"]}}}"#, "landscape"),
      (#"{"controllers": {"a": {"preferred": ["portrait"]}}}"#, "controllers.a.preferred"),
      (#"{"controllers": {"a": {}, "b": {}}}"#, "root"),
      (#"{"root": "nobody", "controllers": {"a": {}}}"#, "nobody"),
      (#"{"root": "a", "controllers": {"a": {"kind": "navigation", "children": ["a"]}}}"#, "a"),
      (#"{"transition": {"duration": -1}}"#, "transition.duration"),
      (#"{"stream": {"size": "721x1280"}}"#, "720x1280"),
      (
        #"{"application": {"delegate": ["landscape"]}, "controllers": {"a": {"supported": ["portrait"]}}}"#,
        "no common orientation"
      ),
      ("[]", ""), ("", ""), ("{", "line 1"), ("not JSON", "line 1"),
    ])
  func policy(_ text: String, _ word: String) throws {
    let scratch = try folderWithOutput()
    let policy = try scratch.file("policy.json", text)
    // The input is missing too, but the policy is checked first.
    try refuse(
      65,
      [
        "transcode", scratch.path("gone.mp4"), "--policy", policy, "-o", scratch.path("out.mp4"),
        "-y",
      ],
      policy, word.isEmpty ? policy : word, in: scratch)
    try refuse(65, ["explain", "--policy", policy], policy, in: scratch)
  }

  @Test("A policy for which UIKit would raise an exception is refused with UIKit's message")
  func invalidAtLoad() throws {
    let scratch = try folderWithOutput()
    let policy = try scratch.file(
      "p.json",
      #"{"application": {"delegate": ["landscape"]}, "controllers": {"a": {"supported": ["portrait"]}}}"#
    )
    try refuse(
      65, ["explain", "--policy", policy],
      "Supported orientations has no common orientation with the application, and [a shouldAutorotate] is returning YES",
      in: scratch)
  }

  @Test("Every built-in policy is listed, and its printed JSON is accepted", .long)
  func builtIns() throws {
    let scratch = try Scratch()
    let list = try Upright.run(["policies"])
    #expect(list.status == 0 && list.errors.isEmpty)
    let names = list.text.split(separator: "\n").compactMap {
      $0.split(separator: " ").first.map(String.init)
    }
    #expect(names == ["phone", "pad", "portrait", "landscape", "fullscreen-player", "manual"])
    for name in names {
      let printed = try Upright.run(["policies", name])
      #expect(printed.status == 0 && !printed.json.object.isEmpty)
      let file = try scratch.file("\(name).json", printed.output)
      let byName = try Upright.run(["explain", "--policy", name, "--events", Clip.turns, "--json"])
      let byFile = try Upright.run(["explain", "--policy", file, "--events", Clip.turns, "--json"])
      #expect(byName.status == 0 && byName.output == byFile.output)
    }
  }

  @Test("explain prints a table, and arrays with --json")
  func explain() throws {
    let table = try Upright.run(["explain", "--events", Clip.turns])
    #expect(table.status == 0 && table.errors.isEmpty)
    let rows = table.text.split(separator: "\n")
    #expect(rows.count == 5)
    #expect(rows[0].hasPrefix("time") && rows[0].contains("decision"))
    #expect(rows[3].contains("landscapeRight") && rows[3].contains("1280x720"))
    let machine = try Upright.run(
      ["explain", "--json", "--events", "-"], input: .pipe(try bytes(Clip.turns)))
    #expect(Set(machine.json.object.keys) == ["events", "formats"])
    #expect(
      machine.json["events"].array.map { $0["decision"].string } == ["keep", "rotate", "rotate"])
    #expect(machine.json["formats"].array.count == 3)
    for format in machine.json["formats"].array {
      #expect(
        Set(format.object.keys) == [
          "from", "appOrientation", "captureResolution", "encodeResolution",
        ])
    }
  }

  @Test("explain --json of many events has constant memory", .long)
  func many() throws {
    let script = """
      set -o pipefail; ulimit -d 150000
      awk 'BEGIN { for (i = 0; i < 200000; i++)
        printf "{\\"at\\": %d, \\"device\\": \\"%s\\"}\\n", i, i % 2 ? "portrait" : "landscapeLeft" }' |
        "$1" explain --json --events - | grep -c '"decision": "rotate"'
      """
    let run = try ExternalTool("/usr/bin/env").outcome(
      ["bash", "-c", script, "-", CommandLineProgram.path])
    #expect(run.status == 0 && run.text == "200000\n", "\(run.text) \(run.errors)")
  }
}
