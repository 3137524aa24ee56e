/// A rule for playlists, of RFC 8216 or of draft-pantos-hls-rfc8216bis ("8216bis").
package struct PlaylistRule: Sendable {
  /// How binding a rule is (RFC 2119).
  package enum Level: String, Sendable {
    case must, should
  }

  /// Reports a violation: the number of its line, if there is one, and what is wrong.
  typealias Report = (_ line: Int?, _ detail: String) -> Void

  enum Check: Sendable {
    /// Of one playlist.
    case playlist(@Sendable (ParsedPlaylist, Report) -> Void)
    /// Of a playlist and what it was before.
    case reload(@Sendable (_ old: ParsedPlaylist, _ new: ParsedPlaylist, Report) -> Void)
  }

  /// A short name, unique among the rules.
  package let name: String
  /// The document and the clause.
  package let clause: String
  package let level: Level
  /// What the rule demands.
  package let text: String
  let check: Check

  init(
    _ name: String, _ clause: String, _ text: String, level: Level = .must,
    _ check: @escaping @Sendable (ParsedPlaylist, Report) -> Void
  ) {
    (self.name, self.clause, self.text, self.level) = (name, clause, text, level)
    self.check = .playlist(check)
  }

  init(
    reload name: String, _ clause: String, _ text: String,
    _ check: @escaping @Sendable (_ old: ParsedPlaylist, _ new: ParsedPlaylist, Report) -> Void
  ) {
    (self.name, self.clause, self.text, level) = (name, clause, text, .must)
    self.check = .reload(check)
  }

  /// All rules.
  package static let all =
    general + tags + segments + lowLatency + lowLatencyTags + multivariant + reloads
}

/// A violation of a rule.
package struct PlaylistViolation: Sendable, CustomStringConvertible {
  package let rule: PlaylistRule
  /// The number of the line, from 1; `nil` if it is the playlist as a whole.
  package let line: Int?
  /// What is wrong.
  package let detail: String

  /// `line 12: EXTINF of 9.5 s is longer than the target duration (RFC 8216, 4.3.3.1: target-duration)`.
  package var description: String {
    (line.map { "line \($0): " } ?? "") + "\(detail) (\(rule.clause): \(rule.name))"
  }
}

/// Checks a playlist and its reloads against all rules.
package struct PlaylistChecker: Sendable {
  private var last: ParsedPlaylist?

  package init() {}

  /// How the playlist that was checked last is loaded again: the delivery directives to add to its URL, and the time to
  /// wait before, in seconds. `nil` if it doesn't change any more, or isn't a media playlist.
  package var reload: (query: String?, delay: Double)? {
    guard let last, !last.isEnded, last.type != "VOD", let target = last.targetDuration else {
      return nil
    }
    guard last.control?["CAN-BLOCK-RELOAD"] == "YES", let segment = last.allSegments.last else {
      return (nil, Double(min(max(target, 1), 3600)) / 2)
    }
    guard let open = last.open else {
      return ("_HLS_msn=\(segment.sequence + 1)" + (last.hasParts ? "&_HLS_part=0" : ""), 0)
    }
    return ("_HLS_msn=\(open.sequence)&_HLS_part=\(open.parts.count)", 0)
  }

  /// Returns the violations of a playlist and, after the first one, of its change since the playlist before.
  ///
  /// - Parameter text: The playlist. A delta update is compared with the playlist before as far as it goes.
  package mutating func check(_ text: String) -> [PlaylistViolation] {
    let playlist = ParsedPlaylist(text)
    var found: [PlaylistViolation] = []
    for rule in PlaylistRule.all {
      let report: PlaylistRule.Report = { found.append(.init(rule: rule, line: $0, detail: $1)) }
      switch rule.check {
      case .playlist(let check): check(playlist, report)
      case .reload(let check): if let last { check(last, playlist, report) }
      }
    }
    last = playlist
    return found
  }
}
