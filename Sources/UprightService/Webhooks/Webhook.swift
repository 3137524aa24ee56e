internal import Crypto
internal import Foundation
internal import RotationPolicy

/// A webhook: a URL that receives events by POST, and the kinds of events.
struct Webhook: Sendable, Hashable {
  enum Kind: String, Sendable, CaseIterable { case turn, format, state }

  let id: String
  let url: StreamURL
  let kinds: Set<Kind>
  /// The key of the messages' signatures.
  let secret: String

  /// Reads `{"url", "events", "secret"}`. Generates a secret if there is none.
  ///
  /// - Parameter isKept: Whether the service stored this webhook earlier, with its `id`.
  /// - Throws: `Problem` 400 if the JSON has the wrong form, `Refusal` if the URL isn't allowed.
  init(_ value: JSONValue, rules: AddressRules, isKept: Bool = false) throws {
    let members = try SessionRequest.members(
      of: value, "webhook", allowing: ["url", "events", "secret"] + (isKept ? ["id"] : []))
    guard case .string(let text)? = members["url"] else {
      throw Problem.badRequest("webhook: url is missing")
    }
    let url = try rules.check(text, .input)
    guard url.isHTTP else {
      throw Refusal("a webhook's URL must be http: or https:")
    }
    guard url.userinfo == nil else {
      throw Refusal("a webhook's URL must not contain a user; verify the signature instead")
    }
    // The TLS library compares a certificate with a name, or with the address that it is connected to, which
    // is the egress proxy's.
    guard url.scheme == "http" || url.address == nil else {
      throw Refusal("an https webhook's URL must have a host name, not an address")
    }
    self.url = url
    switch members["events"] {
    case nil: kinds = Set(Kind.allCases)
    case .array(let list):
      kinds = try Set(
        list.map { entry in
          guard let kind = entry.text.flatMap(Kind.init) else {
            throw Problem.badRequest(
              "webhook: events must be of " + Kind.allCases.map(\.rawValue).joined(separator: ", "))
          }
          return kind
        })
      guard !kinds.isEmpty else { throw Problem.badRequest("webhook: events is empty") }
    default: throw Problem.badRequest("webhook: events isn't an array")
    }
    switch members["secret"] {
    case nil: secret = Secrets.make()
    case .string(let text) where (16...256).contains(text.utf8.count): secret = text
    default: throw Problem.badRequest("webhook: secret must be a string of 16 to 256 bytes")
    }
    id =
      members["id"]?.text
      ?? String(Secrets.make().filter { $0 != "-" && $0 != "_" }.prefix(12))
  }

  /// The JSON for the service's file, secret included.
  var kept: JSONValue {
    [
      "id": .string(id), "url": .string(url.text),
      "events": .array(kinds.map(\.rawValue).sorted().map { .string($0) }),
      "secret": .string(secret),
    ]
  }

  /// The JSON for responses, without the secret.
  var json: JSONValue {
    [
      "id": .string(id), "url": .string(url.redacted),
      "events": .array(kinds.map(\.rawValue).sorted().map { .string($0) }),
    ]
  }

  /// Returns `t=SECONDS,v1=HEX`: HMAC-SHA-256 over `SECONDS.BODY`. The time prevents that an old message is
  /// replayed as a new one.
  func signature(of body: String, at seconds: Int) -> String {
    "t=\(seconds),v1=\(Self.hash("\(seconds).\(body)", key: secret))"
  }

  /// Returns the HMAC-SHA-256 (RFC 2104) of `message` as 64 hexadecimal digits.
  static func hash(_ message: String, key: String) -> String {
    HMAC<SHA256>.authenticationCode(
      for: Data(message.utf8), using: SymmetricKey(data: Data(key.utf8))
    ).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
