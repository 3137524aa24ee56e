internal import CUprightFFmpeg
package import UprightOrientation

/// The properties of streams and of the whole file.
extension Muxer {
  /// Returns whether `format` can contain `codec`, by libavformat's table, also where no encoder of it is linked.
  package static func canCarry(_ codec: VideoCodec, format: String) -> Bool {
    guard let output = av_guess_format(format, nil, nil),
      let described = avcodec_descriptor_get_by_name(codec.rawValue)
    else { return false }
    return accepts(described.pointee.id, output)
  }

  /// Returns whether `output` stores packets of `codec`. By its table movenc takes the codecs that are
  /// registered for MP4 only, and then fails to write the header of a QuickTime file.
  static func accepts(_ codec: AVCodecID, _ output: UnsafePointer<AVOutputFormat>) -> Bool {
    let isQuickTime = String(cString: output.pointee.name) == "mov"
    if isQuickTime && [AV_CODEC_ID_VP8, AV_CODEC_ID_VP9, AV_CODEC_ID_AV1].contains(codec) {
      return false
    }
    return avformat_query_codec(output, codec, FF_COMPLIANCE_NORMAL) == 1
  }

  /// Returns a four-character code as libavformat stores it, with the first character in the lowest byte.
  static func tag(_ name: String) -> UInt32 {
    name.utf8.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
  }

  /// Adds a stream and returns its index. `timeBase` is a request; see `timeBase(of:)` after the header.
  ///
  /// - Parameter isSelfContained: Whether all parameter sets of a format are in its sample entry. For HEVC
  ///   that is `hvc1` (ISO/IEC 14496-15, 8.4.1), the only one that Apple's players accept.
  package func addStream(
    _ parameters: CodecParameters, timeBase: Rational, frameRate: Rational? = nil,
    isSelfContained: Bool = false,
    like source: StreamInfo? = nil, metadata: [String: String] = [:]
  ) throws(UprightError) -> Int {
    guard let stream = avformat_new_stream(context, nil) else { throw outOfMemory("stream") }
    try check(avcodec_parameters_copy(stream.pointee.codecpar, parameters.raw)) { _ in
      outOfMemory("stream")
    }
    // A tag of the source's container has no meaning in another.
    stream.pointee.codecpar.pointee.codec_tag = 0
    if isSelfContained, stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_HEVC {
      stream.pointee.codecpar.pointee.codec_tag = Self.tag("hvc1")
    }
    // FLAC in MP4 has a registered sample entry, but libavformat still treats it as experimental.
    if stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_FLAC {
      context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
    }
    stream.pointee.time_base = AVRational(timeBase)
    if let frameRate { stream.pointee.avg_frame_rate = AVRational(frameRate) }
    stream.pointee.sample_aspect_ratio = stream.pointee.codecpar.pointee.sample_aspect_ratio
    stream.pointee.disposition = source?.disposition ?? AV_DISPOSITION_DEFAULT
    try parameters.hdr.write(to: stream)
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      av_dict_set(&stream.pointee.metadata, key, value, 0)
    }
    let index = Int(stream.pointee.index)
    audio[index] = AudioGrid(stream.pointee.codecpar)
    return index
  }

  /// Sets the metadata of the whole file, such as titles and creation time.
  package func setMetadata(_ metadata: [String: String]) {
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      av_dict_set(&context.pointee.metadata, key, value, 0)
    }
  }

  /// Sets the named sections of the timeline. Call it before the header.
  package func setChapters(_ chapters: [Demuxer.Chapter]) throws(UprightError) {
    guard !chapters.isEmpty else { return }
    guard
      let array = av_calloc(chapters.count, MemoryLayout<UnsafeMutablePointer<AVChapter>?>.stride)
    else { throw outOfMemory("chapters") }
    let list = array.bindMemory(to: UnsafeMutablePointer<AVChapter>?.self, capacity: chapters.count)
    context.pointee.chapters = list
    for (index, chapter) in chapters.enumerated() {
      guard let memory = av_mallocz(MemoryLayout<AVChapter>.size) else {
        throw outOfMemory("chapters")
      }
      let made = memory.bindMemory(to: AVChapter.self, capacity: 1)
      made.pointee.id = Int64(index)
      made.pointee.time_base = AVRational(num: 1, den: 1000)
      made.pointee.start = chapter.start.plausibleTicks(of: Rational(1, 1000))
      made.pointee.end = chapter.end.plausibleTicks(of: Rational(1, 1000))
      for (key, value) in chapter.metadata { av_dict_set(&made.pointee.metadata, key, value, 0) }
      list[index] = made
      context.pointee.nb_chapters = CUnsignedInt(index + 1)
    }
  }

  /// Changes the frame size that the container declares for a stream from the next packet on (FLV's
  /// onMetaData). Doesn't change the extradata: flvenc compares it with that of the next packet, and writes a
  /// sequence header if the two differ.
  package func announce(_ size: PixelSize, of stream: Int) {
    guard let target = context.pointee.streams[stream]?.pointee.codecpar else { return }
    target.pointee.width = CInt(clamping: size.width)
    target.pointee.height = CInt(clamping: size.height)
    context.pointee.event_flags |= AVFMT_EVENT_FLAG_METADATA_UPDATED
  }
}

extension CodecParameters {
  /// Returns a copy with other extradata and another four-character code.
  package func with(extradata bytes: [UInt8], tag: String) throws(UprightError) -> CodecParameters {
    let copy = try with(extradata: bytes)
    copy.raw.pointee.codec_tag = Muxer.tag(tag)
    return copy
  }
}
