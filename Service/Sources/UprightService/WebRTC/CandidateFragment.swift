internal import UprightPolicy

/// The user name fragment and the password of one side of an ICE session (RFC 8839, 5.4).
struct ICECredentials: Sendable, Hashable {
  let name: Substring
  let password: Substring

  /// The first credentials of a session description or a fragment of one; `nil` if there are none.
  init?(_ text: some StringProtocol) {
    func value(_ prefix: String) -> Substring? {
      text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(prefix) }
        .map { Substring($0.dropFirst(prefix.count)) }
    }
    guard let name = value("a=ice-ufrag:"), let password = value("a=ice-pwd:"),
      (4...256).contains(name.utf8.count), (22...256).contains(password.utf8.count)
    else { return nil }
    (self.name, self.password) = (name, password)
  }
}

/// ICE candidates that a publisher sends after its offer, or new credentials: the body of a PATCH request (RFC 8840, 9).
struct CandidateFragment: Sendable {
  /// The candidates, as Janus takes them.
  let candidates: [JSONValue]
  /// The publisher's credentials; `nil` if there are none.
  let credentials: ICECredentials?

  /// The media type.
  static let type = "application/trickle-ice-sdpfrag"
  private static let mostCandidates = 100

  /// - Throws: `Problem` 400 if the bytes aren't a fragment of a session description.
  init(_ bytes: [UInt8]) throws(Problem) {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .badRequest("the body isn't text")
    }
    var mid: String?
    var found: [JSONValue] = []
    for line in text.split(whereSeparator: \.isNewline) {
      guard line.dropFirst().first == "=" else {
        throw .badRequest("the body isn't a fragment of a session description (RFC 8840)")
      }
      if line.hasPrefix("a=mid:") {
        mid = String(line.dropFirst(6))
      } else if line.hasPrefix("a=candidate:") {
        guard let mid else { throw .badRequest("a candidate has no a=mid before it") }
        found.append(["sdpMid": .string(mid), "candidate": .string(String(line.dropFirst(2)))])
      } else if line == "a=end-of-candidates" {
        found.append(["completed": .bool(true)])
      }
    }
    guard found.count <= Self.mostCandidates else {
      throw .unprocessable("more than \(Self.mostCandidates) candidates")
    }
    candidates = found
    credentials = ICECredentials(text)
  }
}
