import Foundation

/// Real clips that are not part of the package: in the folder named by `UPRIGHT_SHARED`, else beside
/// the package in `../shared`. A test that needs one is skipped by name where it is absent.
public enum SharedFiles {
  /// The shared folder, whether it exists or not.
  public static let root: URL = {
    if let path = ProcessInfo.processInfo.environment["UPRIGHT_SHARED"], !path.isEmpty {
      return URL(fileURLWithPath: path, isDirectory: true)
    }
    return Fixtures.packageRoot.deletingLastPathComponent().appendingPathComponent("shared")
  }()

  /// The file at `path` under the shared folder.
  public static func url(_ path: String) -> URL { root.appendingPathComponent(path) }

  /// Whether there is a file at `path` under the shared folder.
  public static func has(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: url(path).path)
  }
}
