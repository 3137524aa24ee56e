import Foundation

/// A folder for one test's files, removed with its last reference.
package final class Scratch: Sendable {
  /// The folder.
  package let folder: URL

  /// A new, empty folder.
  package init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "upright-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The path of `name` in the folder.
  package func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// The names of what is in the folder.
  package var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }
}
