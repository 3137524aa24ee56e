internal import ArgumentParser
internal import Foundation
internal import Orientation
internal import RotationPolicy

/// What a shell offers where an argument is typed.
extension CompletionKind {
  /// A built-in policy's name or a JSON file.
  static var policy: CompletionKind {
    .custom { _, _, typed in PolicyDocument.builtInNames + jsonFiles(startingWith: typed) }
  }

  /// A size's preset or `source`.
  static var size: CompletionKind { .list(StreamPreset.all.map(\.name) + ["source"]) }

  /// The eight orientations, and degrees.
  static var orientation: CompletionKind {
    .list(ImageOrientation.allCases.map(\.name) + ["0", "90", "180", "270"])
  }

  private static func jsonFiles(startingWith typed: String) -> [String] {
    let folder = typed.lastIndex(of: "/").map { String(typed[...$0]) } ?? ""
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)
    return (names ?? []).filter { $0.hasSuffix(".json") }.sorted().map { folder + $0 }
  }
}
