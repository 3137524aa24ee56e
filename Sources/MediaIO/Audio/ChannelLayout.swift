internal import CUprightFFmpeg

/// The speakers that the channels of audio are for.
package struct ChannelLayout: Sendable, Hashable {
  /// The number of channels.
  package let count: Int
  /// libavutil's mask of the speakers; 0 if they are unknown, or not in the mask's order.
  private let mask: UInt64

  package static let mono = Self(mask: centre)
  package static let stereo = Self(mask: front)

  init(_ raw: AVChannelLayout) {
    count = max(0, Int(raw.nb_channels))
    mask = raw.order == AV_CHANNEL_ORDER_NATIVE ? raw.u.mask : 0
  }

  private init(mask: UInt64) { (count, self.mask) = (mask.nonzeroBitCount, mask) }

  /// The usual one for a number of channels.
  private init(usual count: Int) {
    var raw = AVChannelLayout()
    av_channel_layout_default(&raw, CInt(clamping: count))
    self.init(raw)
  }

  /// Stores the layout where libavutil expects it.
  func set(_ raw: inout AVChannelLayout) {
    guard mask == 0 || av_channel_layout_from_mask(&raw, mask) < 0 else { return }
    av_channel_layout_default(&raw, CInt(clamping: count))
  }

  /// Returns the layout in which an encoder keeps the channels apart, as far as players know where each belongs.
  func fitting(_ encoder: String) -> Self {
    let choices: [Self]
    switch encoder {
    case "aac": choices = Self.aac
    case "libopus": choices = Self.opus
    default: return self
    }
    let own = atBack
    guard own.mask != 0 else { return Self(usual: count) }
    return choices.first { own.mask & ~$0.mask == 0 }
      ?? choices.first { own.reduced.mask & ~$0.mask == 0 } ?? Self(usual: count)
  }

  /// The same with a pair at the sides behind, where there is none: one pair of surround speakers has both names.
  private var atBack: Self {
    mask & (Self.back | Self.backCentre) == 0 && mask & Self.sides == Self.sides
      ? Self(mask: mask & ~Self.sides | Self.back) : self
  }

  /// The same with a centre behind in the pair there, and those beside the centre in front.
  private var reduced: Self {
    var reduced = mask & ~(Self.backCentre | Self.beside)
    if mask & Self.backCentre != 0 { reduced |= Self.back }
    if mask & Self.beside != 0 { reduced |= Self.front }
    return Self(mask: reduced)
  }

  // libavutil's bits: front left and right, front centre, bass, back left and right, those beside the centre, back centre,
  // sides.
  private static let (front, centre, bass): (UInt64, UInt64, UInt64) = (0b11, 0b100, 0b1000)
  private static let (back, beside): (UInt64, UInt64) = (0b11_0000, 0b1100_0000)
  private static let (backCentre, sides): (UInt64, UInt64) = (1 << 8, 0b11 << 9)

  /// The channel configurations of AAC that libavcodec reads as it writes them (ISO/IEC 14496-3, table 1.19), the smallest first.
  private static let aac: [Self] = [
    centre, front, front | centre, front | centre | backCentre, front | centre | back,
    front | centre | bass | back, front | centre | bass | back | sides,
  ].map { Self(mask: $0) }

  /// Those of Opus in Ogg's mapping family 1 (RFC 7845, 5.1.1.2).
  private static let opus: [Self] = [
    centre, front, front | centre, front | back, front | centre | back,
    front | centre | bass | back, front | centre | bass | backCentre | sides,
    front | centre | bass | back | sides,
  ].map { Self(mask: $0) }
}
