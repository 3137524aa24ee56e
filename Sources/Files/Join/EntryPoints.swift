internal import OrientationSignals
internal import UprightContainers
internal import UprightMediaIO

/// What a packet is as a place to begin decoding.
enum EntryKind: Sendable, Hashable {
  /// Nothing behind it in decoding order needs anything in front of it.
  case closed
  /// Decoding can begin here, but pictures that follow it and are shown before it need earlier ones.
  case open
  /// Decoding cannot begin here.
  case none
}

/// Tells the entry points of one stream from its packets.
struct EntryPointReader: Sendable {
  private enum Syntax {
    case units(DisplayOrientationTracker.Codec, NALFraming)
    case vp9, av1, unknown
  }

  private let syntax: Syntax

  init(_ video: StreamInfo) {
    syntax =
      switch video.codecName {
      case "vp9": .vp9
      case "av1": .av1
      default:
        DisplayOrientationTracker.Codec(named: video.codecName).map {
          .units(
            $0, NALFraming(configuration: video.parameters.extradata, codec: $0))
        } ?? .unknown
      }
  }

  /// What the packet is; of a codec whose syntax is not read, `open` where the container calls it a
  /// keyframe. O(the bytes up to its first slice's end).
  func kind(of packet: borrowing Packet) -> EntryKind {
    let found: DecodingEntry = unsafe packet.withBytes { bytes in
      switch syntax {
      case .units(let codec, let framing):
        unsafe DecodingEntry(bytes, codec: codec, framing: framing)
      case .vp9: unsafe DecodingEntry(vp9: bytes)
      case .av1: unsafe DecodingEntry(av1: bytes)
      case .unknown: .none
      }
    }
    switch found {
    case .closed: return .closed
    case .open: return .open
    case .none: return packet.isKey ? .open : .none
    }
  }
}
