import Foundation
import Testing

/// The extent of a test run. `make check`, `make test` and `make check-slow` set it in `UPRIGHT_LOOP`. The
/// default is that of `make test`.
package enum Loop: Int {
  case check, test, slow

  package static let current: Loop =
    switch ProcessInfo.processInfo.environment["UPRIGHT_LOOP"] {
    case "check": .check
    case "slow": .slow
    default: .test
    }

  /// Returns the first `check` of `cases` in `make check`, the first `test` in `make test`, and all of them
  /// in `make check-slow`. A list begins with one case of each kind.
  package static func cases<Case>(_ cases: [Case], check: Int = 1, test: Int) -> [Case] {
    switch current {
    case .check: Array(cases.prefix(check))
    case .test: Array(cases.prefix(test))
    case .slow: cases
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// Requires real clips that are not part of the package: files or folders under `clips`.
  package static func clips(_ paths: String...) -> Self {
    .enabled(
      if: paths.allSatisfy { SharedFiles.has("clips/\($0)") },
      "needs the real clips: set UPRIGHT_SHARED")
  }

  /// Requires these players.
  package static func plays(_ players: Player...) -> Self {
    .enabled(
      if: players.allSatisfy(\.isHere),
      "needs \(players.map { "\($0)" }.joined(separator: " and "))")
  }

  /// Requires a browser. Not in `make check`.
  package static var browser: Self {
    .enabled(if: Loop.current != .check, "in `make test`: needs a browser")
  }

  /// Requires a server or a publisher that runs beside the test. Not in `make check`.
  package static var server: Self {
    .enabled(if: Loop.current != .check, "in `make test`: needs a server")
  }

  /// Runs in real time. Not in `make check`.
  package static var realTime: Self {
    .enabled(if: Loop.current != .check, "in `make test`: runs in real time")
  }

  /// Looks into `malloc`, which a sanitizer replaces.
  package static var ownMemory: Self {
    .enabled(
      if: ProcessInfo.processInfo.environment["UPRIGHT_SANITIZED"] == nil,
      "in `make test`: looks into malloc, which a sanitizer replaces")
  }

  /// Takes more than a second. Not in `make check`.
  package static var long: Self {
    .enabled(if: Loop.current != .check, "in `make test`: takes more than a second")
  }

  /// Takes too long for `make test`. Only in `make check-slow`.
  package static func slow(_ why: String) -> Self {
    .enabled(if: Loop.current == .slow, "in `make check-slow`: \(why)")
  }
}
