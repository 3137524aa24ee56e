/// File names derived from an output's name.
package enum OutputName {
  /// Returns the name of file `index`, such as `NAME-2.mkv`.
  package static func numbered(_ name: String, _ index: Int) -> String {
    suffixed(name, "\(index)")
  }

  /// Returns the name with a word after its stem, such as `NAME-portrait.mp4`.
  package static func suffixed(_ name: String, _ word: String) -> String {
    let (stem, ending) = halves(name)
    return "\(stem)-\(word)\(ending)"
  }

  /// Returns the name of the output of a stopped run, such as `NAME.partial.mkv`.
  static func partial(_ name: String) -> String {
    let (stem, ending) = halves(name)
    return "\(stem).partial\(ending)"
  }

  /// Returns the name without its extension, and the extension with its dot.
  static func halves(_ name: String) -> (stem: String, ending: String) {
    let last = name.lastIndex(of: "/").map { name[name.index(after: $0)...] } ?? name[...]
    guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return (name, "") }
    return (String(name[..<dot]), String(name[dot...]))
  }
}
