internal import CUprightFFmpeg
package import UprightOrientation
package import UprightSignals

/// A container's description of one of its streams.
package struct StreamInfo: Sendable {
  package let index: Int
  /// The container's number of the stream, such as MP4's `track_ID`.
  package let identifier: Int
  /// The container's four-character code for the codec, such as `mebx`. Characters that aren't printable
  /// ASCII become dots.
  package let codecTag: String
  package let kind: StreamKind
  package let parameters: CodecParameters
  /// Seconds per tick of its timestamps.
  package let timeBase: Rational
  /// The container's average frame rate, in frames per second. `nil` if unknown.
  package var frameRate: Rational?
  /// What the container says of the shape of its frames.
  package let shape: StreamShape
  /// The track's display matrix. `nil` if there is none.
  package let displayMatrix: DisplayMatrix?
  /// The duration. `nil` if unknown.
  package var duration: MediaTime?
  /// The first timestamp in ticks. `nil` if unknown.
  package var startTime: Int64?
  /// The number of packets that the container declares, without those that an edit list leaves out. 0 if it
  /// declares none.
  package internal(set) var frameCount: Int
  /// What an edit list does to the stream.
  package internal(set) var editing = Editing.none
  /// Whether the stream is a cover picture rather than video.
  package let isAttachedPicture: Bool
  /// The file of a cover picture; empty in other streams.
  private let picture: [UInt8]
  /// Whether it is a cover that can't be decoded. Muxers reject it.
  package var isDamagedCover: Bool { isAttachedPicture && parameters.size.width <= 0 }
  /// The shape of its frames at the start, by the container and the bitstream. In mid-stream, it is that of
  /// each frame.
  package var frameShape: FrameShape { shape(of: parameters.size) }
  /// The sample aspect ratio at the start, width to height. 1:1 if unknown.
  package var sampleAspectRatio: Rational { frameShape.sampleAspectRatio }
  package let metadata: [String: String]
  /// Whether its packets may carry CVO.
  package var carriesCVO = false
  /// The libavcodec decoder to use if the default one isn't suitable. `nil` selects the default decoder.
  package var decoderName: String?
  /// The HDR10 metadata that the container stores besides the codec's.
  let hdr: HDRMetadata
  /// AV_DISPOSITION_* bits.
  let disposition: CInt
  /// The track of an MP4 or MOV file; `nil` for other containers, or if the index can't be read.
  package let track: MovieTrack?
  /// The protection scheme of its packets, such as `cenc`. `nil` if they aren't encrypted.
  package let encryption: String?
  /// The stream's other side data in the container, in FFmpeg's structures, by type.
  let sideData: [StreamSideData]

  /// What an edit list does to a stream apart from placing it.
  package enum Editing: Sendable {
    /// Every packet is presented, or hidden at the start as an encoder's priming is.
    case none
    /// A part before the time 0 is hidden. An edit list in the output can hide it again.
    case start
    /// Parts are hidden, repeated or apart.
    case cut
    /// Parts are held or played at another speed.
    case rate
  }

  /// FFmpeg's name of the codec, such as `h264`.
  package var codecName: String { parameters.codecName }

  private static let unknownCodec = "an unknown codec"

  /// The name of the codec in messages: FFmpeg's, or the container's code if FFmpeg has none, such as `apac`.
  package var codecLabel: String {
    let tag = parameters.raw.pointee.codec_tag
    guard tag != 0 else { return codecName == "none" ? Self.unknownCodec : codecName }
    guard ["none", "bin_data"].contains(codecName) else { return codecName }
    // MPEG-TS has a number of 8 bits (ISO/IEC 13818-1, table 2-34).
    return tag > 0xFF ? codecTag : "type 0x" + String(tag, radix: 16)
  }

  /// Returns the error of video that can't be decoded.
  package func lacksDecoder(at location: String) -> UprightError {
    UprightError(
      .unavailable, "the linked FFmpeg cannot decode \(codecLabel)", at: location,
      remedy: "link an FFmpeg with that decoder")
  }

  /// Whether the input has said as much of it as its decoder needs at most. A stream whose packets begin after the
  /// opening is described by its first ones.
  var isDescribed: Bool {
    switch kind {
    case .video: parameters.size.hasArea
    case .audio: parameters.raw.pointee.sample_rate > 0
    default: true
    }
  }

  /// The name of the stream in messages, such as `stream 2 (audio, apac)`.
  package var label: String {
    "stream \(index) (\(kind.rawValue)\(codecLabel == Self.unknownCodec ? "" : ", " + codecLabel))"
  }

  /// The names of the descriptions in its side data that an encoder doesn't write.
  package var descriptions: [String] {
    let names = [
      (AV_PKT_DATA_DOVI_CONF, "Dolby Vision"), (AV_PKT_DATA_SPHERICAL, "spherical mapping"),
      (AV_PKT_DATA_STEREO3D, "stereoscopic layout"),
    ]
    return names.filter { kind in sideData.contains { $0.type == kind.0 } }.map(\.1)
  }

  /// The legacy `rotate` tag, in degrees clockwise. `nil` if there is none or it isn't a number. Matroska
  /// writes its name in capitals.
  package var rotateTag: Int? {
    metadata.first { $0.key.lowercased() == "rotate" }.flatMap { Int($0.value) }
  }

  /// Returns the shape of stored frames of `size`, without the container's cropping.
  ///
  /// - Parameter own: Their sample aspect ratio in the bitstream. `nil` for the one at the start.
  package func shape(of size: PixelSize, own: Rational? = nil) -> FrameShape {
    let first = parameters.sampleAspectRatio
    return shape.shape(of: size, own: own ?? first, first: first)
  }

  /// - Parameters:
  ///   - shape: The shape in the container, without the matrix's scale. `nil` if only libavformat knows it.
  ///   - zero: The start of the input's timeline on the container's, in microseconds.
  ///   - isScript: Whether it carries FLV script tags, which libavformat reports as subtitles.
  ///   - track: The track of an MP4 or MOV file.
  ///   - cipher: The algorithm by which a Matroska file encrypts it.
  init(
    _ stream: UnsafeMutablePointer<AVStream>, shape: StreamShape? = nil, zero: Int64 = 0,
    isScript: Bool = false, track: MovieTrack? = nil, cipher: String? = nil
  ) throws(UprightError) {
    let raw = stream.pointee
    index = Int(raw.index)
    identifier = Int(raw.id)
    let tag = raw.codecpar.pointee.codec_tag
    codecTag = String(
      decoding: (0..<4).map { UInt8(truncatingIfNeeded: tag >> (8 * $0)) }
        .map { (32..<127).contains($0) ? $0 : 46 }, as: UTF8.self)
    kind =
      switch raw.codecpar.pointee.codec_type {
      case AVMEDIA_TYPE_VIDEO: .video
      case AVMEDIA_TYPE_AUDIO: .audio
      case AVMEDIA_TYPE_SUBTITLE: isScript ? .data : .subtitle
      case AVMEDIA_TYPE_DATA: .data
      case AVMEDIA_TYPE_ATTACHMENT: .attachment
      default: .unknown
      }
    parameters = try CodecParameters(copying: raw.codecpar)
    timeBase = Rational(raw.time_base)
    frameRate = Self.rate(average: raw.avg_frame_rate, exact: raw.r_frame_rate)
    sideData = StreamSideData.all(of: stream)
    displayMatrix = sideData.first { $0.type == AV_PKT_DATA_DISPLAYMATRIX && $0.bytes.count >= 36 }
      .map { DisplayMatrix(bytes: $0.bytes) }
    self.shape = Self.shape(shape, raw.sample_aspect_ratio, displayMatrix)
    duration =
      raw.duration > 0 && raw.duration != noTimestamp
      ? MediaTime(raw.duration, Rational(raw.time_base)) : nil
    startTime =
      timeBase.isPlausible(raw.start_time)
      ? raw.start_time
        - rescale(zero, from: AVRational(num: 1, den: 1_000_000), to: raw.time_base)
      : nil
    frameCount = Int(clamping: max(0, raw.nb_frames))
    isAttachedPicture = raw.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
    picture = Array(
      UnsafeBufferPointer(
        start: raw.attached_pic.data, count: max(0, Int(raw.attached_pic.size))))
    disposition = raw.disposition
    hdr = HDRMetadata(sideData)
    metadata = dictionary(raw.metadata)
    self.track = track
    encryption =
      track?.entries.lazy.compactMap(\.encryption).first ?? cipher
      ?? (metadata["enc_key_id"] == nil ? nil : "AES")
  }

  /// A stream as its transport describes it.
  package init(
    index: Int, kind: StreamKind, parameters: CodecParameters, timeBase: Rational,
    frameRate: Rational? = nil
  ) {
    self.index = index
    identifier = index
    codecTag = "...."
    self.kind = kind
    self.parameters = parameters
    self.timeBase = timeBase
    self.frameRate = frameRate
    shape = StreamShape()
    displayMatrix = nil
    frameCount = 0
    isAttachedPicture = false
    picture = []
    metadata = [:]
    disposition = 0
    sideData = []
    track = nil
    encryption = nil
    hdr = HDRMetadata()
  }
}

