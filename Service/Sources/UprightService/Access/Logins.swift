internal import HTTPTypes
internal import Hummingbird
internal import Synchronization

/// The logins of browsers: random codes in cookies (RFC 6265), which stand for the admin token.
///
/// Scripts can't read the cookie, so that a fault in a page doesn't reveal the token, and images, event streams and
/// players need no token in their URLs. Browsers send it only from pages of the same site. Other ports of the host are the
/// same site; see `isIntended`.
final class Logins: Sendable {
  /// The time for which a login is valid, in seconds: twelve hours.
  static let seconds = 12 * 3600
  /// The maximum number of valid logins. The oldest is dropped for a new one.
  private static let most = 1000

  /// When each login expires, in seconds since 1970, by the hash of its code.
  private let expiries = Mutex<[String: Int]>([:])
  /// The same of the codes that begin one login each.
  private let invitations = Mutex<[String: Int]>([:])
  /// The name of the cookie. Two services on one host, which share cookies, have different names.
  let cookie: String
  private let now: @Sendable () -> Int

  /// - Parameters:
  ///   - token: The admin token.
  ///   - now: Returns the time, in seconds since 1970.
  init(token: String, now: @escaping @Sendable () -> Int) {
    cookie = "upright-" + Secrets.hash(token, key: "cookie").prefix(8)
    self.now = now
  }

  /// The number of logins, including those that have expired since the last one began.
  var count: Int { expiries.withLock { $0.count } }

  /// Begins a login. Returns the value of `Set-Cookie`.
  func begin(at address: PublicURL) -> String {
    let (code, now) = (Secrets.make(), now())
    expiries.withLock { expiries in
      expiries = expiries.filter { $0.value > now }
      if expiries.count >= Self.most, let oldest = expiries.min(by: { $0.value < $1.value }) {
        expiries[oldest.key] = nil
      }
      expiries[Self.hash(code)] = now + Self.seconds
    }
    return setting(code, seconds: Self.seconds) + (address.isSecure ? "; Secure" : "")
  }

  /// Returns a code that begins one login in place of the token, within `seconds`.
  func invite(seconds: Int) -> String {
    // 96 bits: short enough for a QR code.
    let code = String(Secrets.make().prefix(16))
    invitations.withLock { $0[Self.hash(code)] = now() + seconds }
    return code
  }

  /// Uses a code of `invite` up. Returns `false` if it isn't one, has expired or was used.
  func accept(_ code: some StringProtocol) -> Bool {
    let expires = invitations.withLock { $0.removeValue(forKey: Self.hash(code)) }
    return expires.map { $0 > now() } ?? false
  }

  /// Ends the login of a request, if it has one. Returns the value of `Set-Cookie` that removes its cookie.
  func end(of request: Request) -> String {
    for code in codes(in: request) {
      expiries.withLock { _ = $0.removeValue(forKey: Self.hash(code)) }
    }
    return setting("", seconds: 0)
  }

  /// Returns whether a request has the cookie of a valid login.
  func contains(_ request: Request) -> Bool {
    let now = now()
    return codes(in: request).contains { code in
      expiries.withLock { $0[Self.hash(code)] }.map { $0 > now } ?? false
    }
  }

  /// Returns whether a request with a cookie was made by a page of this service, as far as it matters: pages of other
  /// origins can't read answers, and can't send this header, because no answer to a preflight request allows it.
  static func isIntended(_ request: Request) -> Bool {
    [.get, .head, .options].contains(request.method) || request.headers[.uprightConsole] != nil
  }

  private func setting(_ value: String, seconds: Int) -> String {
    "\(cookie)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict"
  }

  private func codes(in request: Request) -> [Substring] {
    request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
      let pair = pair.drop { $0 == " " }
      return pair.hasPrefix(cookie + "=") ? pair.dropFirst(cookie.count + 1) : nil
    }
  }

  private static func hash(_ code: some StringProtocol) -> String {
    Secrets.hash(String(code), key: "login")
  }
}

extension HTTPField.Name {
  /// Says that a request with a cookie comes from the console.
  static let uprightConsole = Self.known("X-Upright-Console")
}
