import Foundation
import Testing
import UprightTestSupport

/// Foundation and ICU, its tables of languages, are most of a program's bytes.
@Suite("The engine without Foundation")
struct FoundationTests {
  private static let libraries = [
    "libFoundation.so", "lib_FoundationICU.so", "libFoundationInternationalization.so",
  ]

  @Test("No source of the engine imports Foundation")
  func imports() throws {
    let imports = try SourceFile.all(in: ["Sources"]).flatMap { file in
      file.lines.filter { $0.contains("import Foundation") }.map { "\(file.path): \($0)" }
    }
    #expect(imports.isEmpty, "\(imports)")
  }

  @Test("upright needs neither Foundation nor ICU", .enabled(if: ExternalTool("readelf").isHere))
  func program() throws {
    let path = CommandLineProgram.path
    let needed = try ExternalTool("readelf").run(["--dynamic", "--wide", path]).text
    #expect(needed.contains("(NEEDED)"))
    for library in Self.libraries { #expect(!needed.contains("[\(library)]"), "\(needed)") }
  }
}
