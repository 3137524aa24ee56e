internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Dispatch
package import UprightOrientation

/// The right to have the only encoder of the process, from `init`, which waits for it, to `deinit`.
private final class EncoderTurn {
  private static let free = DispatchSemaphore(value: 1)

  init() { Self.free.wait() }
  deinit { Self.free.signal() }
}

/// Encodes frames of one size and format. Used by one thread at a time.
public final class VideoEncoder {
  /// All settings that an encoder is opened with.
  package struct Settings: Sendable, Hashable {
    package var codec: VideoCodec
    package var size: PixelSize
    package var format: PixelFormat
    package var colour: Colour
    /// Which field of an interlaced frame comes first. `nil` for progressive frames. Only H.264 codes fields,
    /// in frames whose macroblocks may be field or frame macroblocks.
    package var fields: FieldOrder?
    /// Seconds per tick of the frames' timestamps.
    package var timeBase: Rational
    /// The frame rate for rate control, in frames per second. `nil` if it varies.
    package var frameRate: Rational?
    package var rate = RateControl.constantQuality(nil)
    /// How much is added to the value of a constant quality, so that the same frames get fewer bits; `nil` if no other
    /// encoder has to have the same parameter sets.
    package var coarser: Int?
    /// The name of the encoder's preset. `nil` for the default chosen here.
    package var speed: String?
    /// The maximum number of frames between keyframes. `nil` leaves it to the encoder.
    package var gop: Int?
    /// Whether to encode without lookahead and reordering, so that each frame produces its packet at once.
    package var isLive = false
    /// Whether encoders of other sessions, canvases or sizes must be able to work at the same time.
    package var isAmongOthers = false
    /// The encoder by name, of the same codec; `nil` for the usual one.
    package var encoder: NamedEncoder?
    /// Whether the extradata is stored apart from the packets (MP4, FLV, Matroska).
    package var wantsGlobalHeader = false
    /// Whether parameter sets are repeated in band at every IDR.
    package var repeatsHeaders = false
    package var threads = 0
    /// `--encoder-options`: option names of the encoder, with their values.
    package var options: [String: String] = [:]

    /// FFmpeg's name of the encoder.
    fileprivate var encoderName: String {
      encoder?.name ?? codec.encoderName(amongOthers: isAmongOthers)
    }

    /// The hardware that encodes; `nil` for the processor.
    fileprivate var family: HardwareFamily? { encoder?.family }

    /// Whether a bit rate is also the limit of each second: in live H.264, unless `options` has limits.
    fileprivate var isLimited: Bool {
      isLive && (codec == .h264 || family != nil) && options["maxrate"] == nil
        && options["bufsize"] == nil
    }

    /// Whether the encoder writes closed captions that frames carry.
    package var carriesCaptions: Bool { VideoCodec.carriesCaptions(encoderName) }

    /// Whether fields can be kept.
    package var carriesFields: Bool { family == nil && codec.carriesFields }

    package init(
      codec: VideoCodec, size: PixelSize, format: PixelFormat, colour: Colour, timeBase: Rational
    ) {
      self.codec = codec
      self.size = size
      self.format = format
      self.colour = colour
      self.timeBase = timeBase
    }
  }

  /// How the encoder controls the bit rate.
  public enum RateControl: Sendable, Hashable, Codable {
    /// A value on the encoder's CRF scale. `nil` for the codec's default chosen here.
    case constantQuality(Double?)
    /// The average bit rate, in bits per second. In live H.264 it is the maximum of each second too.
    case bitrate(Int)
  }

  package private(set) var settings: Settings
  private let context: UnsafeMutablePointer<AVCodecContext>
  /// Held from before the encoder is opened until it is closed, if the process can have only one.
  private let turn: EncoderTurn?
  /// Gives the frames to a hardware encoder; `nil` if the processor encodes.
  private let input: HardwareInput?

