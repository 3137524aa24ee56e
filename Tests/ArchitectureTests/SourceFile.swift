import Foundation
import UprightTestSupport

/// A Swift source of this repository.
struct SourceFile {
  /// The path in the repository.
  let path: String
  let lines: [Substring]

  /// Returns the sources in some folders.
  static func all(in folders: [String]) throws -> [SourceFile] {
    let root = Fixtures.packageRoot.standardizedFileURL
    return try folders.flatMap { folder in
      let files = FileManager.default.enumerator(
        at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
      return try (files?.allObjects ?? []).compactMap { $0 as? URL }
        .filter { $0.pathExtension == "swift" }
        .map { file in
          let text = try String(contentsOf: file, encoding: .utf8)
          return SourceFile(
            path: String(file.standardizedFileURL.path.dropFirst(root.path.count + 1)),
            lines: text.split(separator: "\n"))
        }
    }
  }
}
