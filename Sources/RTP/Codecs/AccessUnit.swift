public import Orientation

/// One frame of video, or one packet of sound, as a decoder takes it.
public struct AccessUnit: Sendable, Hashable {
  /// H.264 with start codes; VP8 and VP9 frames, sound packets as they are.
  public var bytes: [UInt8]
  /// Ticks of the codec's clock since the stream's first packet; pictures in decoding order, so that
  /// it may go back.
  public var ticks: Int64
  /// Whether decoding can start here.
  public var isKey: Bool
  /// What stands the picture upright, where the stream says so.
  public var cvo: CVO?
  /// Whether something of it was lost.
  public var isIncomplete: Bool
  /// Whether something that it may refer to was lost.
  public var followsLoss: Bool

  init(bytes: [UInt8], ticks: Int64, isKey: Bool) {
    (self.bytes, self.ticks, self.isKey) = (bytes, ticks, isKey)
    (cvo, isIncomplete, followsLoss) = (nil, false, false)
  }
}

/// Payload formats that are read.
public enum RTPCodec: String, Sendable, CaseIterable {
  /// RFC 6184.
  case h264
  /// RFC 7741.
  case vp8
  /// RFC 9628.
  case vp9
  /// RFC 7587.
  case opus
  /// RFC 3551, 4.5.14: G.711, mu-law and A-law.
  case pcmu, pcma

  /// Whether it carries pictures.
  public var isVideo: Bool { self == .h264 || self == .vp8 || self == .vp9 }

  /// Ticks a second of its timestamps.
  public var clockRate: Int {
    switch self {
    case .h264, .vp8, .vp9: 90_000
    case .opus: 48_000
    case .pcmu, .pcma: 8000
    }
  }
}

/// The payloads of one frame in order, and where between them something is missing.
struct FramePayloads: Sendable {
  var payloads: [ArraySlice<UInt8>] = []
  /// Before which of them packets were lost.
  var gaps: Set<Int> = []
  /// Whether packets were lost behind the last.
  var isEndLost = false
  /// Bytes in all.
  var size = 0
}

/// What a payload format makes of a frame's payloads.
struct DepacketizedFrame: Sendable {
  var bytes: [UInt8] = []
  var isKey = false
  var isIncomplete = false
  /// Whether its beginning is there: what was lost before it was of other frames.
  var isStartThere = true
  /// Whether there is a picture in it, not only what precedes one.
  var hasPicture = true
  /// Payloads that are not of the format.
  var malformed = 0
}
