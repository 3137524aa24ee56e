import Foundation
import UprightTestSupport

/// The imports of Swift sources.
enum Imports {
  /// Returns the modules that a file imports, in any form: with attributes, an access level, or of one declaration.
  static func modules(in text: String) -> [String] {
    text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      let kinds: Set<Substring> = [
        "struct", "class", "enum", "protocol", "typealias", "func", "let", "var",
      ]
      let levels: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
      guard let at = words.firstIndex(of: "import"),
        words[..<at].allSatisfy({ $0.hasPrefix("@") || levels.contains($0) })
      else { return nil }
      let path = words[(at + 1)...].first { !kinds.contains($0) }
      return path?.split(separator: ".").first.map(String.init)
    }
  }

  /// Returns the Swift files under a folder of the repository.
  static func files(under folder: String) -> [URL] {
    let root = Fixtures.packageRoot.appendingPathComponent(folder)
    let all = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
    return (all?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
  }
}

/// The packages as the package manager sees them.
enum Manifest {
  static let engine = Result { try read(".") }
  static let service = Result { try read("Service") }

  private static func read(_ folder: String) throws -> JSON {
    let scratch = try Scratch()
    let outcome = try ExternalTool("swift").run([
      "package", "--package-path", Fixtures.packageRoot.appendingPathComponent(folder).path,
      "--scratch-path", scratch.path("build"), "dump-package",
    ])
    return try JSONDecoder().decode(JSON.self, from: outcome.output)
  }
}
