internal import Orientation
internal import UprightContainers
internal import UprightMediaIO
internal import UprightPipeline

/// The audio of a live session: one continuous AAC track from the first frame to the last, with silence where
/// the input has no audio.
///
/// Samples are placed by media time. A difference of less than one AAC frame from the preceding samples is
/// treated as jitter of the publisher's clock. Larger gaps are filled with silence, and overlapping samples
/// are dropped. Audio is therefore never more than one AAC frame away from its video.
struct LiveAudio {
  /// Samples per second.
  static let rate = 48_000

  private let encoder: AudioEncoder
  private let frame: Int
  /// Samples that wait for a complete AAC frame; the position of the first is `head`.
  private var waiting = StereoSamples()
  private var head: Int64 = 0

  /// The time that audio may be behind the video before silence replaces it, in seconds.
  private static let patience = 1.0

  /// - Throws: `unavailable` if there is no AAC encoder.
  init() throws(UprightError) {
    encoder = try AudioEncoder(rate: Self.rate, bitrate: 128_000, wantsGlobalHeader: true)
    frame = encoder.frameSize
  }

  /// The time of the first packet, in seconds. The encoder's priming precedes the audio.
  var earliest: Double { -Double(encoder.priming) / Double(Self.rate) }

  /// How far past a given time audio must be added, in ticks of `LiveClock`, until the encoder has output the
  /// audio of that time. The encoder holds back one frame and its priming, and the frame itself must be
  /// complete.
  var delay: Int64 { Int64(encoder.priming + 2 * frame) * LiveClock.rate / Int64(Self.rate) }

  /// The track as described to outputs.
  func track() throws(UprightError) -> SideTrack {
    let parameters = try encoder.parameters()
    return SideTrack(
      parameters: parameters, timeBase: encoder.timeBase,
      source: StreamInfo(
        index: 1, kind: .audio, parameters: parameters, timeBase: encoder.timeBase),
      metadata: [:])
  }

  /// The position after the last sample.
  private var end: Int64 { head + Int64(waiting.count) }

  /// Adds samples at `time`, in ticks of `LiveClock`.
  mutating func take(
    _ samples: consuming StereoSamples, at time: Int64,
    emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    let position = time * Int64(Self.rate) / LiveClock.rate
    var samples = samples
    let gap = position - end
    if gap > Int64(frame) {
      // This is farther ahead than any interleaving; a single packet is not enough reason to insert so much
      // silence.
      guard gap < 30 * Int64(Self.rate) else { return }
      waiting.append(.silence(Int(gap)))
    } else if gap < -Int64(frame) {
      samples.removeFirst(Int(min(-gap, Int64(samples.count))))
    }
    waiting.append(samples)
    try encode(emit)
  }

  /// Reports how far the video is. Missing audio before that becomes silence.
  ///
  /// - Parameters:
  ///   - time: The time of the video, in ticks of `LiveClock`.
  ///   - isExpected: Whether the input has audio that may still arrive.
  mutating func reach(
    _ time: Int64, isExpected: Bool, emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    var position = time * Int64(Self.rate) / LiveClock.rate
    if isExpected { position -= Int64(clamping: Self.patience * Double(Self.rate)) }
    let missing = position - end
    // Otherwise a small piece of silence would follow the last audio at each frame.
    guard missing > (isExpected ? Int64(frame) : 0) else { return }
    // A long gap is encoded in pieces of one second.
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

  /// Encodes the remaining samples. No samples may follow.
  mutating func finish(
    emit: (consuming Packet) throws(UprightError) -> Void
  ) throws(UprightError) {
    if waiting.count > 0 { try encoder.encode(waiting, at: head, emit: emit) }
    waiting = StereoSamples()
    try encoder.finish(emit: emit)
  }
}
