import Foundation
import Testing

/// How much a run of the tests covers: what `make check`, `make test` and `make check-slow` each set in
/// `UPRIGHT_LOOP`. Without it, what `make test` covers.
package enum Loop: Int {
  case check, test, slow

  package static let current: Loop =
    switch ProcessInfo.processInfo.environment["UPRIGHT_LOOP"] {
    case "check": .check
    case "slow": .slow
    default: .test
    }

  /// The first `check` of `cases` in `make check`, the first `test` in `make test`, all of them in
  /// `make check-slow`: a matrix begins with one case of each kind.
  package static func cases<Case>(_ cases: [Case], check: Int = 1, test: Int) -> [Case] {
    switch current {
    case .check: Array(cases.prefix(check))
    case .test: Array(cases.prefix(test))
    case .slow: cases
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// Needs real clips that are not part of the package: files or folders under `clips`.
  package static func clips(_ paths: String...) -> Self {
    .enabled(
      if: paths.allSatisfy { SharedFiles.has("clips/\($0)") },
      "needs the real clips: set UPRIGHT_SHARED")
  }

  /// Plays what it makes with those, too.
  package static func plays(_ players: Player...) -> Self {
    .enabled(
      if: players.allSatisfy(\.isHere),
      "needs \(players.map { "\($0)" }.joined(separator: " and "))")
  }

  /// Needs a browser: not in `make check`.
  package static var browser: Self {
    .enabled(if: Loop.current != .check, "in `make test`: needs a browser")
  }

  /// Needs a server or a publisher beside the test: not in `make check`.
  package static var server: Self {
    .enabled(if: Loop.current != .check, "in `make test`: needs a server")
  }

  /// Goes by the clock on the wall: not in `make check`.
  package static var realTime: Self {
    .enabled(if: Loop.current != .check, "in `make test`: runs in real time")
  }

  /// Takes more than a second: not in `make check`.
  package static var long: Self {
    .enabled(if: Loop.current != .check, "in `make test`: takes more than a second")
  }

  /// Too long for `make test`: only in `make check-slow`.
  package static func slow(_ why: String) -> Self {
    .enabled(if: Loop.current == .slow, "in `make check-slow`: \(why)")
  }
}
