import Foundation

/// Real clips that are not part of the package. They are in the folder named by `UPRIGHT_SHARED`, or else
/// in `../shared` beside the package. A test that needs an absent clip is skipped.
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
