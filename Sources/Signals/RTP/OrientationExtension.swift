package import UprightOrientation

/// The header extensions of a session that carry CVO (3GPP TS 26.114, 7.4.5): the identifiers that its
/// description maps to the two URIs.
package struct OrientationExtension: Sendable, Hashable {
  private let ids: [UInt8: CVO.Granularity]

  /// Selects the identifiers in `uris` (`a=extmap`, or the `x` of a Janus recording) that mean CVO.
  package init(_ uris: [Int: String]) {
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
  package var isNegotiated: Bool { !ids.isEmpty }

  /// Returns a packet's CVO, or `nil` if there is none or its length is not one byte.
  package func value(in extensions: HeaderExtensions) -> CVO? {
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

/// Determines the CVO of each frame of a stream whose packets carry CVO.
///
/// TS 26.114 lets a sender omit the byte from frames other than keyframes while the value is unchanged.
/// libwebrtc omits it only if it is 0, and repeats any other value with every frame. Once a sender has been
/// seen to repeat a value, a missing byte therefore means 0.
struct OrientationMemory: Sendable {
  private var lastSent: CVO?
  private var repeats = false

  /// Returns the value of the next frame in decoding order, or `nil` if none was sent yet.
  ///
  /// - Parameters:
  ///   - sent: The value in the frame's packets.
  ///   - isWhole: Whether the last packet, which carries the value, is present.
  mutating func value(sent: CVO?, isKey: Bool, isWhole: Bool) -> CVO? {
    if let sent {
      let isUpright = sent.rotation == 0 && !sent.isFlipped
      if sent == lastSent, !isKey, !isUpright { repeats = true }
      lastSent = sent
    } else if repeats, isWhole, let last = lastSent {
      lastSent = CVO(isBackCamera: last.isBackCamera, isFlipped: false, rotation: 0)
    }
    return lastSent
  }
}
