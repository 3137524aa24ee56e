import Foundation

/// The data files in `Tests/Fixtures`, which are part of the repository.
public enum Fixtures {
  /// The repository's root folder. The service's tests reach this file by a symbolic link.
  public static let packageRoot = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The folder of the test bundle and of the programs that are built with it.
  public static let buildFolder = URL(fileURLWithPath: CommandLine.arguments[0])
    .deletingLastPathComponent()

  /// Returns the URL of the file at `path` under `Tests/Fixtures`.
  public static func url(_ path: String) -> URL {
    packageRoot.appendingPathComponent("Tests/Fixtures").appendingPathComponent(path)
  }

  /// Returns the test vectors named `name`: `Tests/Fixtures/vectors/NAME.json`.
  public static func vectors(_ name: String) throws -> JSON {
    try JSONDecoder().decode(JSON.self, from: Data(contentsOf: url("vectors/\(name).json")))
  }
}
