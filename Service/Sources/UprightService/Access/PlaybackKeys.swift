internal import Foundation
internal import UprightOrientation
internal import Synchronization
internal import Upright

/// The keys of signed playback URLs, and their signatures.
///
/// A signed URL is `/live/SESSION/~EXPIRES.KEY.SIGNATURE/NAME`, or `/vod/PATH/~EXPIRES.KEY.SIGNATURE/NAME`. `EXPIRES` is in
/// seconds since 1970, `KEY` is the ID of a key, and `SIGNATURE` is the HMAC-SHA-256 of the URL's path before the second dot
/// (`/live/SESSION/~EXPIRES.KEY`) in base64url without padding. The signature is a folder of the path, so that the
/// relative URLs in a playlist contain it too.
final class PlaybackKeys: Sendable {
  private struct Key: Sendable {
    let id: String
    let secret: String
  }

  /// The time for which an expired URL is still accepted, because the signer's clock may differ, in seconds.
  static let clockSkew = 30
  /// The longest time until a URL expires, in seconds: seven days.
  static let longest = 7 * 86400
  /// The minimum length of a secret, in bytes.
  static let shortestSecret = 32
  private static let maxKeys = 16
  /// The end of the year 9999, in seconds since 1970.
  private static let endOfTime = 253_402_300_799

  private let path: String
  private let secrets: Secrets
  private let keys: Mutex<[Key]>
  private let now: @Sendable () -> Int

  /// - Parameters:
  ///   - path: The file of the keys; `nil` uses the one in the data folder, which is created if it doesn't exist.
  ///   - now: Returns the time, in seconds since 1970.
  /// - Throws: `configuration` if the file can't be read or has an invalid line.
  init(
    _ path: String?, _ folders: DataFolders, secrets: Secrets, now: @escaping @Sendable () -> Int
  ) throws(UprightError) {
    if let path {
      self.path = path
    } else {
      self.path = try folders.secret("playback-keys") { "k1 \(Secrets.make())" }.path
    }
    self.secrets = secrets
    self.now = now
    keys = Mutex([])
    try reload()
  }

  /// Reads the file again: a line `ID SECRET` for each key. The first key signs, all of them are accepted.
  ///
  /// - Throws: As `init`. The previous keys stay in use then.
  func reload() throws(UprightError) {
    let data = try ServiceConfiguration.contents(of: path, named: "--playback-key-file")
    let new = try Self.parse(String(decoding: data, as: UTF8.self), path)
    for key in new { secrets.add(key.secret) }
    keys.withLock { $0 = new }
  }

  private static func parse(_ text: String, _ path: String) throws(UprightError) -> [Key] {
    var keys: [Key] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
      if words.isEmpty || words[0].hasPrefix("#") { continue }
      // The line isn't quoted, because it may contain a secret.
      guard words.count == 2, isID(words[0]), words[1].utf8.count >= shortestSecret,
        !keys.contains(where: { $0.id == words[0] }), keys.count < maxKeys
      else {
        throw UprightError(
          .configuration, "the key isn't valid", at: "\(path), line \(index + 1)",
          remedy: "write ID SECRET: 1 to 16 letters and digits, unique in the file, then "
            + "\(shortestSecret) or more characters; at most \(maxKeys) keys")
      }
      keys.append(Key(id: words[0], secret: words[1]))
    }
    guard !keys.isEmpty else {
      throw UprightError(
        .configuration, "contains no key", at: path, remedy: "add a line: ID SECRET")
    }
    return keys
  }

  private static func isID(_ text: String) -> Bool {
    (1...16).contains(text.utf8.count)
      && text.utf8.allSatisfy { (97...122).contains($0 | 0x20) || (48...57).contains($0) }
  }

  // MARK: - Signatures

  /// Returns the path of a playlist with a signature of the first key, and when it expires, in seconds since 1970.
  ///
  /// - Parameters:
  ///   - folder: The playlist's folder: `/live/SESSION`, or `/vod/PATH`.
  ///   - seconds: The time until then, 1 to `longest`.
  func sign(_ folder: String, seconds: Int) -> (path: String, expires: Int) {
    let (sum, overflows) = now().addingReportingOverflow(seconds)
    let expires = overflows ? Self.endOfTime : min(max(sum, 0), Self.endOfTime)
    let key = keys.withLock { $0[0] }
    let signed = "\(folder)/~\(expires).\(key.id)"
    return ("\(signed).\(Self.signature(of: signed, key))/index.m3u8", expires)
  }

  /// Checks the signature in a URL of `folder`, which is as for `sign`.
  ///
  /// - Parameter text: `EXPIRES.KEY.SIGNATURE`.
  /// - Returns: The seconds until it expires, at least 0.
  /// - Throws: `Problem` 403. The reason doesn't tell whether the signature is that of another folder.
  func check(_ text: Substring, of folder: String) throws(Problem) -> Int {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let expires = Self.time(parts[0]),
      let key = keys.withLock({ $0.first { $0.id == parts[1] } }),
      constantTimeEqual(
        parts[2], Self.signature(of: "\(folder)/~\(expires).\(key.id)", key))
    else { throw .forbidden("the URL's signature isn't valid") }
    let (left, overflows) = expires.subtractingReportingOverflow(now())
    guard !overflows, left >= -Self.clockSkew else { throw .forbidden("the URL has expired") }
    guard left <= Self.longest + Self.clockSkew else {
      throw .forbidden(
        "the URL expires more than \(Self.longest / 86400) days from now; check the clocks")
    }
    return max(0, left)
  }

  /// Parses a number of seconds since 1970 in its only spelling: without sign and leading zeros.
  private static func time(_ text: Substring) -> Int? {
    guard text.utf8.count <= 12, let number = Int(text), (0...endOfTime).contains(number),
      String(number) == text
    else { return nil }
    return number
  }

  private static func signature(of text: String, _ key: Key) -> String {
    Data(MessageDigest.hmacSHA256(text.utf8, key: key.secret.utf8)).base64URL
  }

  /// Returns the path of a URL without its signature, for logs.
  static func redacted(_ path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("~") ? "~***" : String($0) }.joined(separator: "/")
  }
}
