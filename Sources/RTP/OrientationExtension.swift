public import Orientation

/// Which header extensions of a session carry CVO (3GPP TS 26.114, 7.4.5): the ids that its
/// description gives to the two URIs.
public struct OrientationExtension: Sendable, Hashable {
  private let ids: [UInt8: CVO.Granularity]

  /// The ids among `uris` (`a=extmap`, or the `x` of a Janus recording) that mean CVO.
  public init(_ uris: [Int: String]) {
    var ids: [UInt8: CVO.Granularity] = [:]
    for (id, uri) in uris {
      guard (1...255).contains(id) else { continue }
      switch uri.lowercased() {
      case "urn:3gpp:video-orientation": ids[UInt8(id)] = .twoBits
      case "urn:3gpp:video-orientation:6": ids[UInt8(id)] = .sixBits
      default: break
      }
    }
    self.ids = ids
  }

  /// Whether the session has the extension.
  public var isNegotiated: Bool { !ids.isEmpty }

  /// What a packet says; nil where it says nothing, or not in exactly one byte.
  public func value(in extensions: HeaderExtensions) -> CVO? {
    if ids.isEmpty { return nil }
    for element in extensions.elements {
      if let granularity = ids[element.id], element.value.count == 1, let byte = element.value.first
      {
        return CVO(byte: byte, granularity: granularity)
      }
    }
    return nil
  }
}

/// What stands for each frame of a stream whose packets carry CVO.
///
/// TS 26.114 lets a sender leave the byte out of frames that are no keyframes while the value stays.
/// libwebrtc leaves it out only where it is 0, and repeats any other value with every frame: from a
/// sender that was seen to repeat, silence means 0.
struct OrientationMemory: Sendable {
  private var standing: CVO?
  private var repeats = false

  /// The value of the next frame in decoding order; nil until one was sent.
  ///
  /// - Parameters:
  ///   - sent: what its packets say.
  ///   - isWhole: whether the packet that would say it is there: the last one.
  mutating func value(sent: CVO?, isKey: Bool, isWhole: Bool) -> CVO? {
    if let sent {
      let isUpright = sent.rotation == 0 && !sent.isFlipped
      if sent == standing, !isKey, !isUpright { repeats = true }
      standing = sent
    } else if repeats, isWhole, let last = standing {
      standing = CVO(isBackCamera: last.isBackCamera, isFlipped: false, rotation: 0)
    }
    return standing
  }
}
