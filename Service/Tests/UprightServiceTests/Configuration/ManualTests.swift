import Foundation
import Testing
import UprightServiceTestSupport

/// What is installed beside the service: its manual pages, and the configuration.
@Suite("Manual pages and the configuration") struct ManualTests {
  private static let groff = ExternalTool("groff")
  private static let program = Fixtures.buildFolder.appendingPathComponent("upright-serve").path

  private static func pages(_ scratch: Scratch) throws -> [String: String] {
    let script = Fixtures.packageRoot.appendingPathComponent("Scripts/man.py").path
    try ExternalTool("python3").run([script, program, scratch.path("man")])
    var pages: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: scratch.path("man")) {
      pages[name] = try String(contentsOfFile: scratch.path("man/" + name), encoding: .utf8)
    }
    return pages
  }

  private static func run(_ arguments: [String]) throws -> ExternalTool.Outcome {
    try ExternalTool(program).outcome(arguments)
  }

  private static func file(_ scratch: Scratch, _ data: Data) throws -> String {
    try data.write(to: URL(fileURLWithPath: scratch.path("upright.json")))
    return scratch.path("upright.json")
  }

  @Test(
    "The program and its configuration have pages, and roff has no warning",
    .enabled(if: groff.isHere))
  func roff() throws {
    let scratch = try Scratch()
    let pages = try Self.pages(scratch)
    #expect(Set(pages.keys) == ["upright-serve.1", "upright.json.5"])
    for (name, page) in pages {
      for section in ["NAME", "DESCRIPTION"] {
        #expect(page.contains("\n.SH \(section)\n"), "\(name)")
      }
      let run = try Self.groff.run(["-man", "-Tutf8", "-ww", "-z", scratch.path("man/" + name)])
      #expect(run.errors.isEmpty, "\(name): \(run.errors)")
    }
  }

  @Test("A page is printed as it is in the help", .enabled(if: groff.isHere))
  func text() throws {
    let scratch = try Scratch()
    _ = try Self.pages(scratch)
    let printed = try Self.groff.run(
      ["-man", "-Tascii", "-P-cbou", "-rLL=200n", scratch.path("man/upright-serve.1")]).text
    for line in [
      "--token-file file", "drainTimeout (UPRIGHT_DRAIN_TIMEOUT)", ".upright/token",
      "\"outputs\": [ { \"type\": \"hls\" } ],",
      "UPRIGHT_TOKEN=... upright serve --listen 0.0.0.0:8080 --data /var/lib/upright",
      "64     An option or an argument is invalid.",
    ] {
      #expect(printed.split(separator: "\n").contains { $0.drop { $0 == " " } == line }, "\(line)")
    }
  }

  @Test("--print-config prints the settings in effect, which --config reads without a message")
  func configuration() throws {
    let scratch = try Scratch()
    let first = try Self.run(["--data", "/var/lib/upright", "--print-config"])
    #expect(first.status == 0 && first.errors.isEmpty)
    let json = try JSONDecoder().decode(JSON.self, from: first.output)
    #expect(json["data"].string == "/var/lib/upright")
    #expect(json["// listen"].string?.isEmpty == false)
    let file = try Self.file(scratch, first.output)
    let second = try Self.run(["--config", file, "--print-config"])
    #expect(second.status == 0 && second.errors.isEmpty && second.output == first.output)
  }

  @Test("78: the error of an invalid template has its place in the configuration")
  func template() throws {
    let scratch = try Scratch()
    let file = try Self.file(
      scratch,
      Data(
        """
        {"data": "\(scratch.path("data"))", "sessions": [
          {"name": "stage", "input": {"url": "file:a.mp4"}}, {"name": "live/**"}]}
        """.utf8))
    let run = try Self.run(["--config", file])
    #expect(
      run.status == 78 && run.errors.contains("upright.json, sessions[1].name"), "\(run.errors)")
  }
}
