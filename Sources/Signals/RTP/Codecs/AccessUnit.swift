package import UprightOrientation

/// One video frame, or one audio packet, in the form that a decoder takes.
package struct AccessUnit: Sendable, Hashable {
  /// The encoded data: H.264 with start codes; VP8 and VP9 frames and audio packets unchanged.
  package var bytes: [UInt8]
  /// The timestamp, in ticks of the codec's clock since the stream's first packet. Frames are in decoding
  /// order, so it may decrease.
  package var ticks: Int64
  /// Whether decoding can start here.
  package var isKey: Bool
  /// The orientation of the frame, if the stream specifies it.
  package var cvo: CVO?
  /// Whether a part of it was lost.
  package var isIncomplete: Bool
  /// Whether something that it may refer to was lost.
  package var followsLoss: Bool

  init(bytes: [UInt8], ticks: Int64, isKey: Bool) {
    (self.bytes, self.ticks, self.isKey) = (bytes, ticks, isKey)
    (cvo, isIncomplete, followsLoss) = (nil, false, false)
  }
}

/// The supported payload formats.
package enum RTPCodec: String, Sendable, CaseIterable {
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

  /// Whether the codec is a video codec.
  package var isVideo: Bool { self == .h264 || self == .vp8 || self == .vp9 }

  /// The clock rate of its timestamps, in ticks per second.
  package var clockRate: Int {
    switch self {
    case .h264, .vp8, .vp9: 90_000
    case .opus: 48_000
    case .pcmu, .pcma: 8000
    }
  }
}

/// The payloads of one frame in order, and the positions of lost packets between them.
struct FramePayloads: Sendable {
  var payloads: [ArraySlice<UInt8>] = []
  /// The indices of payloads before which packets were lost.
  var gaps: Set<Int> = []
  /// Whether packets were lost after the last payload.
  var isEndLost = false
  /// The total size, in bytes.
  var size = 0
}

/// The frame that a payload format extracts from payloads.
struct DepacketizedFrame: Sendable {
  var bytes: [UInt8] = []
  var isKey = false
  var isIncomplete = false
  /// Whether the start of the frame is present. If so, packets lost before it belonged to other frames.
  var isStartThere = true
  /// Whether it contains coded frame data, not only parameter sets and similar.
  var hasFrameData = true
  /// The number of payloads that are not valid for the format.
  var malformed = 0
}
