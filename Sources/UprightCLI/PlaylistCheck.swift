internal import UprightMedia
internal import UprightFiles
internal import UprightMediaIO
internal import UprightOrientation
internal import UprightPlaylists
internal import UprightPolicy

/// Checks one playlist: its rules, as often as it is loaded again, and the orientation of its media.
struct PlaylistCheck {
  /// A file, or an http or https URL.
  let input: String
  /// How long a live playlist is loaded again, in seconds; `nil` for once.
  let reload: Double?
  let isJSON: Bool

  /// How often a playlist is tried that can't be loaded again.
  private static let attempts = 5

  /// The largest playlist, in bytes.
  private static let limit = 16 << 20

  /// Whether a name is that of a playlist: by its extension or, at a URL without that of another file, by what was always
  /// taken for one.
  static func isPlaylist(_ input: String) -> Bool {
    let scheme = InputTrust.scheme(of: input)
    let path = scheme == nil ? input[...] : input.prefix { $0 != "?" && $0 != "#" }
    let ending = FilePath(String(path)).fileExtension.lowercased()
    if ["m3u8", "m3u"].contains(ending) { return true }
    return ["http", "https"].contains(scheme) && !InputList.isMedia(fileExtension: ending)
  }

  /// Prints the violations and the check of the media.
  ///
  /// - Throws: `badData` if a rule is violated; `WrongFile` if only the media is wrong.
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
        if !isJSON { try StandardOutput.write(violation.text(load: loads) + "\n") }
      }
      guard ContinuousClock.now < end, let next = checker.reload else { break }
      Latch().wait(until: .after(seconds: next.delay))
      address = input + (next.query.map { (input.contains("?") ? "&" : "?") + $0 } ?? "")
      loads += 1
    }
    let media = reload == nil && checker.reload == nil && broken == 0 ? self.media : nil
    let found = try? media?.get()
    if isJSON {
      let report: JSONValue = [
        "loads": .integer(loads), "violations": .array(violations),
        "files": .array(found.map { [$0.json] } ?? []),
      ]
      try StandardOutput.write(report.pretty + "\n")
    } else {
      if violations.isEmpty {
        try StandardOutput.write(
          "no violation in \(loads == 1 ? "the playlist" : "\(loads) loads")\n")
      }
      try media.map { try StandardOutput.write(Self.text($0) + "\n") }
    }
    guard broken == 0 else {
      throw UprightError(
        .badData, broken == 1 ? "a rule is violated" : "rules are violated \(broken) times",
        at: input)
    }
    if let found, !found.problems.isEmpty { throw CheckCommand.wrong }
  }

  private static func text(_ media: Result<CheckedFile, UprightError>) -> String {
    switch media {
    case .success(let file): file.line.printable
    case .failure(let error): "the media can't be checked: \(error)".printable
    }
  }

  // MARK: - Media

  /// The check of the media of a local playlist that has ended; `nil` for another one.
  private var media: Result<CheckedFile, UprightError>? {
    guard InputTrust.scheme(of: input) == nil, hasEnded else { return nil }
    return Result { () throws(UprightError) in try FileCheck.media(input, .playlist) }
  }

  /// Whether no part of the playlist is waited for: it, or each variant in its folder, has an end.
  private var hasEnded: Bool {
    guard let text = Self.text(of: input) else { return false }
    if text.contains("#EXTINF:") { return text.contains("#EXT-X-ENDLIST") }
    let folder = FilePath(input).folder
    let variants = Self.names(in: text)
    return !variants.isEmpty
      && variants.allSatisfy {
        Self.text(of: folder.appending($0).path)?.contains("#EXT-X-ENDLIST") == true
      }
  }

  private static func text(of path: String) -> String? {
    (try? ByteSource.contents(of: path, limit: limit)).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func names(in text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("#") }.map(String.init)
  }

  /// Returns the names of files in its folder that a local playlist lists, other than playlists.
  static func segments(of path: String) -> [String] {
    guard let file = FileState(path: path), file.isRegular, let text = text(of: path) else {
      return []
    }
    let maps = text.split(separator: "URI=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
    return (names(in: text) + maps.map(String.init))
      .filter { !$0.contains("/") && !isPlaylist($0) }
  }

  /// Checks a local playlist among other files: its rules once, and its media.
  static func check(_ path: String) throws(UprightError) -> CheckedFile {
    guard let state = FileState(path: path), state.isRegular else {
      throw UprightError(.noInput, "is no plain file", at: path, remedy: "check the name")
    }
    let bytes = try ByteSource.contents(of: path, limit: limit)
    var checker = PlaylistChecker()
    let broken = checker.check(String(decoding: bytes, as: UTF8.self))
      .filter { $0.rule.level == .must }
    var file = CheckedFile(path: path, kind: .playlist)
    if broken.isEmpty, let media = PlaylistCheck(input: path, reload: nil, isJSON: false).media {
      switch media {
      case .success(let found): file = found
      case .failure(let error): file.add(.playlist, "its media can't be read: \(error.message)")
      }
    }
    if let first = broken.first {
      let more = broken.count > 1 ? ", and \(broken.count - 1) more" : ""
      file.add(.playlist, "\(first)\(more)")
    }
    return file
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
