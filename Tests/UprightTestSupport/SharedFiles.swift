import Foundation

/// The clips and peer vectors that the tests share and that are not part of the package: in the
/// folder named by `UPRIGHT_SHARED`, else beside the package in `../shared`. Tests that need one are
/// skipped by name where it is absent.
public enum SharedFiles {
  /// The package's own folder.
  public static let packageRoot = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The shared folder, whether it exists or not.
  public static let root: URL = {
    if let path = ProcessInfo.processInfo.environment["UPRIGHT_SHARED"], !path.isEmpty {
      return URL(fileURLWithPath: path, isDirectory: true)
    }
    return packageRoot.deletingLastPathComponent().appendingPathComponent("shared")
  }()

  /// The file at `path` under the shared folder.
  public static func url(_ path: String) -> URL { root.appendingPathComponent(path) }

  /// Whether there is a file at `path` under the shared folder.
  public static func has(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: url(path).path)
  }

  /// Whether there is a vector file of that name (without `.json`).
  public static func hasVectors(_ name: String) -> Bool { has("clips/vectors/\(name).json") }

  /// The vector file of that name (without `.json`).
  public static func vectors(_ name: String) throws -> JSON {
    try JSONDecoder().decode(
      JSON.self, from: Data(contentsOf: url("clips/vectors/\(name).json")))
  }
}
