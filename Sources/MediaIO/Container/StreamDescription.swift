internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation

// Stream descriptions for streams that libavformat doesn't read. They hold what libavformat would report.

extension CodecParameters {
  /// The parameters of an audio stream of `codec` (FFmpeg's name).
  ///
  /// - Throws: `unavailable` if the linked libavcodec doesn't know the codec.
  package convenience init(
    audioCodec codec: String, sampleRate: Int, channels: Int, extradata: [UInt8] = []
  ) throws(UprightError) {
    try self.init(naming: codec)
    raw.pointee.sample_rate = CInt(clamping: sampleRate)
    av_channel_layout_default(&raw.pointee.ch_layout, CInt(clamping: channels))
    try setExtradata(extradata)
  }

  /// Returns the parameters of a video stream of `codec` (FFmpeg's name). Decodes one keyframe to find the
  /// size, the sample aspect ratio and the colour.
  ///
  /// - Parameters:
  ///   - decoderName: The decoder to use if it is linked. `nil` selects the default decoder.
  ///   - extradata: The codec's extradata. May be empty.
  /// - Returns: `nil` if no frame can be decoded.
  /// - Throws: `unavailable` if the linked libavcodec has no such decoder.
  package static func ofVideo(
    codec name: String, decoderName: String? = nil, keyframe: borrowing Packet,
    extradata: [UInt8] = []
  ) throws(UprightError) -> CodecParameters? {
    let named = try CodecParameters(naming: name)
    try named.setExtradata(extradata)
    guard let codec = VideoDecoder.find(named.raw.pointee.codec_id, decoderName) else {
      throw UprightError(.unavailable, "the linked FFmpeg cannot decode \(name)")
    }
    var made = QuietContext.codec(codec)
    guard let context = made else { throw outOfMemory("decoder") }
    defer { avcodec_free_context(&made) }
    avcodec_parameters_to_context(context, named.raw)
    context.pointee.thread_count = 1
    context.pointee.max_pixels = Int64(VideoDecoder.maximumPixels)
    let frame = try VideoFrame()
    guard avcodec_open2(context, codec, nil) >= 0,
      avcodec_send_packet(context, keyframe.raw) >= 0, avcodec_send_packet(context, nil) >= 0,
      avcodec_receive_frame(context, frame.raw) >= 0, context.pointee.width > 0,
      context.pointee.height > 0
    else { return nil }
    let found = try CodecParameters(of: context)
    return extradata.isEmpty ? found : try found.with(extradata: extradata)
  }

  /// The parameters of a video stream of `codec` (FFmpeg's name), as far as they are known.
  ///
  /// - Throws: `unavailable` if the linked libavcodec doesn't know the codec.
  package convenience init(
    videoCodec codec: String, size: PixelSize?, extradata: [UInt8]
  ) throws(UprightError) {
    try self.init(naming: codec)
    if let size {
      raw.pointee.width = CInt(clamping: size.width)
      raw.pointee.height = CInt(clamping: size.height)
    }
    try setExtradata(extradata)
  }

  /// Parameters that hold only the codec (FFmpeg's name).
  ///
  /// - Throws: `unavailable` if the linked libavcodec doesn't know the codec.
  package convenience init(naming codec: String) throws(UprightError) {
    guard let descriptor = avcodec_descriptor_get_by_name(codec) else {
      throw UprightError(.unavailable, "the linked FFmpeg does not know \(codec)")
    }
    try self.init()
    raw.pointee.codec_id = descriptor.pointee.id
    raw.pointee.codec_type = descriptor.pointee.type
  }
}

extension Packet {
  /// A packet with a copy of `bytes`.
  package init(
    _ bytes: [UInt8], stream: StreamInfo, pts: Int64, isKey: Bool, duration: Int64 = 0
  ) throws(UprightError) {
    self.init(adopting: try Self.copy(of: bytes))
    raw.pointee.time_base = AVRational(stream.timeBase)
    streamIndex = stream.index
    self.pts = pts
    self.isKey = isKey
    self.duration = duration
  }

  private static func copy(
    of bytes: [UInt8]
  ) throws(UprightError) -> UnsafeMutablePointer<AVPacket> {
    guard let raw = av_packet_alloc() else { throw outOfMemory("packet") }
    guard av_new_packet(raw, CInt(clamping: bytes.count)) >= 0 else {
      var pointer: UnsafeMutablePointer<AVPacket>? = raw
      av_packet_free(&pointer)
      throw outOfMemory("packet")
    }
    raw.pointee.data.update(from: bytes, count: Int(raw.pointee.size))
    return raw
  }
}