  /// Waits while another encoder is open if the process can have only one (`VideoCodec.encodesInParallel`).
  ///
  /// - Throws: `unavailable` if the encoder isn't linked or its device can't be used, `usage` if it rejects its
  ///   options.
  package init(_ settings: Settings) throws(UprightError) {
    self.settings = settings
    turn = settings.codec.encodesInParallel || settings.isAmongOthers ? nil : EncoderTurn()
    input = try settings.encoder.flatMap { (encoder) throws(UprightError) in
      try encoder.family.map { (family) throws(UprightError) in
        try HardwareInput(encoder, family, size: settings.size, format: settings.format)
      }
    }
    context = try Self.open(settings, input)
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&pointer)
  }

  /// Returns what a muxer must know. The extradata is available once the encoder is open.
  package func parameters() throws(UprightError) -> CodecParameters {
    let parameters = try CodecParameters(of: context, hdr: settings.colour.hdr)
    // Not that of a device's surfaces.
    if input != nil { parameters.raw.pointee.format = settings.format.raw.rawValue }
    return parameters
  }

  /// Changes the rate control from the next frame on, without a keyframe. Returns `false`, and changes nothing,
  /// if only another encoder can have it. libx264 reads the bit rate with each frame, but only together with a
  /// limit that it had from the start; it can't change between a constant quality and a bit rate.
  package func change(_ rate: RateControl) -> Bool {
    if rate == settings.rate { return true }
    guard settings.isLimited, settings.family == nil, case .bitrate = settings.rate,
      case .bitrate(let bits) = rate
    else { return false }
    Self.configure(context, bits, isLimited: true)
    settings.rate = rate
    return true
  }

  /// The level of an open H.264 encoder, ten times its number; `nil` for other codecs. It is the third byte
  /// after the type of the sequence parameter set (ISO/IEC 14496-10, 7.3.2.1.1).
  package var level: Int? {
    guard settings.codec == .h264, let bytes = context.pointee.extradata else { return nil }
    for place in 0..<max(0, Int(context.pointee.extradata_size) - 7)
    where bytes[place] == 0 && bytes[place + 1] == 0 && bytes[place + 2] == 1
      && bytes[place + 3] & 31 == 7
    {
      return Int(bytes[place + 6])
    }
    return nil
  }

  private static func open(
    _ settings: Settings, _ input: HardwareInput?
  ) throws(UprightError) -> UnsafeMutablePointer<AVCodecContext> {
    let codec = try settings.codec.find(settings.encoderName)
    var context = QuietContext.codec(codec)
    guard let opened = context else { throw outOfMemory("encoder") }
    configure(opened, settings)
    input?.configure(opened)
    _ = upright_log_take_error()
    let (code, unknown): (CInt, [String]) = try withDictionary(
      settings.codec.options(for: settings)
    ) { options throws(UprightError) in
      let code = avcodec_open2(opened, codec, &options)
      return (code, dictionary(options).keys.sorted())
    }
    if code >= 0, unknown.isEmpty { return opened }
    avcodec_free_context(&context)
    if let name = unknown.first, code >= 0 {
      throw noOption(name, of: settings.encoderName)
    }
    // The options of hardware are checked before; what it can encode depends on the device.
    throw UprightError(
      input == nil ? .usage : .unavailable,
      "\(settings.encoderName) rejects these settings: \(explain(code))",
      at: "\(settings.size) \(settings.format)",
      remedy: "check --speed, --crf, --bitrate and --encoder-options"
    ).reporting(code)
  }

  /// The error for an option that an encoder doesn't have.
  static func noOption(_ name: String, of encoder: String) -> UprightError {
    UprightError(
      .usage, "\(encoder) has no option \(name)", at: "--encoder-options",
      remedy: "see ffmpeg -h encoder=\(encoder)")
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
    // Hardware chooses from 120 frames to none at all by itself.
    if settings.gop == nil, settings.family != nil { context.pointee.gop_size = 250 }
    if settings.isLive { context.pointee.max_b_frames = 0 }
    if case .bitrate(let bits) = settings.rate {
      configure(context, bits, isLimited: settings.isLimited)
    }
    if settings.wantsGlobalHeader { context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
  }

  /// - Parameter isLimited: Whether no second may have more bits than the rate.
  private static func configure(
    _ context: UnsafeMutablePointer<AVCodecContext>, _ bits: Int, isLimited: Bool
  ) {
    context.pointee.bit_rate = Int64(bits)
    guard isLimited else { return }
    context.pointee.rc_max_rate = Int64(bits)
    context.pointee.rc_buffer_size = CInt(clamping: bits)
  }

  /// Sends one frame.
  ///
  /// - Throws: `fault` if the frame doesn't have the size and format that the encoder was opened for.
  ///   libavcodec doesn't check that and would read past the frame's end.
  package func send(_ frame: borrowing VideoFrame) throws(UprightError) {
    guard frame.size == settings.size, frame.format == settings.format else {
      throw UprightError(
        .fault, "a \(frame.size) \(frame.format) frame for a \(settings.size) encoder")
    }
    let code: CInt
    if let own = try input?.frame(of: frame) {
      code = avcodec_send_frame(context, own.raw)
    } else {
      code = avcodec_send_frame(context, frame.raw)
    }
    try check(code) { UprightError(.fault, "encoding failed: \(explain($0))") }
  }

  /// Marks the end of the input. The remaining packets can then be received.
  package func finish() throws(UprightError) {
    try check(avcodec_send_frame(context, nil)) {
      UprightError(.fault, "encoding failed: \(explain($0))")
    }
  }

  /// Returns the next packet in decoding order. Returns `nil` if more frames are needed, or at the end.
  package func receive() throws(UprightError) -> Packet? {
    let packet = try Packet()
    let code = avcodec_receive_packet(context, packet.raw)
    switch code {
    case upright_averror_eagain(), upright_averror_eof(): return nil
    case 0...:
      packet.raw.pointee.time_base = AVRational(settings.timeBase)
      return input == nil ? packet : try withParameterSets(packet)
    default: throw UprightError(.fault, "encoding failed: \(explain(code))").reporting(code)
    }
  }

  /// Returns a packet of a hardware encoder with the parameter sets before a keyframe, if they are to be in band
  /// too. NVENC writes them into the extradata alone.
  private func withParameterSets(_ packet: consuming Packet) throws(UprightError) -> Packet {
    guard settings.wantsGlobalHeader, settings.repeatsHeaders, packet.isKey,
      let start = context.pointee.extradata, context.pointee.extradata_size > 0
    else { return packet }
    let sets = UnsafeBufferPointer(start: start, count: Int(context.pointee.extradata_size))
    let payload: [UInt8]? = packet.withBytes { bytes in
      bytes.starts(with: sets) ? nil : Array(sets) + Array(bytes)
    }
    guard let payload else { return packet }
    return try packet.with(payload: payload)
  }
}
