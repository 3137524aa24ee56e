internal import HummingbirdCore
internal import UprightOrientation
internal import Upright

/// The query of `GET /v1/sessions`: which sessions, and which page of them.
struct SessionFilter: Sendable {
  /// Empty for all states.
  private var states: Set<LiveState> = []
  /// The start of the name.
  private var name: Substring = ""
  private var limit: Int?
  /// The position of the last session of the previous page.
  private var after: Position?

  /// A position in the list. It stays valid if its session is forgotten.
  private struct Position: Comparable {
    /// The creation time, in milliseconds since 1970.
    let created: Int
    let id: String

    init(_ hosted: HostedSession) {
      created = Int(clamping: hosted.created * 1000)
      id = hosted.id
    }

    /// Parses `text`. Returns `nil` for anything else.
    init?(_ text: Substring) {
      // By bytes: a dot and what modifies it are one character.
      let parts = text.utf8.split(separator: 46, maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, (1...15).contains(parts[0].count), !parts[1].isEmpty,
        parts[0].allSatisfy({ (48...57).contains($0) }), let created = Int(Substring(parts[0]))
      else { return nil }
      self.created = created
      id = String(Substring(parts[1]))
    }

    var text: String { "\(created).\(id)" }

    static func < (one: Position, other: Position) -> Bool {
      (one.created, one.id) < (other.created, other.id)
    }
  }

  static let maxLimit = 1000

  /// - Throws: `Problem` 400 for a parameter that is unknown, invalid or, except `state`, given twice.
  init(_ uri: URI) throws(Problem) {
    let query = try QueryReader(uri, ["state", "name", "limit", "after"], repeatable: "state")
    for word in query.all("state") {
      guard let state = LiveState(rawValue: String(word)) else {
        throw .badRequest(
          "state: use " + LiveState.allCases.map(\.rawValue).joined(separator: ", "))
      }
      states.insert(state)
    }
    name = query["name"] ?? ""
    limit = try query.limit(in: 1...Self.maxLimit)
    if let text = query["after"] {
      guard let position = Position(text) else {
        throw .badRequest("after: use the next of an answer")
      }
      after = position
    }
  }

  /// Returns a page of the matching sessions of `all`, which are ordered by time, and where the next one begins;
  /// `nil` at the end.
  func page(of all: [HostedSession]) -> (sessions: ArraySlice<HostedSession>, next: String?) {
    let matching = all.filter { hosted in
      (states.isEmpty || states.contains(hosted.snapshot.state)) && hosted.id.hasPrefix(name)
        && after.map { Position(hosted) > $0 } ?? true
    }
    let page = matching.prefix(limit ?? matching.count)
    return (page, page.count < matching.count ? page.last.map { Position($0).text } : nil)
  }
}
