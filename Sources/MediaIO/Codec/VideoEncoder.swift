internal import CFFmpeg
internal import CFFmpegShims
package import Orientation

/// Encodes pictures of one size and format. Used by one thread at a time.
public final class VideoEncoder {
  /// All that an encoder is opened with.
  package struct Settings: Sendable, Hashable {
    package var codec: VideoCodec
    package var size: PixelSize
    package var format: PixelFormat
    package var colour: Colour
    /// Which field of an interlaced picture comes first; nil for progressive ones. Only H.264 codes
    /// fields, as frames whose macroblocks may be of either kind.
    package var fields: FieldOrder?
    /// Seconds per tick of the pictures' timestamps.
    package var timeBase: Rational
    /// Pictures a second for rate control; nil where it varies.
    package var frameRate: Rational?
    package var rate: RateControl
    /// The encoder's own preset name; nil for its default here.
    package var speed: String?
    /// Pictures between keyframes at most; nil leaves it to the encoder.
    package var gop: Int?
    /// No lookahead and no reordering: a picture in, a packet out.
    package var isLive: Bool
    /// Extradata apart from the packets (MP4, FLV, Matroska) as well as in band.
    package var wantsGlobalHeader: Bool
    /// Parameter sets repeated in band at every IDR.
    package var repeatsHeaders: Bool
    package var threads: Int
    /// `--encoder-options`, the encoder's own names.
    package var options: [String: String]

    package init(
      codec: VideoCodec, size: PixelSize, format: PixelFormat, colour: Colour, timeBase: Rational,
      frameRate: Rational? = nil, rate: RateControl = .constantQuality(nil), speed: String? = nil,
      gop: Int? = nil, isLive: Bool = false, wantsGlobalHeader: Bool = false,
      repeatsHeaders: Bool = false, threads: Int = 0, options: [String: String] = [:]
    ) {
      self.codec = codec
      self.size = size
      self.format = format
      self.colour = colour
      self.timeBase = timeBase
      self.frameRate = frameRate
      self.rate = rate
      self.speed = speed
      self.gop = gop
      self.isLive = isLive
      self.wantsGlobalHeader = wantsGlobalHeader
      self.repeatsHeaders = repeatsHeaders
      self.threads = threads
      self.options = options
    }
  }

  /// How bits are spent.
  public enum RateControl: Sendable, Hashable {
    /// The encoder's CRF scale; nil for the codec's default here.
    case constantQuality(Double?)
    /// Bits a second on average.
    case bitrate(Int)
  }

  package let settings: Settings
  private let context: UnsafeMutablePointer<AVCodecContext>

  /// - Throws: `unavailable` where the encoder is not linked, `usage` where it refuses its options.
  package init(_ settings: Settings) throws(MediaError) {
    self.settings = settings
    context = try Self.open(settings)
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&pointer)
  }

  /// What a muxer must know; the extradata is there once the encoder is open.
  package func parameters() throws(MediaError) -> CodecParameters {
    try CodecParameters(of: context, hdr: settings.colour.hdr)
  }

  private static func open(
    _ settings: Settings
  ) throws(MediaError) -> UnsafeMutablePointer<AVCodecContext> {
    let codec = try settings.codec.find()
    var context = avcodec_alloc_context3(codec)
    guard let opened = context else { throw outOfMemory("encoder") }
    configure(opened, settings)
    _ = upright_log_take_error()
    let (code, unknown): (CInt, [String]) = try withDictionary(
      settings.codec.options(for: settings)
    ) { options throws(MediaError) in
      let code = avcodec_open2(opened, codec, &options)
      return (code, dictionary(options).keys.sorted())
    }
    if code >= 0, unknown.isEmpty { return opened }
    avcodec_free_context(&context)
    if let name = unknown.first, code >= 0 {
      throw MediaError(
        .usage, "\(settings.codec.encoderName) has no option \(name)", at: "--encoder-options",
        remedy: "see ffmpeg -h encoder=\(settings.codec.encoderName)")
    }
    throw MediaError(
      .usage, "\(settings.codec.encoderName) refuses these settings: \(explain(code))",
      at: "\(settings.size) \(settings.format)",
      remedy: "check --speed, --crf, --bitrate and --encoder-options")
  }

  private static func configure(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ settings: Settings
  ) {
    context.pointee.width = CInt(settings.size.width)
    context.pointee.height = CInt(settings.size.height)
    context.pointee.pix_fmt = settings.format.raw
    context.pointee.time_base = AVRational(settings.timeBase)
    if let rate = settings.frameRate { context.pointee.framerate = AVRational(rate) }
    context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
    context.pointee.color_range = settings.colour.range
    context.pointee.color_primaries = settings.colour.primaries
    context.pointee.color_trc = settings.colour.transfer
    context.pointee.colorspace = settings.colour.matrix
    context.pointee.chroma_sample_location = settings.colour.siting
    if let fields = settings.fields {
      context.pointee.field_order =
        fields == .topFirst ? AV_FIELD_TT : AV_FIELD_BB
      if settings.codec == .h264 { context.pointee.flags |= AV_CODEC_FLAG_INTERLACED_DCT }
    }
    context.pointee.thread_count = CInt(clamping: settings.threads)
    if let gop = settings.gop { context.pointee.gop_size = CInt(clamping: gop) }
    if settings.isLive { context.pointee.max_b_frames = 0 }
    if case .bitrate(let bits) = settings.rate { context.pointee.bit_rate = Int64(bits) }
    if settings.wantsGlobalHeader { context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
  }

  /// Hands over one picture, or nil at the end.
  ///
  /// - Throws: `fault` where the picture is not of the size and format the encoder was opened for:
  ///   libavcodec does not look and would read past its end.
  package func send(_ frame: borrowing VideoFrame) throws(MediaError) {
    guard frame.size == settings.size, frame.format == settings.format else {
      throw MediaError(
        .fault, "a \(frame.size) \(frame.format) picture for a \(settings.size) encoder")
    }
    try check(avcodec_send_frame(context, frame.raw)) {
      MediaError(.fault, "encoding failed: \(explain($0))")
    }
  }

  /// Says that no picture follows: the packets that are still inside come out.
  package func finish() throws(MediaError) {
    try check(avcodec_send_frame(context, nil)) {
      MediaError(.fault, "encoding failed: \(explain($0))")
    }
  }

  /// The next packet in decoding order; nil where more pictures are wanted, or at the end.
  package func receive() throws(MediaError) -> Packet? {
    let packet = try Packet()
    let code = avcodec_receive_packet(context, packet.raw)
    switch code {
    case upright_averror_eagain(), upright_averror_eof(): return nil
    case 0...:
      packet.raw.pointee.time_base = AVRational(settings.timeBase)
      return packet
    default: throw MediaError(.fault, "encoding failed: \(explain(code))")
    }
  }
}
