import Foundation
import Testing
import UprightTestSupport

/// The Python packages, from their sources and with the libraries of the tests. `Scripts/check-wheels.sh` runs the
/// same tests with installed wheels.
@Suite("Python", .python, .tags(.lengthy))
struct PythonTests {
  fileprivate static let root = Fixtures.packageRoot.path

  @Test("Tests/Python", .long, arguments: names)
  func tests(_ name: String) throws { try Self.run(name) }

  /// Every file of tests; that of the cluster has a suite of its own.
  private static let names: [String] = {
    let files = try? FileManager.default.contentsOfDirectory(atPath: "\(root)/Tests/Python")
    let names = (files ?? []).filter { $0.hasPrefix("test_") && $0 != "test_cluster.py" }
    return names.map { String($0.dropFirst(5).dropLast(3)) }.sorted()
  }()

  fileprivate static func run(_ name: String) throws {
    let packages = ["upright-policy", "upright"].map { "\(root)/Python/\($0)" }
    let outcome = try ExternalTool("env").outcome(
      [
        "PYTHONPATH=\(packages.joined(separator: ":"))", "PYTHONDONTWRITEBYTECODE=1",
        "LD_LIBRARY_PATH=\(Compiled.library)", "UPRIGHT=\(CommandLineProgram.path)",
        ExternalTool.python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        "\(root)/Tests/Python/test_\(name).py",
      ], timeout: 300)
    #expect(outcome.status == 0, "\(outcome.text.suffix(4000))\(outcome.errors.suffix(1000))")
    #expect(outcome.text.contains(" passed"))
  }
}

/// A suite of its own, as it waits for leases to end and needs no core: it takes a minute and 6 s of CPU time.
@Suite("Python: the cluster", .python, .tags(.waits, .lengthy))
struct PythonClusterTests {
  @Test("Tests/Python/test_cluster.py", .long)
  func cluster() throws { try PythonTests.run("cluster") }
}

extension ExternalTool {
  /// Python with the packages that the tests need: see `Scripts/python.sh`.
  fileprivate static let python =
    Fixtures.packageRoot.appendingPathComponent(".build/python/bin/python").path
}

extension Trait where Self == ConditionTrait {
  /// Requires the Python packages of the tests.
  fileprivate static var python: Self {
    .enabled(
      if: ExternalTool(ExternalTool.python).isHere,
      "needs packages of PyPI: run Scripts/python.sh with a network")
  }
}