extension StreamInfo {
  /// Returns the average rate, unless it is odd and a little off a usual one of which all times are multiples: libavformat
  /// counts the frames that an edit list hides, but not their time.
  ///
  /// - Returns: `nil` if both are unknown.
  private static func rate(average: AVRational, exact: AVRational) -> Rational? {
    let known = [average, exact].filter { $0.num > 0 && $0.den > 0 }.map { Rational($0) }
    guard known.count == 2, !isUsual(known[0]), isUsual(known[1]) else { return known.first }
    let difference = abs(known[0].doubleValue / known[1].doubleValue - 1)
    return difference < 0.05 ? known[1] : known[0]
  }

  /// Whether a rate is a whole number of frames a second, or 1000/1001 of one.
  private static func isUsual(_ rate: Rational) -> Bool {
    [1, 1.001].map { rate.doubleValue * $0 }.contains { abs($0 - $0.rounded()) < 1e-6 }
  }

  /// - Parameter ratio: libavformat's sample aspect ratio of the stream.
  private static func shape(
    _ known: StreamShape?, _ ratio: AVRational, _ matrix: DisplayMatrix?
  ) -> StreamShape {
    var shape = known ?? StreamShape()
    if let matrix { shape.scale = matrix.scale }
    // If a matrix scales, libavformat gives the ratio of its columns: the shape of the turned frame. A square
    // ratio may be the one that it assumes.
    if known == nil, shape.scale.width == shape.scale.height, ratio.num > 0, ratio.den > 0,
      ratio.num != ratio.den
    {
      shape.sampleAspectRatio = Rational(ratio)
    }
    return shape
  }
}

