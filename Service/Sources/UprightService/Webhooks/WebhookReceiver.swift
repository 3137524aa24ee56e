internal import Foundation
internal import UprightPolicy

/// A URL that receives signed messages by POST.
struct WebhookReceiver: Sendable, Hashable {
  let url: StreamURL
  /// The key of the messages' signatures.
  let secret: String

  /// Reads `url` and `secret` of an object's members. Generates a secret if there is none.
  ///
  /// - Parameter what: The name of the object, for errors.
  /// - Throws: `Problem` 400 if the JSON has the wrong form, `Refusal` if the URL isn't allowed.
  init(_ members: [String: JSONValue], _ what: String, rules: AddressRules) throws {
    guard case .string(let text)? = members["url"] else {
      throw Problem.badRequest("\(what): url is missing")
    }
    let url = try rules.check(text, .input)
    guard url.isHTTP else {
      throw Refusal("a \(what)'s URL must be http: or https:")
    }
    guard url.userinfo == nil else {
      throw Refusal("a \(what)'s URL must not contain a user; verify the signature instead")
    }
    // The TLS library compares a certificate with a name, or with the address that it is connected to, which
    // is the egress proxy's.
    guard url.scheme == "http" || url.address == nil else {
      throw Refusal("an https \(what)'s URL must have a host name, not an address")
    }
    self.url = url
    switch members["secret"] {
    case nil: secret = Secrets.make()
    case .string(let text) where (16...256).contains(text.utf8.count): secret = text
    default: throw Problem.badRequest("\(what): secret must be a string of 16 to 256 bytes")
    }
  }

  /// The secrets to remove from text.
  var secrets: [String] { [secret] + url.secrets }

  /// Returns `t=SECONDS,v1=HEX`: HMAC-SHA-256 over `SECONDS.BODY`. The time prevents that an old message is
  /// replayed as a new one.
  func signature(of body: String, at seconds: Int) -> String {
    "t=\(seconds),v1=\(Secrets.hash("\(seconds).\(body)", key: secret))"
  }
}
