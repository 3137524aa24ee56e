internal import Orientation
internal import UprightContainers
internal import UprightMediaIO
internal import UprightPipeline

/// The sound of a live session: one AAC track from the first picture to the last, whatever the input
/// sends, and silence where it sends nothing.
///
/// Sound is placed by its media time. Where it differs from what comes before it by less than a frame
/// that is jitter of the publisher's clock; a hole is filled with silence, and what is there twice is
/// left out: so it is never more than a frame away from its picture.
struct LiveAudio {
  /// Samples a second.
  static let rate = 48_000

  private let encoder: AudioEncoder
  private let frame: Int
  /// Samples that wait for a whole frame; the first is at `head`.
  private var waiting = StereoSamples()
  private var head: Int64 = 0

  /// Seconds that sound may be behind its pictures before silence takes its place.
  private static let patience = 1.0

  /// - Throws: `unavailable` where there is no AAC encoder.
  init() throws(UprightError) {
    encoder = try AudioEncoder(rate: Self.rate, bitrate: 128_000, wantsGlobalHeader: true)
    frame = encoder.frameSize
  }

  /// Where the first packet lies, in seconds: the encoder's priming precedes the sound.
  var earliest: Double { -Double(encoder.priming) / Double(Self.rate) }

  /// How far sound must go in, in ticks of the live clock, for what lies at a time to be out: the
  /// encoder keeps a frame and its priming back, and the frame itself must be whole.
  var delay: Int64 { Int64(encoder.priming + 2 * frame) * LiveClock.rate / Int64(Self.rate) }

  /// The track as outputs describe it.
  func track() throws(UprightError) -> SideTrack {
    let parameters = try encoder.parameters()
    return SideTrack(
      parameters: parameters, timeBase: encoder.timeBase,
      source: StreamInfo(
        index: 1, kind: .audio, parameters: parameters, timeBase: encoder.timeBase),
      metadata: [:])
  }

  /// Where the next sample is wanted.
  private var end: Int64 { head + Int64(waiting.count) }

  /// Takes samples that belong at `time`, in ticks of the live clock.
  mutating func take(
    _ samples: consuming StereoSamples, at time: Int64,
    emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    let position = time * Int64(Self.rate) / LiveClock.rate
    var samples = samples
    let gap = position - end
    if gap > Int64(frame) {
      // Farther ahead than any interleaving: nothing is filled on the word of one packet.
      guard gap < 30 * Int64(Self.rate) else { return }
      waiting.append(.silence(Int(gap)))
    } else if gap < -Int64(frame) {
      samples.removeFirst(Int(min(-gap, Int64(samples.count))))
    }
    waiting.append(samples)
    try encode(emit)
  }

  /// Says how far the pictures are: sound that does not come is silence.
  ///
  /// - Parameters:
  ///   - time: in ticks of the live clock.
  ///   - isExpected: whether the input has sound that may still come.
  mutating func reach(
    _ time: Int64, isExpected: Bool, emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    var position = time * Int64(Self.rate) / LiveClock.rate
    if isExpected { position -= Int64(clamping: Self.patience * Double(Self.rate)) }
    let missing = position - end
    // Else the last sound is followed by a sliver of silence at each picture.
    guard missing > (isExpected ? Int64(frame) : 0) else { return }
    // An hour's gap is encoded piece by piece.
    var rest = missing
    while rest > 0 {
      let part = min(rest, Int64(Self.rate))
      waiting.append(.silence(Int(part)))
      rest -= part
      try encode(emit)
    }
  }

  private mutating func encode(
    _ emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    var taken = 0
    while waiting.count - taken >= frame {
      let part = StereoSamples(
        left: Array(waiting.left[taken..<taken + frame]),
        right: Array(waiting.right[taken..<taken + frame]))
      try encoder.encode(part, at: head, emit: emit)
      head += Int64(frame)
      taken += frame
    }
    if taken > 0 { waiting.removeFirst(taken) }
  }

  /// Encodes what waits; nothing follows.
  mutating func finish(
    emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    if waiting.count > 0 { try encoder.encode(waiting, at: head, emit: emit) }
    waiting = StereoSamples()
    try encoder.finish(emit: emit)
  }
}
