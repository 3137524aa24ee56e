package import UprightOrientation

/// Encodes decoded samples as one track, placed by the rules of an `AudioPlacer`. Used by one thread at a
/// time.
package final class AudioTrackEncoder {
  package typealias Emit = (consuming Packet) throws(UprightError) -> Void

  package let encoder: AudioEncoder
  private var placer: AudioPlacer
  /// Less than a frame of the encoder.
  private let buffer: AudioBuffer
  /// The position of the first sample in `buffer`. `nil` before the first frame.
  private var head: Int64?
  /// How far the video is, as of the last call of `reach`.
  private var reached: Int64?
  /// Whether it has no samples yet, neither real ones nor silence.
  private var isEmpty = true
  /// Where the last silence ends that took the place of audio that may come yet.
  private var silenceEnd = Int64.min
  /// The number of frames that were left out because silence had their time already.
  package private(set) var leftOut = 0

  /// - Parameter start: The position of the track's first sample. `nil` takes that of the first frame.
  package init(
    _ encoder: AudioEncoder, _ placer: AudioPlacer, start: Int64? = nil
  ) throws(UprightError) {
    self.encoder = encoder
    self.placer = placer
    buffer = try AudioBuffer(encoder.format)
    head = start
  }

  /// Sets the position of the track's first sample, before there is one.
  package func start(at position: Int64) { head = position }

  /// Another source begins. How late its audio is, is not known.
  package func open() { placer.open(at: reached ?? end ?? 0) }

  /// Waits longer for the first audio of this source.
  package func waitLonger() { placer.waitLonger() }

  /// Returns whether the track would begin with silence if the video was at `position` and audio was expected.
  package func wouldBeginSilent(at position: Int64) -> Bool {
    isEmpty && placer.silence(upTo: position, after: end ?? 0, isExpected: true) > 0
  }

  /// The position after the last sample.
  private var end: Int64? { head.map { $0 + Int64(buffer.count) } }

  /// Adds samples in the encoder's format. A frame without a position follows the preceding one.
  package func add(_ frame: consuming AudioFrame, emit: Emit) throws(UprightError) {
    if let reached, let position = frame.pts { placer.adapt(to: reached - position) }
    if let end, let position = frame.pts {
      switch placer.place(at: position, after: end, isReplaced: position < silenceEnd) {
      case .append: break
      case .appendAfter(let silence): try appendSilence(silence, emit)
      case .appendWithout(let first):
        if first >= frame.count, position < silenceEnd { leftOut += 1 }
        frame.removeFirst(first)
      case .restart:
        // Only the last frame of a track may be shorter.
        if buffer.count > 0 { try appendSilence(Int64(encoder.frameSize - buffer.count), emit) }
        head = position
      case .ignore: return
      }
    } else if head == nil {
      head = frame.pts ?? 0
    }
    isEmpty = isEmpty && frame.count == 0
    try buffer.append(frame)
    try encodeWholeFrames(emit)
  }

  /// Replaces missing audio by silence.
  ///
  /// - Parameters:
  ///   - position: How far the video is, in samples.
  ///   - isExpected: Whether audio before that may still arrive.
  package func reach(
    _ position: Int64, isExpected: Bool, emit: Emit
  ) throws(UprightError) {
    reached = position
    let missing = placer.silence(upTo: position, after: end ?? 0, isExpected: isExpected)
    try appendSilence(missing, emit)
    if missing > 0, let end { silenceEnd = end }
  }

  /// Encodes the remaining samples. No samples may follow.
  package func finish(emit: Emit) throws(UprightError) {
    if buffer.count > 0 { try encode(buffer.count, emit) }
    try encoder.finish(emit: emit)
  }

  /// Appends silence in pieces, so that long silence doesn't take more memory.
  private func appendSilence(_ count: Int64, _ emit: Emit) throws(UprightError) {
    var rest = count
    isEmpty = isEmpty && count <= 0
    while rest > 0 {
      let part = min(rest, Int64(encoder.frameSize))
      try buffer.append(.silence(Int(part), encoder.format))
      try encodeWholeFrames(emit)
      rest -= part
    }
  }

  private func encodeWholeFrames(_ emit: Emit) throws(UprightError) {
    while buffer.count >= encoder.frameSize { try encode(encoder.frameSize, emit) }
  }

  /// Encodes the first `count` samples of the buffer.
  private func encode(_ count: Int, _ emit: Emit) throws(UprightError) {
    var frame = try buffer.removeFirst(count)
    frame.pts = head
    head = (head ?? 0) + Int64(count)
    try encoder.encode(frame, emit: emit)
  }
}
