import UprightOrientation
import UprightSignals

typealias Codec = DisplayOrientationTracker.Codec
typealias Message = DisplayOrientationMessage

/// The kinds of pictures in a test stream. In H.264, anything but an IDR is just a slice.
enum PictureKind: Character {
  case idr = "I"
  case cleanRandomAccess = "C"
  case brokenLink = "K"
  case inter = "P"
  case bidirectional = "B"
  case skippedLeading = "S"
  case decodableLeading = "D"

  func slice(_ codec: Codec, isFirst: Bool = true) -> [UInt8] {
    let body: [UInt8] = [isFirst ? 0x88 : 0x48, 0x84, 0x00, 0x10, 0xFF]
    switch codec {
    case .h264: return [self == .idr ? 0x65 : self == .bidirectional ? 0x01 : 0x41] + body
    case .hevc:
      let type: UInt8 =
        switch self {
        case .idr: 19
        case .cleanRandomAccess: 21
        case .brokenLink: 16
        case .inter: 1
        case .bidirectional: 0
        case .skippedLeading: 8
        case .decodableLeading: 6
        }
      return [type << 1, 1] + body
    }
  }
}

/// One access unit of a test stream.
struct SyntheticUnit {
  var kind: PictureKind
  var pts: Int64?
  var message: Message?
  var endsSequence = false

  func units(_ codec: Codec) -> [[UInt8]] {
    let delimiter: [UInt8] = codec == .h264 ? [9, 0xF0] : [35 << 1, 1, 0x50]
    let end: [UInt8] = codec == .h264 ? [10] : [36 << 1, 1]
    return [delimiter] + (message.map { [$0.nal(for: codec)] } ?? []) + [kind.slice(codec)]
      + (endsSequence ? [end] : [])
  }

  func bytes(_ codec: Codec, _ wrapping: Wrapping) -> [UInt8] { wrapping.packet(units(codec)) }
}

/// The framing of units in packets.
enum Wrapping: CaseIterable {
  case startCodes, shortStartCodes, length1, length2, length4

  func packet(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { prefix($0.count) + $0 } }

  private func prefix(_ length: Int) -> [UInt8] {
    switch self {
    case .startCodes: [0, 0, 0, 1]
    case .shortStartCodes: [0, 0, 1]
    case .length1: [UInt8(length)]
    case .length2: [UInt8(length >> 8), UInt8(length & 0xFF)]
    case .length4: withUnsafeBytes(of: UInt32(length).bigEndian) { [UInt8]($0) }
    }
  }

  func configuration(_ codec: Codec) -> [UInt8] {
    let size: UInt8
    switch self {
    case .startCodes, .shortStartCodes: return []
    case .length1: size = 0
    case .length2: size = 1
    case .length4: size = 3
    }
    switch codec {
    case .h264: return [1, 100, 0, 31, 0xFC | size, 0xE0, 0]
    case .hevc: return [1, 1] + [UInt8](repeating: 0, count: 19) + [0xFC | size, 0]
    }
  }
}

/// Parses a stream description in decoding order: `I0=L1` is an IDR at PTS 0 with a message for
/// `left` and repetition period 1, `=x` is a cancel, `_` instead of a PTS means none, a final `.`
/// is an end of sequence.
func stream(_ text: String) -> [SyntheticUnit] {
  text.split(separator: " ").compactMap { word in
    let ends = word.hasSuffix(".")
    let parts = (ends ? word.dropLast() : word).split(separator: "=")
    guard let head = parts.first, let letter = head.first, let kind = PictureKind(rawValue: letter)
    else { return nil }
    let message: Message? =
      parts.count < 2
      ? nil
      : parts[1] == "x"
        ? .cancel
        : orientation(parts[1].prefix(1)).map {
          .set(SEIDisplayOrientation($0), repetitionPeriod: UInt16(parts[1].dropFirst()) ?? 1)
        }
    return SyntheticUnit(
      kind: kind, pts: Int64(head.dropFirst()), message: message, endsSequence: ends)
  }
}

private let letters: [(String, ImageOrientation)] = [
  ("U", .up), ("R", .right), ("D", .down), ("L", .left), ("M", .upMirrored),
]

private func orientation(_ letter: Substring) -> ImageOrientation? {
  letters.first { $0.0 == letter }?.1
}

/// Returns the letter of the signal's orientation, or `-` if there is no signal.
func letter(_ signal: DisplayOrientationSignal?) -> String {
  guard let signal else { return "-" }
  return letters.first { $0.1 == signal.orientation }?.0 ?? "?"
}
