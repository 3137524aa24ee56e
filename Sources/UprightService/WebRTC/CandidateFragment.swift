internal import RotationPolicy

/// ICE candidates that a publisher sends after its offer: the body of a PATCH request (RFC 8840, 9).
struct CandidateFragment: Sendable {
  /// The candidates, as Janus takes them.
  let candidates: [JSONValue]

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
  }
}
