/// The members of FLV's `onMetaData` script data.
package struct FLVMetadata: Sendable, Hashable {
  /// The orientation that it has.
  package private(set) var orientation = FLVOrientation(orientation: nil, rotation: nil)
  /// The frame rate that it declares, in frames per second. `nil` if it declares none that is a number.
  package private(set) var frameRate: Double?
  /// Whether it names an audio codec.
  package private(set) var declaresAudio = false
  /// Whether it names a video codec, or a width.
  package private(set) var declaresVideo = false

  /// Parses the body of a script tag (AMF 0: a name and an object or array of members). Returns
  /// `nil` if it is not `onMetaData` or is damaged before its first member. Truncated members are
  /// ignored.
  package init?(script body: [UInt8]) {
    var reader = AMFReader(body)
    guard let name = reader.value(), name == .text("onMetaData") || name == .text("@setDataFrame")
    else { return nil }
    if name == .text("@setDataFrame"), reader.value() != .text("onMetaData") { return nil }
    guard reader.beginMembers() else { return nil }
    while let key = reader.key(), let value = reader.value() {
      switch key {
      case "orientation": orientation.orientation = value
      case "rotation": orientation.rotation = value
      case "framerate": frameRate = value.number
      case "audiocodecid": declaresAudio = value.number.map { $0 > 0 } ?? true
      case "videocodecid", "width":
        declaresVideo = declaresVideo || value.number.map { $0 > 0 } ?? true
      default: break
      }
    }
  }
}

extension FLVOrientation {
  /// Parses the body of a script tag. Returns `nil` if it is not `onMetaData`.
  package init?(script body: [UInt8]) {
    guard let metadata = FLVMetadata(script: body) else { return nil }
    self = metadata.orientation
  }
}

/// The `onMetaData` script data at the start of an FLV file.
package struct FLVOpening: Sendable, Hashable {
  /// The orientation before the first frame.
  package private(set) var first = FLVOrientation(orientation: nil, rotation: nil)
  /// Later `onMetaData` tags with the timestamp 0.
  package private(set) var later: [Rewrite] = []

  /// A later `onMetaData` tag whose timestamp is 0 and so doesn't tell where it applies.
  package struct Rewrite: Sendable, Hashable {
    /// The number of frames before it, in file order.
    package let frames: Int
    /// The orientation members it contains.
    package let said: FLVOrientation
  }

  /// Parses the first bytes of a file. Returns `nil` if they end before its first frame.
  package init?(_ file: [UInt8]) {
    var reader = ByteReader(file)
    guard reader.text(3) == "FLV", reader.skip(2) != nil, let header = reader.count(4), header >= 9,
      reader.skip(header - 9 + 4) != nil
    else { return nil }
    var frames = 0
    while let type = reader.count(1), let size = reader.count(3), let time = reader.count(4),
      reader.skip(3) != nil, let body = reader.skip(size), reader.skip(4) != nil
    {
      switch type & 0x1F {
      case 18:
        guard let said = FLVOrientation(script: Array(file[body])), !said.isEmpty else { continue }
        if frames == 0 {
          first = said
        } else if time == 0 {
          later.append(Rewrite(frames: frames, said: said))
        }
      case 9 where FLVTrackTag.parts(of: .video, Array(file[body])).contains(where: \.isFrame):
        frames += 1
      default: continue
      }
    }
    if frames == 0 { return nil }
  }
}

/// Parses AMF 0, the format of FLV's script data. Every step consumes bytes, and nesting is
/// bounded.
private struct AMFReader {
  private var reader: ByteReader
  private static let deepest = 16

  init(_ bytes: [UInt8]) { reader = ByteReader(bytes) }

  /// Enters an object or an ECMA array. Returns `false` if there is neither.
  mutating func beginMembers() -> Bool {
    switch reader.count(1) {
    case 3: true
    case 8: reader.skip(4) != nil
    default: false
    }
  }

  /// Reads the next member's name. Returns `nil` at the end.
  mutating func key() -> String? {
    guard let length = reader.count(2), length > 0 else { return nil }
    return reader.text(length)
  }

  /// Reads the next value. Returns `nil` if it is truncated, nested too deeply or of an unknown
  /// type.
  mutating func value() -> FLVOrientation.Value? { value(depth: 0) }

  private mutating func value(depth: Int) -> FLVOrientation.Value? {
    guard depth < Self.deepest, let type = reader.count(1) else { return nil }
    switch type {
    case 0: return reader.integer(8).map { .number(Double(bitPattern: $0)) }
    case 2: return reader.count(2).flatMap { reader.text($0) }.map { .text($0) }
    case 12, 15: return reader.count(4).flatMap { reader.text($0) }.map { .text($0) }
    case 1: return reader.skip(1).map { _ in .other }
    case 3: return members(depth: depth)
    case 5, 6: return .other
    case 7: return reader.skip(2).map { _ in .other }
    case 8: return reader.skip(4) == nil ? nil : members(depth: depth)
    case 10: return elements(depth: depth)
    case 11: return reader.skip(10).map { _ in .other }
    default: return nil
    }
  }

  /// Reads members up to an empty name and the end marker.
  private mutating func members(depth: Int) -> FLVOrientation.Value? {
    while let length = reader.count(2), reader.skip(length) != nil {
      if length == 0 { return reader.count(1) == 9 ? .other : nil }
      guard value(depth: depth + 1) != nil else { return nil }
    }
    return nil
  }

  private mutating func elements(depth: Int) -> FLVOrientation.Value? {
    guard let count = reader.count(4), count <= reader.count else { return nil }
    for _ in 0..<count where value(depth: depth + 1) == nil { return nil }
    return .other
  }
}
