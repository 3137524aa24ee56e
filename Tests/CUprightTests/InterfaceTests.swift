import Foundation
import Testing
import UprightTestSupport

@Suite("The C interface")
struct InterfaceTests {
  private static let fixtures = Fixtures.url("abi")

  @Test("The header is the checked-in one: the interface changes on purpose only")
  func header() throws {
    let fixture = try String(
      contentsOf: Self.fixtures.appendingPathComponent("upright-0.h"), encoding: .utf8)
    let header = try String(contentsOfFile: Compiled.header, encoding: .utf8)
    #expect(
      header == fixture,
      "if a program compiled earlier still runs, copy the header over the fixture; else raise the ABI's number"
    )
  }

  @Test(
    "The libraries export the functions of the header and nothing else",
    arguments: ["upright", "uprightpolicy"])
  func symbols(_ name: String) throws {
    let list = try String(
      contentsOf: Self.fixtures.appendingPathComponent("lib\(name)-0.txt"), encoding: .utf8)
    let text = try ExternalTool("nm").run([
      "-D", "--defined-only", "--format=posix", "\(Compiled.library)/lib\(name).so",
    ]).text
    let exported = text.split(separator: "\n").compactMap { $0.split(separator: " ").first }
      .map { $0.split(separator: "@")[0] }.filter { $0 != "UPRIGHT_0" }.sorted()
    #expect(exported == list.split(separator: "\n"))
  }

  @Test(
    "The header compiles alone, without a warning",
    arguments: ["c99", "c11", "c17", "c++11", "c++17"], ["cc", "clang"])
  func compiles(_ standard: String, _ compiler: String) throws {
    let scratch = try Scratch()
    let isC = !standard.hasPrefix("c++")
    let file = scratch.path(isC ? "header.c" : "header.cpp")
    try "#include <upright.h>\nint main(void) { return 0; }\n".write(
      toFile: file, atomically: true, encoding: .utf8)
    try ExternalTool(compiler).run([
      "-std=\(standard)", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I\(Compiled.library)", "-c",
      file,
      "-o", scratch.path("header.o"),
    ])
  }

  @Test("The libraries need neither a toolchain nor, for the policy, FFmpeg")
  func selfContained() throws {
    for (name, needsFFmpeg) in [("upright", true), ("uprightpolicy", false)] {
      let text = try ExternalTool("readelf").run(["-d", "\(Compiled.library)/lib\(name).so"]).text
      #expect(text.contains("soname: [lib\(name).so.0]"))
      #expect(!text.contains("RPATH") && !text.contains("RUNPATH"))
      #expect(!text.contains("libswift") && !text.contains("libFoundation"))
      #expect(text.contains("libavcodec") == needsFFmpeg)
    }
  }

  @Test("The version is the program's, in the header and in the library")
  func version() throws {
    let header = try String(contentsOfFile: Compiled.header, encoding: .utf8)
    let numbers = header.split(separator: "\n").filter { $0.hasPrefix("#define UPRIGHT_VERSION_") }
      .compactMap { $0.split(separator: " ").last }
    let scratch = try Scratch()
    let file = scratch.path("version.c")
    try
      "#include <stdio.h>\n#include <upright.h>\nint main(void) { return puts(upright_version()) < 0; }\n"
      .write(toFile: file, atomically: true, encoding: .utf8)
    let program = try Compiled.program(file, .policy, in: scratch)
    let version = try ExternalTool(program).run([]).text.split(separator: "\n").first.map(
      String.init)
    #expect(version == numbers.joined(separator: "."))
    let changes = try String(
      contentsOf: Fixtures.packageRoot.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
    #expect(changes.contains("\n## \(version ?? "?")"))
  }

  @Test("pkg-config finds both libraries", arguments: ["upright", "uprightpolicy"])
  func pkgConfig(_ name: String) throws {
    let text = try ExternalTool("env").run([
      "PKG_CONFIG_PATH=\(Compiled.library)", "pkg-config", "--cflags", "--libs", name,
    ]).text
    #expect(text.contains("-l\(name)") && text.contains("-I\(Compiled.library)"))
  }

  @Test("A program is compiled, linked and run against an installed library")
  func installed() throws {
    let scratch = try Scratch()
    let prefix = scratch.path("prefix")
    let program = Fixtures.buildFolder.appendingPathComponent("upright").path
    try ExternalTool("env").run([
      // As `make test` passes its own on.
      "PREFIX=\(prefix)", "LIBDIR=\(prefix)/lib", "DESTDIR=", "UPRIGHT=\(program)",
      Fixtures.packageRoot.appendingPathComponent("Scripts/install.sh").path, "libraries",
    ])
    try
      "#include <stdio.h>\n#include <upright.h>\nint main(void) { return puts(upright_version()) < 0; }\n"
      .write(toFile: scratch.path("a.c"), atomically: true, encoding: .utf8)
    let build =
      "cc \(scratch.path("a.c")) -o \(scratch.path("a")) $(pkg-config --cflags --libs uprightpolicy)"
    try ExternalTool("env").run([
      "PKG_CONFIG_PATH=\(prefix)/lib/pkgconfig", "sh", "-ec", build,
    ])
    let outcome = try ExternalTool("env").run([
      "LD_LIBRARY_PATH=\(prefix)/lib", scratch.path("a"),
    ])
    #expect(outcome.text.contains("."))
  }
}
