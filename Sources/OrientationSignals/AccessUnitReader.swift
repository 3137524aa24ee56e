/// Reads access units in decoding order: which display orientation message each picture carries and
/// where a coded video sequence starts. Slices are not parsed beyond their first bit.
struct AccessUnitReader: Sendable {
  /// What one packet holds of a picture.
  struct Picture: Sendable {
    /// A coded video sequence starts with it.
    var startsSequence: Bool
    /// The last message in front of its slices.
    var message: DisplayOrientationMessage?
  }

  private let codec: DisplayOrientationTracker.Codec
  private let framing: NALFraming
  /// A message read, whose picture is still to come: in a packet of its own, say.
  private var pending: DisplayOrientationMessage?
  /// Nothing came yet, or the sequence was ended: HEVC's CRA starts one here (NoRaslOutputFlag).
  private var isAtStart = true
  private var skipsRASL = false
  private var lastPTS: Int64?
  /// Messages passed over because they make no sense.
  private(set) var damagedMessages = 0

  init(codec: DisplayOrientationTracker.Codec, configuration: some Collection<UInt8>) {
    self.codec = codec
    framing = NALFraming(configuration: configuration, codec: codec)
  }

  /// The picture of this packet, with both fields of a field pair as one; nil where the packet holds
  /// none, only more slices of the last one, or one that is never output.
  mutating func read(_ packet: Span<UInt8>, pts: Int64?) -> Picture? {
    var picture: Picture?
    var units = NALUnits(framing.actual(in: packet))
    while let range = units.next(in: packet) {
      switch NALUnit(packet, range, codec: codec) {
      case .sei:
        let body = range.dropFirst(codec.headerLength)
        let found = DisplayOrientationMessage.read(in: packet, body, codec: codec)
        pending = found.messages.last ?? pending
        damagedMessages += found.damaged
      case .slice(let slice):
        // Later slices of the picture before, in a packet of their own.
        let isMore =
          picture == nil && !slice.isFirst && !isAtStart && (pts == nil || pts == lastPTS)
        if slice.isFirst || (picture == nil && !isMore) { add(slice, to: &picture) }
      case .endOfSequence:
        isAtStart = true
      case .other:
        break
      }
    }
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
