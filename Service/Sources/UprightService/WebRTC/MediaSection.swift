/// A media section of a session description (RFC 8866, 5.14), as far as WebRTC's signalling needs it.
struct MediaSection: Sendable, Hashable {
  /// `video`, `audio` or `application`.
  let kind: String
  /// 0 if the section is rejected.
  let port: Int
  /// The payload types, in order of preference.
  let types: [Int]
  /// The attributes, without `a=`.
  var attributes: [String] = []

  private static let mostLines = 4000

  /// Parses the media sections of a session description. Returns `nil` if the text isn't one.
  static func parse(_ text: String) -> [MediaSection]? {
    let lines = text.split(whereSeparator: \.isNewline)
    guard lines.first == "v=0", lines.count <= mostLines else { return nil }
    var sections: [MediaSection] = []
    for line in lines {
      guard line.dropFirst().first == "=" else { return nil }
      if line.hasPrefix("m=") {
        let words = line.dropFirst(2).split(separator: " ")
        guard words.count >= 4, let port = UInt16(words[1].prefix { $0 != "/" }) else { return nil }
        sections.append(
          MediaSection(
            kind: String(words[0]), port: Int(port), types: words[3...].compactMap { Int($0) }))
      } else if line.hasPrefix("a="), !sections.isEmpty {
        sections[sections.count - 1].attributes.append(String(line.dropFirst(2)))
      }
    }
    return sections
  }

  /// Returns the values of the attributes `NAME:VALUE`.
  func values(of name: String) -> [Substring] {
    attributes.filter { $0.hasPrefix(name + ":") }.map { $0.dropFirst(name.count + 1) }
  }

  /// The identification of the section (RFC 5888).
  var mid: String? { values(of: "mid").first.map(String.init) }

  /// The names of the codecs in lower case, in order of preference.
  var codecs: [String] {
    let maps = values(of: "rtpmap").map { $0.split(separator: " ") }
    return types.compactMap { type in
      maps.first { $0.count == 2 && Int($0[0]) == type }.map {
        $0[1].prefix { $0 != "/" }.lowercased()
      }
    }
  }

  /// The identifier of the header extension for CVO (RFC 8285, 5; 3GPP TS 26.114, 7.4.5).
  var orientationID: Int? {
    for value in values(of: "extmap") {
      let words = value.split(separator: " ")
      if words.count >= 2, words[1].lowercased() == "urn:3gpp:video-orientation" {
        return Int(words[0].prefix { $0 != "/" })
      }
    }
    return nil
  }
}
