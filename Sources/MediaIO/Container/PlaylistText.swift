/// An HLS playlist (RFC 8216), read as leniently as libavformat reads it, and what libavformat 5.1, which hangs or
/// crashes with some playlists, may read of it.
struct PlaylistText {
  /// The number of media segments.
  private(set) var segments = 0
  /// The URIs of variants.
  private(set) var variants: [String] = []
  /// The renditions that libavformat can't read, as texts for the user: subtitles and other views.
  private(set) var unread: [String] = []
  /// The URIs of keys.
  private(set) var keys: [String] = []
  /// The URIs of init segments.
  private(set) var maps: Set<String> = []
  /// The URI of the init segment of each segment that has one.
  private(set) var mapped: [(segment: ArraySlice<UInt8>, map: String)] = []
  /// Whether segments are parts of files.
  private(set) var hasByteRanges = false
  /// The URIs of segments that begin with a discontinuity.
  private(set) var discontinuities: [String] = []
  private(set) var isEnded = false
  /// The bytes that libavformat may read: of a multivariant playlist the audio renditions and the variants, each URI
  /// after its tag; of a media playlist all but URIs without a tag and the tags of the other kind.
  private(set) var passed: [UInt8] = start
  /// Whether the first segment is encrypted.
  private(set) var needsKey = false
  private var hasSegmentTag = false
  /// Whether samples are encrypted from a segment on that isn't the first.
  private var hasLateEncryption = false

  /// The largest playlist that is read, in bytes: a day of segments of a second.
  static let limit = 16 << 20
  static let start = Array("#EXTM3U".utf8)
  static let end = Array("#EXT-X-ENDLIST\n".utf8)

  private typealias Line = ArraySlice<UInt8>

  init(_ text: [UInt8]) {
    var (isSegment, isDiscontinuity, isEncrypted) = (false, false, false)
    var variant: Line?
    var map: String?
    var (multivariant, media): ([Line], [Line]) = ([], [])
    for line in text.split(whereSeparator: { [0, 10, 13].contains($0) }) {
      func begins(_ tag: String) -> Bool { line.starts(with: tag.utf8) }
      if begins("#"), !Self.multivariantTags.contains(where: { begins($0) }) { media.append(line) }
      if begins("#EXT-X-STREAM-INF:") {
        variant = line
      } else if begins("#EXT-X-MEDIA:") {
        let tag = String(decoding: line, as: UTF8.self)
        // A rendition without a URI is within the variants.
        let hasOwn = Self.uri(in: tag) != nil
        if hasOwn, tag.contains("TYPE=AUDIO") {
          multivariant.append(line)
        } else if hasOwn {
          let kind = tag.contains("TYPE=SUBTITLES") ? "subtitles" : "video"
          unread.append("\(kind) \"\(Self.value(of: "NAME", in: tag) ?? "")\"")
        }
      } else if begins("#EXTINF:") {
        isSegment = true
        hasSegmentTag = true
      } else if line.elementsEqual("#EXT-X-DISCONTINUITY".utf8) {
        isDiscontinuity = true
      } else if begins("#EXT-X-ENDLIST") {
        isEnded = true
      } else if begins("#EXT-X-MAP:") {
        map = Self.uri(in: String(decoding: line, as: UTF8.self))
        if let map { maps.insert(map) }
      } else if begins("#EXT-X-BYTERANGE:") {
        hasByteRanges = true
      } else if begins("#EXT-X-KEY:") {
        let tag = String(decoding: line, as: UTF8.self)
        isEncrypted = tag.contains("SAMPLE-AES")
        if isEncrypted, segments > 0 { hasLateEncryption = true }
        if segments == 0 { needsKey = !tag.contains("METHOD=NONE") }
        if let key = Self.uri(in: tag) { keys.append(key) }
      } else if line.first != 0x23, line.contains(where: { $0 > 32 }) {
        if let tag = variant {
          variants.append(String(decoding: line, as: UTF8.self))
          multivariant += [tag, line]
        }
        if isSegment {
          segments += 1
          media.append(line)
          if let map { mapped.append((line, map)) }
          if isDiscontinuity { discontinuities.append(String(decoding: line, as: UTF8.self)) }
        }
        (variant, isSegment, isDiscontinuity) = (nil, false, false)
      }
    }
    for line in variants.isEmpty ? media : multivariant {
      passed.append(10)
      passed += line
    }
    passed.append(10)
  }

  private static let multivariantTags = [
    "#EXTM3U", "#EXT-X-STREAM-INF", "#EXT-X-I-FRAME-STREAM-INF", "#EXT-X-MEDIA:",
  ]

  private static func uri(in tag: String) -> String? { value(of: "URI", in: tag) }

  private static func value(of attribute: String, in tag: String) -> String? {
    guard let start = tag.firstRange(of: "\(attribute)=\"") else { return nil }
    return String(tag[start.upperBound...].prefix { $0 != "\"" })
  }

  /// Why the playlist isn't read; `nil` if it can be.
  var refusal: String? {
    if hasSegmentTag, !variants.isEmpty {
      return "it has both variants and segments (RFC 8216, 4.1)"
    }
    if hasLateEncryption {
      return "its samples are encrypted (SAMPLE-AES), but not from the first segment on"
    }
    return nil
  }

  /// Whether `url`, which libavformat has made absolute, is one of `uris`.
  static func contains(_ url: String, in uris: Set<String>) -> Bool {
    uris.contains { uri in
      var uri = uri[...]
      while let prefix = ["./", "../"].first(where: { uri.hasPrefix($0) }) {
        uri = uri.dropFirst(prefix.utf8.count)
      }
      return url == uri || url.hasSuffix("/\(uri)") || url.hasSuffix(":\(uri)")
    }
  }
}
