/// The parts of a path. Slashes at its end don't count.
package struct FilePath: Sendable, Hashable {
  /// The path, without slashes at its end.
  package let path: String

  package init(_ path: String) {
    var path = path[...]
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path = path.dropLast() }
    self.path = String(path)
  }

  /// The last component, with its extension.
  package var name: String {
    path == "/" ? path : String(path.split(separator: "/").last ?? "")
  }

  /// The name without its extension.
  package var stem: String { String(name[..<(dot ?? name.endIndex)]) }

  /// The extension of the name; empty if it has none, or one with a space.
  package var fileExtension: String {
    guard let dot else { return "" }
    let text = name[name.index(after: dot)...]
    return text.contains(" ") ? "" : String(text)
  }

  /// Where the extension of the name begins. A hidden file may have none.
  private var dot: String.Index? {
    let name = name
    guard let dot = name.lastIndex(of: "."), name.index(after: dot) < name.endIndex,
      name[..<dot].contains(where: { $0 != "." })
    else { return nil }
    return dot
  }

  /// The path of the folder, relative as the path is; `.` if it has none.
  package var folder: FilePath {
    guard let slash = path.lastIndex(of: "/") else { return FilePath(".") }
    return FilePath(slash == path.startIndex ? "/" : String(path[..<slash]))
  }

  /// Returns the path of a file in this folder.
  package func appending(_ name: String) -> FilePath {
    FilePath(path == "/" ? "/\(name)" : "\(path)/\(name)")
  }
}
