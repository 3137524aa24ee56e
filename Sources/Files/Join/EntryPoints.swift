internal import UprightSignals
internal import UprightMedia
internal import UprightMediaIO

/// Whether decoding can start at a packet.
enum EntryKind: Sendable, Hashable {
  /// No packet after it in decoding order needs an earlier packet.
  case closed
  /// Decoding can start here, but frames that follow it and are shown before it need earlier packets.
  case open
  /// Decoding can't start here.
  case none
}

/// Finds the entry points of one stream from its packets.
struct EntryPointReader: Sendable {
  private enum Syntax {
    case units(DisplayOrientationTracker.Codec, NALFraming)
    case vp9, av1, simple, unknown
  }

  private let syntax: Syntax

  /// Codecs whose frames refer to the reference frames beside them in presentation order alone. After a keyframe, only
  /// those that are shown before it need an earlier packet.
  private static let simple: Set = [
    "mpeg1video", "mpeg2video", "mpeg4", "msmpeg4v1", "msmpeg4v2", "msmpeg4v3", "h263", "flv1",
    "wmv1", "wmv2", "wmv3", "vc1", "vp6", "vp6f", "vp8", "theora",
  ]

  init(_ video: StreamInfo) {
    syntax =
      switch video.codecName {
      case "vp9": .vp9
      case "av1": .av1
      case let name where Self.simple.contains(name) || video.parameters.isIntraOnly: .simple
      default:
        DisplayOrientationTracker.Codec(named: video.codecName).map {
          .units(
            $0, NALFraming(configuration: video.parameters.extradata, codec: $0))
        } ?? .unknown
      }
  }

  /// Returns the kind of a packet. If the codec's syntax isn't parsed, the container's mark of a keyframe decides: such a
  /// packet of a simple codec is `closed` even if frames follow it that are shown before it, else it is `open`. O(bytes up
  /// to the end of the first slice).
  func kind(of packet: borrowing Packet) -> EntryKind {
    let isKey = packet.isKey
    let found: DecodingEntry = unsafe packet.withBytes { bytes in
      switch syntax {
      case .units(let codec, let framing):
        unsafe DecodingEntry(bytes, codec: codec, framing: framing)
      case .vp9: unsafe DecodingEntry(vp9: bytes)
      case .av1: unsafe DecodingEntry(av1: bytes)
      case .simple: isKey ? .closed : .none
      case .unknown: .open
      }
    }
    switch found {
    case .closed: return .closed
    case .open: return isKey ? .open : .none
    case .none: return .none
    }
  }
}