/// Returns a copy of an AVDictionary. For a repeated key it holds the last value.
func dictionary(_ source: OpaquePointer?) -> [String: String] {
  var result: [String: String] = [:]
  var entry: UnsafeMutablePointer<AVDictionaryEntry>?
  while let next = av_dict_get(source, "", entry, AV_DICT_IGNORE_SUFFIX) {
    result[String(cString: next.pointee.key)] = String(cString: next.pointee.value)
    entry = next
  }
  return result
}

/// Calls `body` with an AVDictionary of `entries` and frees it afterwards.
func withDictionary<R>(
  _ entries: [(String, String)], _ body: (inout OpaquePointer?) throws(UprightError) -> R
) throws(UprightError) -> R {
  var options: OpaquePointer?
  for (key, value) in entries { av_dict_set(&options, key, value, 0) }
  defer { av_dict_free(&options) }
  return try body(&options)
}

extension StreamInfo {
  /// Returns what Matroska stores of an attachment: a cover picture is one there, with a name that tells what it is (RFC 9559,
  /// 21.2).
  package func attached() throws(UprightError) -> (
    parameters: CodecParameters, metadata: [String: String]
  ) {
    // Matroska requires both names.
    let isJPEG = codecName == "mjpeg"
    let names = [
      "filename": isAttachedPicture ? "cover.\(isJPEG ? "jpg" : codecName)" : "attachment",
      "mimetype": isAttachedPicture
        ? "image/\(isJPEG ? "jpeg" : codecName)" : "application/octet-stream",
    ]
    let kept = metadata.filter { ["filename", "mimetype", "title"].contains($0.key) }
    return (
      isAttachedPicture ? try parameters.attachment(of: picture) : parameters,
      names.merging(kept) { $1 }
    )
  }
}
