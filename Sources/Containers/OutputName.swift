/// Names of files that are made from an output's name.
enum OutputName {
  /// `NAME-2.mkv`: the file of format `index`.
  static func numbered(_ name: String, _ index: Int) -> String {
    let (stem, ending) = halves(name)
    return "\(stem)-\(index)\(ending)"
  }

  /// `NAME.partial.mkv`: the output of a run that was stopped.
  static func partial(_ name: String) -> String {
    let (stem, ending) = halves(name)
    return "\(stem).partial\(ending)"
  }

  /// What stands before the ending, and the ending with its dot.
  static func halves(_ name: String) -> (stem: String, ending: String) {
    let last = name.lastIndex(of: "/").map { name[name.index(after: $0)...] } ?? name[...]
    guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return (name, "") }
    return (String(name[..<dot]), String(name[dot...]))
  }
}
