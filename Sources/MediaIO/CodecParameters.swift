internal import CFFmpeg
package import Orientation

/// What a decoder or a muxer must know of one stream: codec, size, colour, extradata.
///
/// Sendable because it is a private copy that nobody changes.
package final class CodecParameters: @unchecked Sendable {
  let raw: UnsafeMutablePointer<AVCodecParameters>

  init(copying source: UnsafePointer<AVCodecParameters>) throws(MediaError) {
    guard let raw = avcodec_parameters_alloc() else { throw outOfMemory("codec parameters") }
    self.raw = raw
    try check(avcodec_parameters_copy(raw, source)) { _ in outOfMemory("codec parameters") }
  }

  init(of context: UnsafePointer<AVCodecContext>) throws(MediaError) {
    guard let raw = avcodec_parameters_alloc() else { throw outOfMemory("codec parameters") }
    self.raw = raw
    try check(avcodec_parameters_from_context(raw, context)) { _ in
      outOfMemory("codec parameters")
    }
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecParameters>? = raw
    avcodec_parameters_free(&pointer)
  }

  /// FFmpeg's name of the codec, such as `h264`.
  package var codecName: String { String(cString: avcodec_get_name(raw.pointee.codec_id)) }

  package var size: PixelSize { PixelSize(Int(raw.pointee.width), Int(raw.pointee.height)) }

  /// Samples a second; 0 for anything but sound.
  package var sampleRate: Int { Int(raw.pointee.sample_rate) }

  /// Sound channels; 0 for anything but sound.
  package var channels: Int { Int(raw.pointee.ch_layout.nb_channels) }

  /// Bytes the decoder needs before the first packet (avcC, SPS and PPS, AudioSpecificConfig).
  package var extradata: [UInt8] {
    guard let start = raw.pointee.extradata, raw.pointee.extradata_size > 0 else { return [] }
    return Array(UnsafeBufferPointer(start: start, count: Int(raw.pointee.extradata_size)))
  }

  /// A copy with the AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1) that the stream's rate, channels
  /// and profile say: what MPEG-TS leaves to each frame's ADTS header, MP4 wants before the first.
  package func withAudioSpecificConfig() throws(MediaError) -> CodecParameters {
    let rates = [
      96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
    ]
    let copy = try CodecParameters(copying: raw)
    guard let rate = rates.firstIndex(of: sampleRate), (1...8).contains(channels) else {
      throw MediaError(.badData, "AAC of \(sampleRate) Hz and \(channels) channels")
    }
    // FFmpeg's AAC profiles are the audio object type less one; low complexity where unknown.
    let profile = raw.pointee.profile
    let object = (0...3).contains(profile) ? Int(profile) + 1 : 2
    let configuration = channels == 8 ? 7 : channels
    let bits = object << 11 | rate << 7 | configuration << 3
    let size = 2
    guard let bytes = av_mallocz(size + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
      throw outOfMemory("codec parameters")
    }
    let extradata = bytes.bindMemory(to: UInt8.self, capacity: size)
    extradata[0] = UInt8(truncatingIfNeeded: bits >> 8)
    extradata[1] = UInt8(truncatingIfNeeded: bits)
    av_freep(&copy.raw.pointee.extradata)
    copy.raw.pointee.extradata = extradata
    copy.raw.pointee.extradata_size = CInt(size)
    return copy
  }
}
