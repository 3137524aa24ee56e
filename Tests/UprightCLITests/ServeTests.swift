import Foundation
import Testing
import UprightTestSupport

/// `upright serve` becomes another program, whose place these tests choose.
@Suite("upright serve") struct ServeTests {
  /// A folder with `upright` in `bin`, and no service.
  private static func installed(_ scratch: Scratch) throws -> String {
    let program = scratch.path("bin/upright")
    try FileManager.default.createDirectory(
      atPath: scratch.path("bin"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: CommandLineProgram.path, toPath: program)
    return program
  }

  /// A program in the place of `upright-serve` that prints its name and arguments, and ends with 7.
  private static func put(_ folder: String, _ scratch: Scratch) throws {
    let place = scratch.path(folder)
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    let path = place + "/upright-serve"
    try Data("#!/bin/sh\necho \(folder) \"$@\"\nexit 7\n".utf8).write(
      to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
  }

  @Test(
    "It is looked for beside upright, in ../libexec/upright and on PATH, and gets all arguments",
    arguments: [
      (["bin", "libexec/upright", "elsewhere"], "bin"),
      (["libexec/upright", "elsewhere"], "libexec/upright"), (["elsewhere"], "elsewhere"),
    ])
  func places(_ folders: [String], _ found: String) throws {
    let scratch = try Scratch()
    let program = try Self.installed(scratch)
    for folder in folders { try Self.put(folder, scratch) }
    let run = try ExternalTool("env").outcome([
      "PATH=/nowhere:\(scratch.path("elsewhere")):/bin", program, "serve", "--help", "-x", "a b",
    ])
    #expect(run.status == 7 && run.text == "\(found) --help -x a b\n", "\(run.text) \(run.errors)")
  }

  @Test("69: without it, the error says how to get it")
  func missing() throws {
    let scratch = try Scratch()
    let program = try Self.installed(scratch)
    for arguments in [[], ["--help"], ["--json-errors"]] {
      let run = try ExternalTool("env").outcome(["PATH=/bin", program, "serve"] + arguments)
      #expect(run.status == 69 && run.output.isEmpty, "\(run.text)")
      #expect(run.errors.contains("install the package upright-serve"), "\(run.errors)")
    }
  }
}
