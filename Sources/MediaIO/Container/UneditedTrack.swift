internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import UprightOrientation

/// One track of an MP4 or MOV file, read by its sample tables alone: times are those of the media, whatever the
/// edit list says. It has a context of its own, because tracks are read from different positions.
final class UneditedTrack {
  private let url: String
  private let stream: Int
  private let interrupt: Interrupt
  private let context: UnsafeMutablePointer<AVFormatContext>
  /// Checks every URL that the context opens.
  private let nested: NestedInputCheck?

  let timeBase: Rational
  private let sampleTick: Rational
  /// The decoding time that libavformat gives the first sample: below 0 if composition offsets are.
  let firstTime: Int64

  init(
    _ url: String, _ settings: [String: String], stream: Int, interrupt: Interrupt
  ) throws(UprightError) {
    (self.url, self.stream, self.interrupt) = (url, stream, interrupt)
    let opened = try Demuxer.open(
      url, nil, "mov", settings.merging(["ignore_editlist": "1"]) { $1 }, looksAhead: false,
      interrupt: interrupt)
    context = opened.0
    nested = opened.nested
    // What the sample tables say is all that is wanted.
    context.pointee.flags |= AVFMT_FLAG_NOFILLIN | AVFMT_FLAG_NOPARSE
    for index in 0..<Int(context.pointee.nb_streams) {
      context.pointee.streams[index]?.pointee.discard =
        index == stream ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
    let own = stream < Int(context.pointee.nb_streams) ? context.pointee.streams[stream] : nil
    timeBase = own.map { Rational($0.pointee.time_base) } ?? .one
    let rate = Int(own?.pointee.codecpar.pointee.sample_rate ?? 0)
    sampleTick = rate > 0 ? Rational(1, rate) : timeBase
    firstTime =
      own.flatMap { avformat_index_get_entry($0, 0) }.map { $0.pointee.timestamp } ?? 0
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&pointer)
  }

  /// Returns how many samples of an audio track last as long as `ticks`.
  func samples(_ ticks: Int64) -> Int64 { ticks.rescaled(from: timeBase, to: sampleTick) }

  /// Returns how long samples of an audio track last.
  func ticks(_ samples: Int64) -> Int64 { samples.rescaled(from: sampleTick, to: timeBase) }

  /// Returns the next packet, or `nil` at the end.
  func read() throws(UprightError) -> Packet? {
    while true {
      let packet = try Packet()
      let result = av_read_frame(context, packet.raw)
      if interrupt.isRaised { throw UprightError(.cancelled, "stopped", at: url) }
      guard result >= 0 else {
        guard let error = Demuxer.readError(result, at: url) else { return nil }
        throw error
      }
      guard packet.streamIndex == stream else { continue }
      packet.raw.pointee.time_base = AVRational(timeBase)
      return packet
    }
  }

  /// Goes to the sample with the decoding time `time`, or to the last one before it.
  func seek(to time: Int64) throws(UprightError) {
    let code = av_seek_frame(context, CInt(stream), time, AVSEEK_FLAG_BACKWARD | AVSEEK_FLAG_ANY)
    try check(code) {
      Demuxer.readError($0, at: url) ?? UprightError(.badData, "has no such sample", at: url)
    }
  }
}
