internal import UprightFiles
internal import UprightMedia
internal import UprightPolicy

/// What a check has found in all files.
struct CheckTally {
  private(set) var files = 0
  private(set) var failed = 0
  /// The files with a problem.
  private(set) var wrong = 0
  private(set) var mended = 0
  /// The files that the fix couldn't mend.
  private(set) var unmended = 0
  private var verdicts: [PlayerClass: [PlayerClass.Verdict: Int]] = [:]
  private var problems: [String: Int] = [:]

  /// Adds a file that can't be checked.
  mutating func addFailure() {
    files += 1
    failed += 1
  }

  /// Adds the entry of a file.
  mutating func add(_ entry: JSONValue) {
    files += 1
    for players in PlayerClass.allCases {
      guard case .string(let word)? = entry["classes"]?[players.rawValue],
        let verdict = PlayerClass.Verdict(rawValue: word)
      else { continue }
      verdicts[players, default: [:]][verdict, default: 0] += 1
    }
    if case .array(let found)? = entry["problems"] {
      if !found.isEmpty { wrong += 1 }
      for problem in found {
        if case .string(let kind)? = problem["kind"] { problems[kind, default: 0] += 1 }
      }
    }
    if let fix = entry["fix"] {
      if fix["output"] == .null { unmended += 1 } else { mended += 1 }
    }
  }

  private func count(_ players: PlayerClass, _ verdict: PlayerClass.Verdict) -> Int {
    verdicts[players]?[verdict] ?? 0
  }

  private var counts: [(CheckProblem.Kind, Int)] {
    CheckProblem.Kind.allCases.compactMap { kind in problems[kind.rawValue].map { (kind, $0) } }
  }

  /// The table at the end.
  func text(isRepair: Bool) -> String {
    let words = PlayerClass.Verdict.allCases
    let rows = PlayerClass.allCases.map { players in
      [players.rawValue] + words.map { String(count(players, $0)) }
    }
    var text = "\n" + TextTable([["class"] + words.map(\.rawValue)] + rows).text
    if !counts.isEmpty {
      text += "\n" + TextTable(counts.map { [$0.0.rawValue, String($0.1)] }).text
    }
    text += "\n\(files.of("file")), \(wrong) with problems"
    if failed > 0 { text += ", \(failed) failed" }
    if isRepair { text += ", \(mended) mended, \(unmended) not mended" }
    return text + "\n"
  }

  /// The same as JSON.
  func json(isRepair: Bool) -> JSONValue {
    let classes = PlayerClass.allCases.map { players in
      JSONValue.Member(
        players.rawValue,
        .object(
          PlayerClass.Verdict.allCases.map { verdict in
            .init(verdict.rawValue, .integer(count(players, verdict)))
          }))
    }
    var members: [JSONValue.Member] = [
      .init("files", .integer(files)), .init("wrong", .integer(wrong)),
      .init("failed", .integer(failed)), .init("classes", .object(classes)),
      .init("problems", .object(counts.map { .init($0.0.rawValue, .integer($0.1)) })),
    ]
    if isRepair {
      members += [.init("mended", .integer(mended)), .init("unmended", .integer(unmended))]
    }
    return .object(members)
  }
}
