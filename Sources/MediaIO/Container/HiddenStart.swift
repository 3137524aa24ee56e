internal import CUprightFFmpeg
internal import UprightOrientation

/// What an edit list hides at the start of an MP4 or MOV input that can't be read twice, such as a pipe, so that its
/// tracks can't be presented by their sample tables. libavformat gives it times below 0. It marks it as discarded only
/// if there are no fragments.
struct HiddenStart {
  /// The audio streams of which more is hidden than an encoder puts before the start.
  private let audio: [Int: StreamInfo]
  private let video: Set<Int>

  /// - Parameter streams: The streams of an MP4 or MOV input.
  init(_ context: UnsafeMutablePointer<AVFormatContext>, _ streams: [StreamInfo]) {
    video = Set(streams.filter { $0.kind == .video }.map(\.index))
    let cut = streams.filter { info in
      guard info.kind == .audio, let stream = context.pointee.streams[info.index],
        let first = avformat_index_get_entry(stream, 0)?.pointee.timestamp
      else { return false }
      return info.samples(first) < -TrackPresentation.longestPriming
    }
    audio = Dictionary(uniqueKeysWithValues: cut.map { ($0.index, $0) })
  }

  /// Returns the streams as they are presented.
  func applied(to streams: [StreamInfo]) -> [StreamInfo] {
    streams.map { stream in
      var stream = stream
      if audio[stream.index] != nil, stream.parameters.pcmFrameSize == nil {
        stream.editing = .start
      }
      return stream
    }
  }

  /// Marks what isn't shown, and cuts audio to the sample.
  ///
  /// - Returns: Whether the packet is needed.
  func apply(to packet: inout Packet) throws(UprightError) -> Bool {
    guard let time = packet.pts, time < 0 else { return true }
    if video.contains(packet.streamIndex) { packet.isDiscarded = true }
    guard let stream = audio[packet.streamIndex] else { return true }
    if packet.duration == 0 {
      let size = Int64(stream.parameters.packetSize)
      packet.duration = size.rescaled(from: stream.sampleTick, to: stream.timeBase)
    }
    let (end, overflow) = time.addingReportingOverflow(packet.duration)
    let frameSize = stream.parameters.pcmFrameSize
    let preroll =
      frameSize == nil ? TrackPresentation.preroll.roundedUp(to: stream.timeBase).ticks : 0
    guard !overflow, end > -preroll else { return false }
    packet.isDiscarded = end <= 0
    if end > 0 {
      try packet.cut(first: -time, frameSize: frameSize, samples: stream.samples)
    }
    return true
  }
}

extension StreamInfo {
  /// Seconds per sample of audio.
  fileprivate var sampleTick: Rational {
    parameters.sampleRate > 0 ? Rational(1, parameters.sampleRate) : timeBase
  }

  /// Returns how many samples of audio last as long as `ticks`.
  fileprivate func samples(_ ticks: Int64) -> Int64 {
    ticks.rescaled(from: timeBase, to: sampleTick)
  }
}
