internal import ArgumentParser
internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia

/// What the shell completions offer for an argument.
extension CompletionKind {
  /// The names of the built-in policies, and JSON files.
  static var policy: CompletionKind {
    .custom { _, _, typed in PolicyDocument.builtInNames + jsonFiles(startingWith: typed) }
  }

  /// The presets of `--size`, and `source`.
  static var size: CompletionKind { .list(StreamPreset.all.map(\.name) + ["source"]) }

  /// The eight image orientations, and degrees.
  static var orientation: CompletionKind {
    .list(ImageOrientation.allCases.map(\.name) + ["0", "90", "180", "270"])
  }

  private static func jsonFiles(startingWith typed: String) -> [String] {
    let folder = typed.lastIndex(of: "/").map { String(typed[...$0]) } ?? ""
    let names = FilePath(folder.isEmpty ? "." : folder).names ?? []
    return names.filter { $0.hasSuffix(".json") }.sorted().map { folder + $0 }
  }
}
