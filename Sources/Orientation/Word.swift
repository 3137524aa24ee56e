/// Case-insensitive lookup of names from JSON and the command line.
enum Word {
  static func find<Candidates: Sequence>(
    _ word: String, among candidates: Candidates, _ name: (Candidates.Element) -> String
  ) -> Candidates.Element? {
    let wanted = word.lowercased()
    return candidates.first { name($0).lowercased() == wanted }
  }
}
