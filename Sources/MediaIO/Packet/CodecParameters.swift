internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation

/// What a decoder or a muxer must know about one stream: codec, size, colour, extradata.
///
/// Side data isn't included. A stream's display matrix and similar data are in `StreamInfo`, because a
/// decoder that receives them attaches them to every frame.
///
/// Sendable because it is a private copy that isn't changed.
package final class CodecParameters: @unchecked Sendable {
  let raw: UnsafeMutablePointer<AVCodecParameters>
  /// The HDR10 metadata that a container stores besides the codec's.
  let hdr: HDRMetadata

  init() throws(UprightError) {
    guard let raw = avcodec_parameters_alloc() else { throw outOfMemory("codec parameters") }
    self.raw = raw
    hdr = HDRMetadata()
  }

  init(
    copying source: UnsafePointer<AVCodecParameters>, hdr: HDRMetadata = HDRMetadata()
  ) throws(UprightError) {
    self.hdr = hdr
    guard let raw = avcodec_parameters_alloc() else { throw outOfMemory("codec parameters") }
    self.raw = raw
    try check(avcodec_parameters_copy(raw, source)) { _ in outOfMemory("codec parameters") }
    upright_parameters_remove_side_data(raw)
  }

  init(
    of context: UnsafePointer<AVCodecContext>, hdr: HDRMetadata = HDRMetadata()
  ) throws(UprightError) {
    self.hdr = hdr
    guard let raw = avcodec_parameters_alloc() else { throw outOfMemory("codec parameters") }
    self.raw = raw
    try check(avcodec_parameters_from_context(raw, context)) { _ in
      outOfMemory("codec parameters")
    }
    upright_parameters_remove_side_data(raw)
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecParameters>? = raw
    avcodec_parameters_free(&pointer)
  }

  /// FFmpeg's name of the codec, such as `h264`.
  package var codecName: String { String(cString: avcodec_get_name(raw.pointee.codec_id)) }

  /// Whether frames are stored uncompressed, without a codec.
  package var isUncompressed: Bool {
    [AV_CODEC_ID_RAWVIDEO, AV_CODEC_ID_WRAPPED_AVFRAME].contains(raw.pointee.codec_id)
  }

  /// Whether no frame of the codec needs another one.
  package var isIntraOnly: Bool {
    let properties = avcodec_descriptor_get(raw.pointee.codec_id)?.pointee.props ?? 0
    return properties & AV_CODEC_PROP_INTRA_ONLY != 0
  }

  /// Whether the container declares the video as HDR: PQ or HLG.
  package var isHDR: Bool { dynamicRange != nil }

  /// The transfer function of HDR as HLS names it, `PQ` or `HLG`; `nil` for SDR.
  package var dynamicRange: String? {
    switch raw.pointee.color_trc {
    case AVCOL_TRC_SMPTE2084: "PQ"
    case AVCOL_TRC_ARIB_STD_B67: "HLG"
    default: nil
    }
  }

  /// The average rate that the container or the encoder declares, in bits per second; `nil` if it declares none.
  package var bitRate: Int? { raw.pointee.bit_rate > 0 ? Int(clamping: raw.pointee.bit_rate) : nil }

  package var size: PixelSize { PixelSize(Int(raw.pointee.width), Int(raw.pointee.height)) }

  /// The sample aspect ratio in the bitstream, width to height. `nil` if it has none.
  package var sampleAspectRatio: Rational? {
    let ratio = raw.pointee.sample_aspect_ratio
    return ratio.num > 0 && ratio.den > 0 ? Rational(ratio) : nil
  }

  /// Audio samples per second. 0 for anything but audio.
  package var sampleRate: Int { Int(raw.pointee.sample_rate) }

  /// The number of audio channels. 0 for anything but audio.
  package var channels: Int { Int(raw.pointee.ch_layout.nb_channels) }

  /// The pixel format of the frames. `nil` if the container doesn't know it.
  package var pixelFormat: PixelFormat? {
    raw.pointee.format < 0 ? nil : PixelFormat(AVPixelFormat(raw.pointee.format))
  }

  /// The number of frames that the decoder delays to reorder them, as far as libavformat has found out.
  package var reordering: Int { max(0, Int(raw.pointee.video_delay)) }

  /// The bytes that the decoder needs before the first packet (avcC, SPS and PPS, AudioSpecificConfig).
  package var extradata: [UInt8] {
    guard let start = raw.pointee.extradata, raw.pointee.extradata_size > 0 else { return [] }
    return Array(UnsafeBufferPointer(start: start, count: Int(raw.pointee.extradata_size)))
  }

  /// Returns a copy that marks no samples as encoder priming.
  package func withoutPriming() throws(UprightError) -> CodecParameters {
    let copy = try CodecParameters(copying: raw)
    copy.raw.pointee.initial_padding = 0
    return copy
  }

  /// Returns a copy with other extradata.
  package func with(extradata bytes: [UInt8]) throws(UprightError) -> CodecParameters {
    let copy = try CodecParameters(copying: raw, hdr: hdr)
    try copy.setExtradata(bytes)
    return copy
  }

  /// Returns those of a file that the container's header has.
  func attachment(of bytes: [UInt8]) throws(UprightError) -> CodecParameters {
    let file = try CodecParameters()
    file.raw.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
    file.raw.pointee.codec_id = raw.pointee.codec_id
    try file.setExtradata(bytes)
    return file
  }

  /// Replaces the extradata. Call it only before the object is shared.
  func setExtradata(_ bytes: [UInt8]) throws(UprightError) {
    try Self.setExtradata(bytes, of: raw)
  }

  static func setExtradata(
    _ bytes: [UInt8], of raw: UnsafeMutablePointer<AVCodecParameters>
  ) throws(UprightError) {
    guard let memory = av_mallocz(bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
      throw outOfMemory("codec parameters")
    }
    memory.copyMemory(from: bytes, byteCount: bytes.count)
    av_freep(&raw.pointee.extradata)
    raw.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
    raw.pointee.extradata_size = CInt(bytes.count)
  }
}
