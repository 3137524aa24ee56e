internal import UprightPolicy

/// A webhook: a URL that receives events by POST, and the kinds of events.
struct Webhook: Sendable, Hashable {
  enum Kind: String, Sendable, CaseIterable { case turn, format, state, recording }

  let id: String
  let receiver: WebhookReceiver
  let kinds: Set<Kind>

  /// Reads `{"url", "events", "secret"}`. Generates a secret if there is none.
  ///
  /// - Parameter isKept: Whether the service stored this webhook earlier, with its `id`.
  /// - Throws: `Problem` 400 if the JSON has the wrong form, `Refusal` if the URL isn't allowed.
  init(_ value: JSONValue, rules: AddressRules, isKept: Bool = false) throws {
    let members = try SessionRequest.members(
      of: value, "webhook", allowing: ["url", "events", "secret"] + (isKept ? ["id"] : []))
    receiver = try WebhookReceiver(members, "webhook", rules: rules)
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
    id =
      members["id"]?.text
      ?? String(Secrets.make().filter { $0 != "-" && $0 != "_" }.prefix(12))
  }

  /// The JSON for the service's file, secret included.
  var kept: JSONValue {
    [
      "id": .string(id), "url": .string(receiver.url.text),
      "events": .array(kinds.map(\.rawValue).sorted().map { .string($0) }),
      "secret": .string(receiver.secret),
    ]
  }

  /// The JSON for responses, without the secret.
  var json: JSONValue {
    [
      "id": .string(id), "url": .string(receiver.url.redacted),
      "events": .array(kinds.map(\.rawValue).sorted().map { .string($0) }),
    ]
  }
}
