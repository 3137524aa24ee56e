/// Parses access units in decoding order: the display orientation message of each picture, and the
/// start of each coded video sequence. Slices are not parsed beyond their first bit.
struct AccessUnitReader: Sendable {
  /// What one packet contains of a picture.
  struct Picture: Sendable {
    /// Whether a coded video sequence starts with this picture.
    var startsSequence: Bool
    /// The last message that belongs to it.
    var message: DisplayOrientationMessage?
  }

  private let codec: DisplayOrientationTracker.Codec
  private let framing: NALFraming
  /// Whether a packet is one access unit with all its messages: a sample with lengths (ISO/IEC 14496-15,
  /// 5.2.2 and 5.3.2). Otherwise a message after a picture's slices begins the next access unit
  /// (ISO/IEC 14496-10, 7.4.1.2.3; ISO/IEC 23008-2, 7.4.2.4.4).
  private let isSampled: Bool
  /// A message whose picture has not been read yet, for example because the message is in a
  /// separate packet.
  private var pending: DisplayOrientationMessage?
  /// Whether nothing was read yet, or an end of sequence was: an HEVC CRA starts a sequence here
  /// (NoRaslOutputFlag).
  private var isAtStart = true
  private var skipsRASL = false
  private var lastPTS: Int64?
  /// The number of invalid messages that were skipped.
  private(set) var damagedMessages = 0

  init(codec: DisplayOrientationTracker.Codec, configuration: some Collection<UInt8>) {
    self.codec = codec
    framing = NALFraming(configuration: configuration, codec: codec)
    isSampled = framing != .startCodes
  }

  /// Returns the picture of this packet, with a field pair as one picture. Returns `nil` if the
  /// packet contains no picture, only more slices of the last one, or one that is never output.
  mutating func read(_ packet: Span<UInt8>, pts: Int64?) -> Picture? {
    var picture: Picture?
    var hasSlice = false
    var units = NALUnits(framing.actual(in: packet))
    while let range = units.next(in: packet) {
      switch NALUnit(packet, range, codec: codec) {
      case .sei:
        let body = range.dropFirst(codec.headerLength)
        let found = DisplayOrientationMessage.read(in: packet, body, codec: codec)
        pending = found.messages.last ?? pending
        damagedMessages += found.damaged
      case .slice(let slice):
        hasSlice = true
        // Later slices of the previous picture, in a separate packet.
        let isMore =
          picture == nil && !slice.isFirst && !isAtStart && (pts == nil || pts == lastPTS)
        if slice.isFirst || (picture == nil && !isMore) { add(slice, to: &picture) }
      case .endOfSequence:
        isAtStart = true
      case .other:
        break
      }
    }
    if isSampled, hasSlice, let late = pending.take() { picture?.message = late }
    if picture != nil { lastPTS = pts }
    return picture
  }

  private mutating func add(_ slice: NALUnit.Slice, to picture: inout Picture?) {
    let starts = slice.startsSequence || isAtStart
    isAtStart = false
    if slice.isRandomAccess { skipsRASL = starts }
    let message = pending
    pending = nil
    guard !(slice.isSkippable && skipsRASL) else { return }
    picture = Picture(
      startsSequence: starts || picture?.startsSequence == true,
      message: message ?? picture?.message)
  }
}
