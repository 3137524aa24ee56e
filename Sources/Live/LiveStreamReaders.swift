internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Decodes the video of one live stream and finds the orientation signal of each frame.
///
/// Sendable by handover: it is created on the reading thread and used on the decoding thread.
final class LiveVideoReader: @unchecked Sendable {
  typealias Handler = (consuming VideoFrame, OrientationSignal?) -> Void

  /// The index of the stream.
  let index: Int
  /// Its frame rate in frames per second; `nil` if unknown.
  let frameRate: Double?
  private let decoder: VideoDecoder
  private var signals: SignalReader

  init(
    _ source: any PacketSource, _ video: StreamInfo, pixels: Int
  ) throws(UprightError) {
    index = video.index
    frameRate = video.frameRate?.doubleValue
    // A decoder with frame threads delays its output by as many frames.
    decoder = try VideoDecoder(stream: video, threads: 1, maximumPixels: pixels)
    signals = try SignalReader(source, video)
  }

  /// The number of packets that could not be decoded so far.
  var damagedPackets: Int { decoder.damagedPackets }

  /// Reads the signals of a packet of any stream. Call this for all packets, in the order of arrival.
  func readSignals(of packet: borrowing Packet) { signals.read(packet) }

  /// Decodes one video packet.
  func take(_ packet: borrowing Packet, _ handler: Handler) throws(UprightError) {
    while true {
      let isTaken = decoder.send(packet)
      try deliver(handler)
      if isTaken { return }
    }
  }

  /// Flushes the decoder. No packet may follow.
  func finish(_ handler: Handler) throws(UprightError) {
    decoder.finish()
    try deliver(handler)
  }

  /// Passes the decoded frames to `handler`.
  private func deliver(_ handler: Handler) throws(UprightError) {
    while var frame = try decoder.receive() {
      // Look up the signal with the packet's timestamp, before the frame's is changed.
      let signal = signals.signals(for: frame).first
      if let pts = frame.pts, abs(pts / 2) > Int64(1) << 50 { frame.pts = nil }
      if !Int64.plausibleDurations.contains(frame.duration) { frame.duration = 0 }
      frame.rescale(to: LiveClock.timeBase)
      handler(frame, signal)
    }
  }
}

/// Decodes the audio of one live stream. Sendable by handover, as `LiveVideoReader` is.
final class LiveAudioReader: @unchecked Sendable {
  /// The index of the stream.
  let index: Int
  private let decoder: AudioDecoder
  private let format: AudioFormat

  /// - Parameter format: The format of the decoded samples.
  /// - Throws: `unavailable` or `badData` if the stream can't be decoded.
  init(_ stream: StreamInfo, as format: AudioFormat) throws(UprightError) {
    decoder = try AudioDecoder(stream: stream)
    index = stream.index
    self.format = format
  }

  /// - Parameter handler: Receives samples and the time of the first one, in ticks of `LiveClock`.
  func take(
    _ packet: borrowing Packet, _ handler: (consuming AudioFrame, Int64) -> Void
  ) throws(UprightError) {
    try decoder.decode(packet, as: format) { samples in
      guard let position = samples.pts else { return }
      handler(samples, format.ticks(of: position))
    }
  }
}
