import Foundation

/// A temporary folder for the files of one test. It is removed with the last reference to this object.
package final class Scratch: Sendable {
  /// The folder.
  package let folder: URL

  /// Creates a new, empty folder.
  package init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "upright-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Returns the path of `name` in the folder.
  package func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// The sorted names of the files in the folder.
  package var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
  }
}
