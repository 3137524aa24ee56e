internal import CUprightFFmpeg
internal import UprightOrientation

/// Puts the times of one audio track's packets back on the grid of its samples. Containers that count milliseconds, as
/// Matroska and FLV do, round the time and the length of each packet.
struct AudioGrid {
  private let parameters: UnsafeMutablePointer<AVCodecParameters>
  /// The end of the last packet, in samples. `nil` before the first one.
  private var end: Int64?

  /// - Parameter parameters: Those of a stream, which must outlive the value. Returns `nil` if it isn't audio.
  init?(_ parameters: UnsafeMutablePointer<AVCodecParameters>) {
    guard parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO, parameters.pointee.sample_rate > 0
    else { return nil }
    self.parameters = parameters
    // Opus begins with what its decoder drops (RFC 7845, 4.2), before time 0.
    let padding = Int64(parameters.pointee.initial_padding)
    if parameters.pointee.codec_id == AV_CODEC_ID_OPUS && padding > 0 { end = -padding }
  }

  /// Rescales a packet. If its time base is coarser than a sample, the packet follows the one before it to the sample as
  /// long as its own time is no further away than a tick. Encoders delay audio by a part of a tick, so half a tick isn't
  /// enough.
  mutating func place(_ packet: inout Packet, in timeBase: Rational) {
    let (own, new) = (AVRational(packet.timeBase), AVRational(timeBase))
    let sample = AVRational(num: 1, den: parameters.pointee.sample_rate)
    guard av_cmp_q(own, sample) > 0, let pts = packet.pts, let length = length(of: packet, sample)
    else { return packet.rescale(to: timeBase) }
    let tick = rescale(1, from: own, to: sample) + 1
    var time = rescale(pts, from: own, to: sample)
    if let end, abs(end - time) <= 2 * tick { time = min(max(end, time - tick), time + tick) }
    end = time + length
    packet.rescale(to: timeBase)
    packet.pts = rescale(time, from: sample, to: new)
    packet.dts = packet.pts
    packet.duration = rescale(
      max(0, length - Int64(packet.skippedAtEnd)), from: sample, to: new)
  }

  /// Returns the length that a packet of its codec has, in samples; `nil` if it isn't known or not the packet's.
  private func length(of packet: borrowing Packet, _ sample: AVRational) -> Int64? {
    let tick = AVRational(packet.timeBase)
    if parameters.pointee.codec_id == AV_CODEC_ID_OPUS {
      // All frames are multiples of 2.5 ms (RFC 6716, 2).
      let length = rescale(packet.duration, from: tick, to: sample)
      return length > 0 && length % 120 == 0 ? length : nil
    }
    let length = Int64(av_get_audio_frame_duration2(parameters, CInt(clamping: packet.size)))
    let known = rescale(length, from: sample, to: tick)
    return length > 0 && (packet.duration == 0 || abs(known - packet.duration) <= 1) ? length : nil
  }
}
