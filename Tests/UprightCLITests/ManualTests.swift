import Foundation
import Testing
import UprightTestSupport

/// The manual pages that are installed beside the program.
@Suite("Manual pages") struct ManualTests {
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
    // The page of `serve` is that of upright-serve.
    let commands = help["subcommands"].array.filter {
      !["help", "serve"].contains($0["commandName"].string)
    }
    let names = commands.compactMap { $0["commandName"].string.map { "upright-\($0).1" } }
    #expect(Set(pages.keys) == Set(names + ["upright.1"]))
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
}
