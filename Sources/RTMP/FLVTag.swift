/// One tag of FLV (Video File Format Specification 10.1, E.4): what a published stream is made of.
public struct FLVTag: Sendable, Hashable {
  /// What a tag holds.
  public enum Kind: UInt8, Sendable {
    case audio = 8
    case video = 9
    case script = 18
  }

  /// What it holds.
  public var kind: Kind
  /// Milliseconds; wraps after 49.7 days.
  public var timestamp: UInt32
  /// The tag's data, as the codec's header byte begins it.
  public var payload: [UInt8]

  /// A tag of the three.
  public init(_ kind: Kind, timestamp: UInt32, payload: [UInt8]) {
    self.kind = kind
    self.timestamp = timestamp
    self.payload = payload
  }

  /// What a file begins with, up to its first tag: sound and pictures may follow.
  public static let fileHeader: [UInt8] = Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]

  /// The tag and its size behind it, as they stand in a file.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(payload.count + 15)
    bytes.append(kind.rawValue)
    bytes.appendBigEndian(UInt64(payload.count), bytes: 3)
    bytes.appendBigEndian(UInt64(timestamp & 0xFFFFFF), bytes: 3)
    bytes.append(UInt8(timestamp >> 24))
    bytes += [0, 0, 0]
    bytes += payload
    bytes.appendBigEndian(UInt64(payload.count + 11), bytes: 4)
    return bytes
  }

  /// Whether decoding may begin here: a keyframe, or sound parameters and picture parameters that must
  /// be there before one.
  public var isConfiguration: Bool {
    guard let head = payload.first else { return false }
    switch kind {
    case .script: return true
    // AAC with its type 0 behind; AVC and HEVC likewise.
    case .audio: return head >> 4 == 10 && payload.dropFirst().first == 0
    case .video: return [7, 12].contains(head & 15) && payload.dropFirst().first == 0
    }
  }

  /// Whether it holds a keyframe's picture.
  public var isKeyframe: Bool {
    guard kind == .video, let head = payload.first, head >> 4 == 1 else { return false }
    return ![7, 12].contains(head & 15) || payload.dropFirst().first == 1
  }
}
