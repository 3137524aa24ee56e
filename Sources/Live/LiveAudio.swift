internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// The audio of a live session: one continuous AAC track from the first frame to the last, with silence where
/// the input has no audio. `AudioPlacer.live` has the rules.
///
/// Outputs that somebody watches wait two seconds for the first audio, and are silent until it comes. Recordings wait for it
/// as long as for any audio. If it comes between, its first seconds are in recordings only: their track is another one.
final class LiveAudio {
  /// Which outputs a packet is for.
  enum Share { case all, watched, recorded }

  typealias Emit = (consuming Packet, Share) throws(UprightError) -> Void

  private let encoder: AudioTrackEncoder
  /// The track of recordings, if it is another one.
  private var recorded: AudioTrackEncoder?
  private var start: Int64 = 0
  private var waitsLonger = false

  /// - Throws: `unavailable` if there is no AAC encoder.
  init() throws(UprightError) { encoder = try Self.encoder() }

  private static func encoder() throws(UprightError) -> AudioTrackEncoder {
    let aac = try AudioEncoder(
      "aac", rate: 48_000, layout: .stereo, bitrate: 128_000, wantsGlobalHeader: true)
    return try AudioTrackEncoder(
      aac, .live(rate: aac.format.rate, frameSize: aac.frameSize), start: 0)
  }

  /// Sets the time of the first sample, in ticks of `LiveClock`, before there is one.
  func start(at time: Int64) {
    start = position(at: time)
    encoder.start(at: start)
  }

  /// A publisher begins. How late its audio is, is not known.
  func begin() {
    encoder.open()
    recorded?.open()
  }

  /// Returns whether the track begins with silence when the video is at `time`, although audio may still arrive.
  func stopsWaiting(at time: Int64) -> Bool {
    !waitsLonger && encoder.wouldBeginSilent(at: position(at: time))
  }

  /// Waits longer for the first audio, for all outputs or for recordings alone.
  func waitLonger(forAll: Bool) throws(UprightError) {
    waitsLonger = true
    guard !forAll else { return encoder.waitLonger() }
    let encoder = try Self.encoder()
    encoder.start(at: start)
    encoder.open()
    encoder.waitLonger()
    recorded = encoder
  }

  /// The number of decoded frames of audio that came after silence had taken their place.
  var leftOut: Int { encoder.leftOut }

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
    _ samples: consuming AudioFrame, at time: Int64, emit: Emit
  ) throws(UprightError) {
    let position = position(at: time)
    samples.pts = position
    if position < start {
      // What is before the first frame of the video belongs to none.
      samples.removeFirst(min(start - position, Int64(samples.count)))
      samples.pts = start
    }
    if samples.count == 0 { return }
    try recorded?.add(try samples.copy()) { (packet) throws(UprightError) in
      try emit(packet, .recorded)
    }
    let share = share
    try encoder.add(samples) { (packet) throws(UprightError) in try emit(packet, share) }
  }

  /// Which outputs the packets of the first encoder are for.
  private var share: Share { recorded == nil ? .all : .watched }

  /// Reports how far the video is. Missing audio before that becomes silence.
  ///
  /// - Parameters:
  ///   - time: The time of the video, in ticks of `LiveClock`.
  ///   - isExpected: Whether the input has audio that may still arrive.
  func reach(
    _ time: Int64, isExpected: Bool, emit: Emit
  ) throws(UprightError) {
    let position = position(at: time)
    try recorded?.reach(position, isExpected: isExpected) { (packet) throws(UprightError) in
      try emit(packet, .recorded)
    }
    let share = share
    try encoder.reach(position, isExpected: isExpected) { (packet) throws(UprightError) in
      try emit(packet, share)
    }
  }

  /// Encodes the remaining samples. No samples may follow.
  func finish(emit: Emit) throws(UprightError) {
    try recorded?.finish { (packet) throws(UprightError) in try emit(packet, .recorded) }
    let share = share
    try encoder.finish { (packet) throws(UprightError) in try emit(packet, share) }
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

/// Decoded audio that waits for the first frame of its publisher.
final class EarlyAudio {
  /// The publisher's time, in ticks of `LiveClock`.
  let time: Int64
  private var samples: AudioFrame?

  /// How many wait: ten seconds of AAC.
  static let limit = 512

  init(_ samples: consuming AudioFrame, at time: Int64) {
    self.time = time
    self.samples = consume samples
  }

  func take() -> AudioFrame? { samples.take() }
}
