import Foundation
import Testing
import UprightTestSupport

/// C programs that are compiled against the libraries that `Scripts/libraries.sh debug` has linked.
enum Compiled {
  static let library = Fixtures.buildFolder.appendingPathComponent("lib").path
  static let header = "\(library)/upright.h"

  /// Compiles a C program of the repository. Returns its path.
  static func program(
    _ source: String, _ library: Library, in scratch: Scratch, _ flags: [String] = []
  )
    throws -> String
  {
    let file = URL(fileURLWithPath: source, relativeTo: Fixtures.packageRoot)
    let program = scratch.path(file.deletingPathExtension().lastPathComponent)
    let isC = file.pathExtension == "c"
    try ExternalTool(isC ? "cc" : "c++").run(
      [isC ? "-std=c11" : "-std=c++17", "-g", "-Wall", "-Wextra", "-Werror", "-pedantic"]
        + (isC ? ["-D_GNU_SOURCE"] : ["-Wno-missing-field-initializers"]) + flags
        + [
          "-I\(self.library)", file.path, "-o", program, "-L\(self.library)",
          "-l\(library.rawValue)",
        ]
        + ["-lm", "-pthread", "-Wl,-rpath,\(self.library)"])
    return program
  }

  /// What a program is linked with.
  enum Library: String {
    case policy = "uprightpolicy"
    case all = "upright"
  }
}

/// A way to run a C program.
enum Runner: String, CaseIterable, CustomStringConvertible {
  case plain, valgrind, leakSanitizer

  var description: String { rawValue }

  /// Compiles and runs a program. Throws if it, or who watches it, isn't satisfied.
  @discardableResult
  func run(
    _ source: String, _ library: Compiled.Library, _ arguments: [String], in scratch: Scratch
  ) throws -> [Substring] {
    let flags = self == .leakSanitizer ? ["-fsanitize=leak"] : []
    let program = try Compiled.program(source, library, in: scratch, flags)
    var command = [program] + arguments
    switch self {
    case .plain: break
    case .valgrind:
      // The Swift runtime keeps its caches by tagged pointers: "possibly lost".
      command =
        [
          "valgrind", "--quiet", "--leak-check=full", "--error-exitcode=99",
          "--child-silent-after-fork=yes",
          "--show-leak-kinds=definite,indirect", "--errors-for-leak-kinds=definite,indirect",
        ] + command
    case .leakSanitizer:
      let suppressions = Fixtures.packageRoot.appendingPathComponent("Tests/Slow/lsan.supp").path
      command =
        ["env", "LSAN_OPTIONS=suppressions=\(suppressions):print_suppressions=0:exitcode=99"]
        + command
    }
    let outcome = try ExternalTool(command[0]).run(Array(command.dropFirst()), timeout: 600)
    // A library prints nothing. Those who watch it do.
    if self == .plain { #expect(outcome.errors.isEmpty) }
    return outcome.text.split(separator: "\n")
  }
}
