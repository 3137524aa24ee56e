import Foundation
import Testing
import UprightTestSupport

/// What is installed beside the program: manual pages, completions, and the configuration.
@Suite("Manual pages and other installed files")
struct ManualTests {
  private static let groff = ExternalTool("groff")
  private static let script = Fixtures.packageRoot.appendingPathComponent("Scripts/man.py").path

  private static func pages(_ scratch: Scratch) throws -> [String: String] {
    try ExternalTool("python3").run([script, CommandLineProgram.path, scratch.path("man")])
    var pages: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: scratch.path("man")) {
      pages[name] = try String(contentsOfFile: scratch.path("man/" + name), encoding: .utf8)
    }
    return pages
  }

  @Test(
    "Every command has a page with its options, and roff has no warning", .enabled(if: groff.isHere)
  )
  func pages() throws {
    let scratch = try Scratch()
    let pages = try Self.pages(scratch)
    let help = try Upright.run(["--experimental-dump-help"]).json["command"]
    let commands = help["subcommands"].array.filter { $0["commandName"].string != "help" }
    let names = commands.compactMap { $0["commandName"].string.map { "upright-\($0).1" } }
    #expect(Set(pages.keys) == Set(names + ["upright.1", "upright.json.5"]))
    for (command, page) in zip(commands, names) {
      for argument in command["arguments"].array where argument["shouldDisplay"].bool != false {
        let name = argument["preferredName"]["name"].string ?? argument["valueName"].string ?? ""
        let roff = name.replacing("-", with: "\\-")
        #expect(pages[page]?.contains(roff) == true, "\(name) isn't in \(page)")
      }
      for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "\"EXIT STATUS\"", "EXAMPLES"] {
        #expect(pages[page]?.contains("\n.SH \(section)\n") == true, "\(page) has no \(section)")
      }
    }
    for name in pages.keys {
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
    let first = try Upright.run(["serve", "--data", "/var/lib/upright", "--print-config"])
    #expect(first.status == 0 && first.errors.isEmpty)
    #expect(first.json["data"].string == "/var/lib/upright")
    #expect(first.json["// listen"].string?.isEmpty == false)
    let file = try scratch.file("upright.json", first.output)
    let second = try Upright.run(["serve", "--config", file, "--print-config"])
    #expect(second.status == 0 && second.errors.isEmpty && second.output == first.output)
  }

  @Test("78: the error of an invalid template has its place in the configuration")
  func template() throws {
    let scratch = try Scratch()
    let file = try scratch.file(
      "upright.json",
      Data(
        """
        {"data": "\(scratch.path("data"))", "sessions": [
          {"name": "stage", "input": {"url": "file:a.mp4"}}, {"name": "live/**"}]}
        """.utf8))
    let run = try Upright.run(["serve", "--config", file])
    #expect(
      run.status == 78 && run.errors.contains("upright.json, sessions[1].name"), "\(run.errors)")
  }
}
