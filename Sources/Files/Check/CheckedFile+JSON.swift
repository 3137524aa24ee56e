internal import UprightOrientation
public import UprightPolicy

extension CheckedFile {
  /// The result as JSON, by the schema `check`.
  public var json: JSONValue {
    var members: [JSONValue.Member] = [
      .init("path", .string(path)), .init("kind", .string(kind.rawValue)),
      .init("orientation", orientation.map { .string($0.name) } ?? .null),
      .init("signals", .array(signals.filter { $0.source != nil }.map(\.json))),
    ]
    if !classes.isEmpty {
      let verdicts = PlayerClass.allCases.compactMap { players in
        classes[players].map { JSONValue.Member(players.rawValue, .string($0.rawValue)) }
      }
      members.append(.init("classes", .object(verdicts)))
    }
    members.append(
      .init(
        "problems",
        .array(
          problems.map { ["kind": .string($0.kind.rawValue), "detail": .string($0.detail)] })))
    return .object(members)
  }

  /// The result as a line of text.
  public var line: String {
    let isListed = kind == .playlist
    var parts = [orientation?.name ?? (isListed ? "media not checked" : "no picture")]
    parts += problems.map { problem in
      problem.kind == .missedTurn ? problem.detail : "\(problem.kind.rawValue): \(problem.detail)"
    }
    let unknown = PlayerClass.allCases.filter { classes[$0] == .unknown }.map(\.rawValue)
    if !unknown.isEmpty { parts.append("unknown in " + unknown.joined(separator: ", ")) }
    return "\(path): " + parts.joined(separator: "; ")
  }
}
