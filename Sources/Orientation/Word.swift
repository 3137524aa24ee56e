/// Looking up the words of JSON and the command line: exact but for upper and lower case.
enum Word {
  static func find<Candidates: Sequence>(
    _ word: String, among candidates: Candidates, _ name: (Candidates.Element) -> String
  ) -> Candidates.Element? {
    let wanted = word.lowercased()
    return candidates.first { name($0).lowercased() == wanted }
  }
}
