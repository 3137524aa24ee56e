internal import UprightOrientation
internal import UprightContainers
internal import UprightMediaIO
internal import UprightPipeline

/// The audio of a live session: one continuous AAC track from the first frame to the last, with silence where
/// the input has no audio. `AudioPlacer.live` has the rules.
struct LiveAudio {
  private let encoder: AudioTrackEncoder

  /// - Throws: `unavailable` if there is no AAC encoder.
  init() throws(UprightError) {
    let aac = try AudioEncoder(
      "aac", rate: 48_000, channels: 2, bitrate: 128_000, wantsGlobalHeader: true)
    encoder = try AudioTrackEncoder(
      aac, .live(rate: aac.format.rate, frameSize: aac.frameSize), start: 0)
  }

  /// Sets the time of the first sample, in ticks of `LiveClock`, before there is one.
  func start(at time: Int64) { encoder.start(at: position(at: time)) }

  /// A publisher begins. How late its audio is, is not known.
  func begin() { encoder.open() }

  /// The format of the samples that `add` accepts.
  var format: AudioFormat { aac.format }

  private var aac: AudioEncoder { encoder.encoder }

  /// The time of the first packet. The encoder's priming precedes the audio.
  var earliest: MediaTime { -MediaTime(Int64(aac.priming), aac.timeBase) }

  /// How far past a given time audio must be added, in ticks of `LiveClock`, until the encoder has output the
  /// audio of that time. The encoder holds back one frame and its priming, and the frame itself must be
  /// complete.
  var delay: Int64 { format.ticks(of: Int64(aac.priming + 2 * aac.frameSize)) }

  /// The track as described to outputs.
  func track() throws(UprightError) -> SideTrack {
    let parameters = try aac.parameters()
    return SideTrack(
      parameters: parameters, timeBase: aac.timeBase,
      source: StreamInfo(
        index: 1, kind: .audio, parameters: parameters, timeBase: aac.timeBase),
      metadata: [:])
  }

  /// Adds samples at `time`, in ticks of `LiveClock`.
  func add(
    _ samples: consuming AudioFrame, at time: Int64, emit: AudioTrackEncoder.Emit
  ) throws(UprightError) {
    samples.pts = position(at: time)
    try encoder.add(samples, emit: emit)
  }

  /// Reports how far the video is. Missing audio before that becomes silence.
  ///
  /// - Parameters:
  ///   - time: The time of the video, in ticks of `LiveClock`.
  ///   - isExpected: Whether the input has audio that may still arrive.
  func reach(
    _ time: Int64, isExpected: Bool, emit: AudioTrackEncoder.Emit
  ) throws(UprightError) {
    try encoder.reach(position(at: time), isExpected: isExpected, emit: emit)
  }

  /// Encodes the remaining samples. No samples may follow.
  func finish(emit: AudioTrackEncoder.Emit) throws(UprightError) {
    try encoder.finish(emit: emit)
  }

  private func position(at time: Int64) -> Int64 {
    time.rescaled(from: LiveClock.timeBase, to: aac.timeBase)
  }
}

extension AudioFormat {
  /// Returns the duration of `count` samples, or the time of that position, in ticks of `LiveClock`.
  func ticks(of count: Int64) -> Int64 {
    count.rescaled(from: Rational(1, rate), to: LiveClock.timeBase)
  }
}
