/// The FLV of a publisher since its newest keyframe, with which another worker can begin.
struct PublisherReplay {
  /// What a tag is for.
  private enum Kind: Hashable {
    /// The streams' description: metadata, and the parameters of a codec.
    case metadata, videoParameters, audioParameters
    case keyframe
    case other
  }

  /// The longest replay: in seconds of the stream, and in bytes.
  private static let limits = (milliseconds: Int64(10_000), bytes: 8 << 20)

  /// The last of each description, and those before the replay.
  private var newest: [Kind: [UInt8]] = [:]
  private var descriptions: [Kind: [UInt8]] = [:]
  private var tags: [[UInt8]] = []
  private var bytes = 0
  /// The number of tags of all publishers before the replay, and so far.
  private(set) var first = 0
  private(set) var count = 0
  /// Whether the stream since the keyframe is longer than the limits.
  private var isCut = false
  /// Whether the worker gets nothing until the next keyframe.
  private var waitsForKeyframe = false

  /// Begins with another publisher.
  mutating func begin() {
    newest = [:]
    restart()
    (isCut, waitsForKeyframe) = (false, false)
  }

  private mutating func restart() {
    (descriptions, tags, bytes, first) = (newest, [], 0, count)
  }

  /// Adds a tag. Returns whether the worker gets it.
  mutating func add(_ tag: [UInt8]) -> Bool {
    let kind = Self.kind(tag)
    if kind == .keyframe {
      restart()
      (isCut, waitsForKeyframe) = (false, false)
    }
    count += 1
    if kind != .keyframe, kind != .other {
      newest[kind] = tag
      if tags.isEmpty {
        descriptions[kind] = tag
        return true
      }
    }
    guard !isCut, !waitsForKeyframe else { return !waitsForKeyframe }
    tags.append(tag)
    bytes += tag.count
    let length = abs(Self.time(tag) - Self.time(tags[0]))
    if bytes > Self.limits.bytes || length > Self.limits.milliseconds {
      isCut = true
      restart()
    }
    return true
  }

  /// How long ago the first frame is shown, in seconds: less than 0 right after it, if frames are reordered.
  var seconds: Double {
    guard let first = tags.first, let last = tags.last else { return 0 }
    let shown = Self.time(first) + (Self.kind(first) == .keyframe ? Self.composition(first) : 0)
    return max(-1, Double(Self.time(last) - shown) / 1000)
  }

  /// Returns the tags with which another worker begins. After those it gets what is added.
  ///
  /// - Parameter skips: Whether it begins at the next keyframe, because workers have died since the last one.
  mutating func restarted(skipping skips: Bool) -> [[UInt8]] {
    if isCut || skips {
      restart()
      waitsForKeyframe = true
    }
    return [.metadata, .videoParameters, .audioParameters].compactMap { descriptions[$0] } + tags
  }

  /// The time of a tag, in milliseconds.
  private static func time(_ tag: [UInt8]) -> Int64 {
    Int64(tag[7]) << 24 | Int64(tag[4]) << 16 | Int64(tag[5]) << 8 | Int64(tag[6])
  }

  /// How much later a frame is shown than its video tag's time, in milliseconds (CompositionTime, E.4.3.2; Enhanced RTMP v2,
  /// SI24 of CodedFrames).
  private static func composition(_ tag: [UInt8]) -> Int64 {
    let data = Array(tag[11..<tag.count - 4].prefix(8))
    guard data.count == 8 || data.count >= 5 && data[0] & 0x80 == 0 else { return 0 }
    let isExtended = data[0] & 0x80 != 0
    let hasTime =
      isExtended
      ? data[0] & 15 == 1
        && ["avc1", "hvc1"].contains(String(decoding: data[1..<5], as: UTF8.self))
      : [7, 12].contains(data[0] & 15) && data[1] == 1
    guard hasTime else { return 0 }
    let bits = data.dropFirst(isExtended ? 5 : 2).prefix(3).reduce(0) { $0 << 8 | UInt32($1) }
    return Int64(Int32(bitPattern: bits << 8) >> 8)
  }

  /// (E.4.2, E.4.3; Enhanced RTMP v2, Enhanced Audio and Video.)
  private static func kind(_ tag: [UInt8]) -> Kind {
    let data = tag[11..<tag.count - 4]
    guard let byte = data.first else { return .other }
    let second = data.dropFirst().first
    switch tag[0] & 0x1F {
    case 18: return data.starts(with: [2, 0, 10] + Array("onMetaData".utf8)) ? .metadata : .other
    case 8:
      if byte >> 4 == 9 { return type(data, multitrack: 5) == 0 ? .audioParameters : .other }
      return byte >> 4 == 10 && second == 0 ? .audioParameters : .other
    case 9:
      let isKey = byte >> 4 & 7 == 1
      guard byte & 0x80 != 0 else {
        if [7, 12].contains(byte & 15), second == 0 { return .videoParameters }
        return isKey ? .keyframe : .other
      }
      guard let type = type(data, multitrack: 6) else { return .other }
      return type == 0 ? .videoParameters : isKey ? .keyframe : .other
    default: return .other
    }
  }

  /// Returns the packet type of an extended tag. `nil` if it is of another track than the first.
  private static func type(_ data: ArraySlice<UInt8>, multitrack: UInt8) -> UInt8? {
    let head = Array(data.prefix(7))
    guard head[0] & 15 == multitrack, head.count == 7 else { return head[0] & 15 }
    // One track alone, whose number follows the codec.
    if head[1] >> 4 == 0, head[6] != 0 { return nil }
    return head[1] & 15
  }
}
