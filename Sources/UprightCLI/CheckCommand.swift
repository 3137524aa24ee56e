internal import ArgumentParser
internal import UprightOrientation
internal import UprightPolicy
internal import UprightMediaIO
internal import UprightPipeline
internal import UprightPlaylists

/// `upright check`.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check an HLS playlist against the rules of its standards.",
    discussion: """
      The rules are those of RFC 8216, and of its second edition, draft-pantos-hls-rfc8216bis, for low latency. \
      Each violation is printed with its line, the clause and the name of the rule. With --reload a live playlist is \
      loaded again, with blocking reloads if its server has them, and compared with what it was. If it can't be loaded \
      again, it is tried five times, a second apart.

      The exit status is 65 if something violates a rule that playlists must obey, and 0 if only recommendations are \
      violated.

      EXAMPLES
        upright check live.m3u8
        upright check http://127.0.0.1:8080/live/stage/index.m3u8 --reload 60
        upright check live.m3u8 --json
      """)

  @Argument(help: "A file, or an http or https URL.", completion: .file())
  var input: String

  @Option(
    help: ArgumentHelp(
      "Load a live playlist again for this time, or until it ends.", valueName: "seconds"))
  var reload: Double?

  @Flag(help: "Print JSON.")
  var json = false

  @Flag(help: "Print the log messages of the FFmpeg libraries.")
  var verbose = false

  @Flag(help: "Print errors as JSON.")
  var jsonErrors = false

  /// How often a playlist is tried that can't be loaded again.
  private static let attempts = 5

  /// The largest playlist, in bytes.
  private static let limit = 16 << 20

  func validate() throws {
    if let reload, !(0...86400).contains(reload) {
      throw ValidationError("'--reload' must be 0 to 86400 seconds")
    }
  }

  func run() throws {
    var checker = PlaylistChecker()
    var (loads, violations, broken) = (1, [JSONValue](), 0)
    let end = ContinuousClock.now + .seconds(reload ?? 0)
    var (address, failures) = (input, 0)
    while true {
      let bytes: [UInt8]
      do throws(UprightError) {
        bytes = try ByteSource.contents(of: address, limit: Self.limit)
        failures = 0
      } catch {
        // The server has no newer playlist yet, or restarts.
        failures += 1
        guard loads > 1, failures < Self.attempts else { throw error }
        Latch().wait(until: .now + .seconds(1))
        address = input
        continue
      }
      for violation in checker.check(String(decoding: bytes, as: UTF8.self)) {
        if violation.rule.level == .must { broken += 1 }
        violations.append(violation.json(load: loads))
        if !json { try StandardOutput.write(violation.text(load: loads) + "\n") }
      }
      guard ContinuousClock.now < end, let next = checker.reload else { break }
      Latch().wait(until: .after(seconds: next.delay))
      address = input + (next.query.map { (input.contains("?") ? "&" : "?") + $0 } ?? "")
      loads += 1
    }
    if json {
      let report: JSONValue = ["loads": .integer(loads), "violations": .array(violations)]
      try StandardOutput.write(report.pretty + "\n")
    } else if violations.isEmpty {
      try StandardOutput.write(
        "no violation in \(loads == 1 ? "the playlist" : "\(loads) loads")\n")
    }
    guard broken == 0 else {
      throw UprightError(
        .badData, broken == 1 ? "a rule is violated" : "rules are violated \(broken) times",
        at: input)
    }
  }
}

extension PlaylistViolation {
  fileprivate func text(load: Int) -> String {
    let start = load == 1 ? "" : "load \(load), "
    return (start + "\(rule.level.rawValue): \(self)").printable
  }

  fileprivate func json(load: Int) -> JSONValue {
    [
      "load": .integer(load), "line": line.map(JSONValue.integer) ?? .null,
      "rule": .string(rule.name), "clause": .string(rule.clause),
      "level": .string(rule.level.rawValue), "detail": .string(detail), "text": .string(rule.text),
    ]
  }
}
