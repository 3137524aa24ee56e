internal import Synchronization

/// The codes of publish links, and the tokens that they are exchanged for. Each code gives one browser a token, once.
///
/// A link belongs to a session's publish key, so that it isn't valid for a later session of the same name. Its token
/// is less than that key: see `AccessRule.contribute`.
final class PublishLinks: Sendable {
  private struct Grant: Sendable {
    let publishKey: String
    /// In seconds since 1970.
    let expires: Int
  }

  private struct State: Sendable {
    /// By the hash of the code or token, so that the time of a look-up doesn't reveal one.
    var codes: [String: Grant] = [:]
    var tokens: [String: Grant] = [:]
  }

  /// The longest time until a link expires, in seconds: seven days.
  static let longest = 7 * 86400
  /// The time for which a token is valid, in seconds: twelve hours.
  static let tokenSeconds = 12 * 3600
  /// The maximum number of codes that can be used, and of valid tokens.
  private static let most = 1000

  private let state = Mutex(State())
  private let now: @Sendable () -> Int

  /// - Parameter now: Returns the time, in seconds since 1970.
  init(now: @escaping @Sendable () -> Int) { self.now = now }

  /// Returns the code of a new link, and the time until which it can be used, in seconds since 1970.
  ///
  /// - Throws: `Problem` 429 if there are too many links.
  func make(publishKey: String, seconds: Int) throws(Problem) -> (code: String, expires: Int) {
    // 96 bits: short enough for a QR code.
    let code = String(Secrets.make().prefix(16))
    let (now, expires) = (now(), now() + seconds)
    let isMade = state.withLock { state in
      state.codes = state.codes.filter { $0.value.expires >= now }
      state.tokens = state.tokens.filter { $0.value.expires >= now }
      guard state.codes.count + state.tokens.count < Self.most else { return false }
      state.codes[Self.hash(code)] = Grant(publishKey: publishKey, expires: expires)
      return true
    }
    guard isMade else { throw .tooMany("\(Self.most) publish links are valid") }
    return (code, expires)
  }

  /// Uses a link up, and returns a token and the time until which it is valid, in seconds since 1970. Returns `nil` if
  /// the code isn't one of the session's, has expired or was used.
  func redeem(_ code: some StringProtocol, publishKey: String) -> (token: String, expires: Int)? {
    let (token, now) = (Secrets.make(), now())
    return state.withLock { state in
      guard let grant = state.codes.removeValue(forKey: Self.hash(code)),
        grant.publishKey == publishKey, grant.expires >= now
      else { return nil }
      let expires = now + Self.tokenSeconds
      state.tokens[Self.hash(token)] = Grant(publishKey: publishKey, expires: expires)
      return (token, expires)
    }
  }

  /// Returns whether a token is valid for the session with a publish key.
  func allows(_ token: some StringProtocol, publishKey: String) -> Bool {
    let grant = state.withLock { $0.tokens[Self.hash(token)] }
    return grant.map { $0.publishKey == publishKey && $0.expires >= now() } ?? false
  }

  private static func hash(_ text: some StringProtocol) -> String {
    Secrets.hash(String(text), key: "publish link")
  }
}
