internal import Orientation
internal import OrientationSignals
internal import UprightContainers
internal import UprightMediaIO

/// How encoded pictures are made to stand beside copied ones in one track.
///
/// H.264 and HEVC: the encoder's parameter sets have numbers that the source's have not, so that both
/// stand in the container's configuration and no picture is decoded by the other's; the encoder's stand
/// in its packets as well, for decoders that forget the configuration. VP9 and AV1 have none that
/// outlast a keyframe.
struct StreamJoin: Sendable {
  /// Why a stream cannot be joined, for a person.
  struct Refusal: Error, Hashable {
    let reason: String
  }

  private let codec: VideoCodec
  private let source: CodecParameters
  /// The format of the copied pictures.
  private let format: PixelFormat
  /// Pictures that encoded ones may be reordered by.
  private let reordering: Int
  /// Nil for codecs without parameter sets.
  private let sets: SetJoin?

  /// - Parameters:
  ///   - sets: what was found in the packets, all of them: a number that is free must be so everywhere.
  ///   - container: where the joined track goes.
  /// - Throws: `Refusal` where encoded pictures cannot stand beside this stream's.
  init(_ video: StreamInfo, sets: InBandSets, container: OutputContainer) throws(Refusal) {
    guard let codec = VideoCodec(rawValue: video.codecName), codec.isLinked else {
      throw Refusal(reason: "there is no encoder for \(video.codecName)")
    }
    guard container.canCarry(codec) else {
      throw Refusal(reason: "\(container.rawValue) does not take \(codec.rawValue)")
    }
    self.codec = codec
    source = video.parameters
    if let found = sets.parameterSets {
      let join = try SetJoin(found, codec)
      self.sets = join
      format = try Self.format(join.sequence, codec)
      // What is said is how deep it may be, what was seen is how deep it is.
      let said = join.sequence.reordering ?? source.reordering
      reordering = min(sets.reordering ?? said, said)
    } else {
      guard let format = source.pixelFormat, codec.supports(format), !format.hasAlpha,
        video.metadata.allSatisfy({ $0.key.lowercased() != "alpha_mode" })
      else { throw Refusal(reason: "there is no encoder for its kind of pixels") }
      self.sets = nil
      self.format = format
      reordering = 0
    }
  }

  private static func format(
    _ sequence: SequenceParameters, _ codec: VideoCodec
  ) throws(Refusal) -> PixelFormat {
    let depth = sequence.lumaDepth
    let layout = ["gray", "yuv420p", "yuv422p", "yuv444p"][sequence.chroma]
    let name = depth == 8 ? layout : "\(layout)\(depth)le"
    guard sequence.chroma == 0 || depth == sequence.chromaDepth, !sequence.hasSeparatePlanes,
      let format = PixelFormat(name: name), codec.supports(format)
    else { throw Refusal(reason: "there is no encoder for its kind of pixels") }
    return format
  }

  /// The encoder's settings matched to the source: profile, level, chroma, bit depth, ids, reordering,
  /// closed GOPs. They win over `--encoder-options` of the same name.
  func settings(_ wanted: VideoEncoder.Settings) -> VideoEncoder.Settings {
    var settings = wanted
    settings.codec = codec
    settings.format = format
    guard let sets else { return settings }
    settings.wantsGlobalHeader = true
    settings.repeatsHeaders = true
    sets.match(&settings, reordering: reordering)
    return settings
  }

  /// What the output's track is begun with: both parameter sets.
  ///
  /// - Parameter encoded: of an encoder that was opened with `settings`.
  func parameters(encoded: CodecParameters) throws(MediaError) -> CodecParameters {
    if let sets {
      return try source.with(extradata: try sets.configuration(with: encoded.extradata))
    }
    // A sequence header in av1C would have to be that of all packets; each keyframe has its own (AV1
    // Codec ISO Media File Format Binding, 2.3.4).
    let description = source.extradata
    guard codec == .av1, description.count > 4, description[0] == 0x81 else { return source }
    return try source.with(extradata: Array(description[..<4]))
  }

  /// An encoded packet in the form of the copied ones, with its own parameter sets in band at each IDR.
  func adapted(_ packet: consuming Packet) throws(MediaError) -> Packet {
    guard let sets else { return packet }
    let bytes = unsafe packet.withBytes { bytes in Result { try unsafe sets.adapted(bytes) } }
    switch bytes {
    case .success(nil): return packet
    case .success(let bytes?): return try packet.with(payload: bytes)
    case .failure: throw MediaError(.fault, "the encoder's packet is not as expected")
    }
  }
}
