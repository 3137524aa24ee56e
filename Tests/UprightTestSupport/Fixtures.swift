import Foundation

/// The data files in `Tests/Fixtures`, which every clone has.
public enum Fixtures {
  /// The package's own folder.
  public static let packageRoot = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The file at `path` under `Tests/Fixtures`.
  public static func url(_ path: String) -> URL {
    packageRoot.appendingPathComponent("Tests/Fixtures").appendingPathComponent(path)
  }

  /// The test vectors named `name`: `Tests/Fixtures/vectors/NAME.json`.
  public static func vectors(_ name: String) throws -> JSON {
    try JSONDecoder().decode(JSON.self, from: Data(contentsOf: url("vectors/\(name).json")))
  }
}
