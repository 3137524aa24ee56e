internal import UprightMediaIO
internal import RotationPolicy

/// Where something is told by POST, and what.
struct Webhook: Sendable, Hashable {
  enum Kind: String, Sendable, CaseIterable { case turn, format, state }

  let id: String
  let url: StreamURL
  let kinds: Set<Kind>
  /// Signs what is sent.
  let secret: String

  /// Reads `{"url", "events", "secret"}`; without a secret one is made.
  ///
  /// - Parameter isKept: whether it is one that the service has written down, with its `id`.
  /// - Throws: `Problem` 400 where the shape is wrong, `Refusal` where the host is not listed.
  init(_ value: JSONValue, rules: AddressRules, isKept: Bool = false) throws {
    let members = try SessionRequest.members(
      of: value, "the webhook", allowing: ["url", "events", "secret"] + (isKept ? ["id"] : []))
    guard case .string(let text)? = members["url"] else {
      throw Problem.badRequest("the webhook: url is missing")
    }
    let url = try rules.check(text, .input)
    guard url.isHTTP else {
      throw Refusal("a webhook's url is http: or https:")
    }
    guard url.userinfo == nil else { throw Refusal("a webhook's url has no user: it is signed") }
    self.url = url
    switch members["events"] {
    case nil: kinds = Set(Kind.allCases)
    case .array(let list):
      kinds = try Set(
        list.map { entry in
          guard let kind = entry.text.flatMap(Kind.init) else {
            throw Problem.badRequest(
              "the webhook: events are of " + Kind.allCases.map(\.rawValue).joined(separator: ", "))
          }
          return kind
        })
      guard !kinds.isEmpty else { throw Problem.badRequest("the webhook: events is empty") }
    default: throw Problem.badRequest("the webhook: events is no list")
    }
    switch members["secret"] {
    case nil: secret = Secrets.make()
    case .string(let text) where (16...256).contains(text.utf8.count): secret = text
    default: throw Problem.badRequest("the webhook: a secret is a text of 16 to 256 bytes")
    }
    id =
      members["id"]?.text
      ?? String(Secrets.make().filter { $0 != "-" && $0 != "_" }.prefix(12))
  }

  /// All of it, the secret too: for our own file.
  var kept: JSONValue {
    [
      "id": .string(id), "url": .string(url.text),
      "events": .array(kinds.map(\.rawValue).sorted().map { .string($0) }),
      "secret": .string(secret),
    ]
  }

  /// As an answer shows it.
  var json: JSONValue {
    [
      "id": .string(id), "url": .string(url.redacted),
      "events": .array(kinds.map(\.rawValue).sorted().map { .string($0) }),
    ]
  }

  /// `t=SECONDS,v1=HEX`: HMAC-SHA-256 over `SECONDS.BODY`, so that an old message cannot be sent
  /// again as a new one.
  func signature(of body: String, at seconds: Int) throws(MediaError) -> String {
    let hash = try KeyedHash.sha256(Array("\(seconds).\(body)".utf8), key: Array(secret.utf8))
    let hex = hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    return "t=\(seconds),v1=\(hex)"
  }
}
