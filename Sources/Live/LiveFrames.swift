internal import Orientation
internal import UprightIntake
internal import UprightMediaIO
internal import UprightPipeline

/// Decodes the pictures of one live stream and finds what is said of each. Used by one thread.
final class LiveFrames {
  typealias Hand = (consuming VideoFrame, OrientationSignal?) -> Void

  private let video: StreamInfo
  private let decoder: VideoDecoder
  private var signals: SignalReader
  private var shape = PixelShape()
  /// Frames that were not decoded, since `takeShed`.
  private var shed = 0

  /// Whether frames that no other frame refers to are left out, because the session is too slow.
  var sheds = false {
    didSet { decoder.skipsUnreferenced = sheds }
  }

  init(
    _ source: any PacketSource, _ video: StreamInfo, pixels: Int
  ) throws(UprightError) {
    self.video = video
    // A decoder with frame threads hands a picture out as many pictures later.
    decoder = try VideoDecoder(stream: video, threads: 1, maximumPixels: pixels)
    signals = try SignalReader(source, video)
  }

  /// Packets that could not be decoded so far.
  var damagedPackets: Int { decoder.damagedPackets }

  /// Looks at a packet of any stream, in the order in which they come.
  func note(_ packet: borrowing Packet) { signals.note(packet) }

  /// Takes one packet of the pictures.
  func take(_ packet: borrowing Packet, _ hand: Hand) throws(UprightError) {
    while true {
      let isTaken = decoder.send(packet)
      let count = try deliver(hand)
      if sheds && count == 0 { shed += 1 }
      if isTaken { return }
    }
  }

  /// Frames that were left out since the last call.
  func takeShed() -> Int {
    defer { shed = 0 }
    return shed
  }

  /// Hands over what is inside; no packet follows.
  func finish(_ hand: Hand) throws(UprightError) {
    decoder.finish()
    try deliver(hand)
  }

  /// Hands over the frames that are decoded; returns how many.
  @discardableResult
  private func deliver(_ hand: Hand) throws(UprightError) -> Int {
    var count = 0
    while var frame = try decoder.receive() {
      // Asked with the time that its packet had.
      let signal = signals.signals(for: frame).first
      shape.resolve(&frame, container: video.sampleAspectRatio)
      if let pts = frame.pts, abs(pts / 2) > Int64(1) << 50 { frame.pts = nil }
      if !Int64.plausibleDurations.contains(frame.duration) { frame.duration = 0 }
      frame.rescale(to: LiveClock.timeBase)
      hand(frame, signal)
      count += 1
    }
    return count
  }
}

/// Decodes the sound of one live stream, as far as it can be decoded.
final class LiveAudioReader {
  /// The stream's.
  let index: Int
  private let decoder: AudioDecoder

  /// Nil where there is no sound that can be decoded.
  init?(_ source: any PacketSource) throws(UprightError) {
    guard let stream = source.bestStream(.audio) else { return nil }
    do throws(UprightError) {
      try LiveCodecs.check(stream, at: source.url)
      decoder = try AudioDecoder(stream: stream, rate: LiveAudio.rate)
    } catch {
      // Pictures without sound are better than none.
      return nil
    }
    index = stream.index
  }

  /// - Parameter hand: takes samples and the time of the first, in ticks of the live clock.
  func take(
    _ packet: borrowing Packet, _ hand: (StereoSamples, Int64) -> Void
  ) throws(UprightError) {
    try decoder.decode(packet) { samples, time in
      guard let time, abs(time) < Int64(1) << 50 else { return }
      hand(samples, time * LiveClock.rate / Int64(LiveAudio.rate))
    }
  }
}
