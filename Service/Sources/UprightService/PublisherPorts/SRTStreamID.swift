internal import Foundation
internal import UprightRTMP

/// What a publisher by SRT asks for in its `streamid`: `APP/NAME?key=KEY`, or that as the resource of the form
/// `#!::r=APP/NAME?key=KEY,m=publish` (SRT Access Control Guidelines).
struct SRTStreamID: Sendable, Hashable {
  /// The stream's path, without slashes around it.
  let path: String
  /// The value of `key` behind the path; empty if there is none. It is a secret.
  let key: String

  /// The longest identifier that SRT carries, in bytes.
  static let maxSize = 512
  private static let mark = "#!:"

  /// Parses an identifier in which characters may be escaped as in a URL: some clients send it as they got it.
  ///
  /// - Throws: `PublishRefusal` for another form, and for a client that doesn't publish.
  init(_ escaped: String) throws(PublishRefusal) {
    let text = escaped.removingPercentEncoding ?? escaped
    guard escaped.utf8.count <= Self.maxSize, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
    else { throw PublishRefusal("the streamid is too long, or has control characters", .invalid) }
    let resource = text.hasPrefix(Self.mark) ? try Self.resource(text) : text
    let sides = resource.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = sides[0].split(separator: "/").joined(separator: "/")
    guard !path.isEmpty else { throw PublishRefusal("the streamid names no stream", .invalid) }
    self.path = path
    key =
      sides.dropFirst().first?.split(separator: "&").first { $0.hasPrefix("key=") }
      .map { String($0.dropFirst(4)) } ?? ""
  }

  /// Returns the resource of the form with keys, which may be in any order. Unknown keys are ignored.
  private static func resource(_ text: String) throws(PublishRefusal) -> String {
    let rest = text.dropFirst(mark.count)
    guard rest.hasPrefix(":") else {
      throw PublishRefusal("the streamid must begin with #!::", .invalid)
    }
    var values: [Substring: String] = [:]
    for member in rest.dropFirst().split(separator: ",") {
      let key = member.prefix { $0 != "=" }
      guard key.endIndex != member.endIndex else {
        throw PublishRefusal("the streamid has a key without a value", .invalid)
      }
      guard values.updateValue(String(member[key.endIndex...].dropFirst()), forKey: key) == nil
      else { throw PublishRefusal("the streamid has a key twice", .invalid) }
    }
    guard values["m"] == "publish" else {
      throw PublishRefusal("publishers only: the streamid needs m=publish", .mode)
    }
    guard [nil, "stream"].contains(values["t"]) else {
      throw PublishRefusal("the streamid's t isn't stream", .invalid)
    }
    return values["r"] ?? ""
  }

  /// The address of a publisher, as RTMP has it: there the key is escaped.
  var address: PublishConnection.Address {
    .init(app: "", name: path, key: key.replacing("%", with: "%25"))
  }
}

extension StreamURL {
  /// The components of the path of a publisher's stream. For SRT that is the `streamid`.
  ///
  /// Empty if it isn't valid.
  var streamPath: [String] {
    guard scheme == "srt" else { return path.split(separator: "/").map(String.init) }
    let id = try? SRTStreamID(queryValue("streamid") ?? "")
    return id?.path.split(separator: "/").map(String.init) ?? []
  }

  /// Returns the URL of a stream at the port of this one, without a passphrase.
  func stream(_ path: String) -> StreamURL {
    var url = self
    if scheme == "srt" { url.query = "streamid=\(path)" } else { url.path = "/\(path)" }
    return url
  }

  /// The passphrase, decoded; `nil` if there is none.
  var passphrase: String? {
    queryValue("passphrase").map { $0.removingPercentEncoding ?? $0 }
  }

  /// The passphrase, as it is written and decoded.
  var passphraseSecrets: [String] { [queryValue("passphrase"), passphrase].compactMap(\.self) }
}
