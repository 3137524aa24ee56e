internal import UprightOrientation
internal import UprightSignals
internal import UprightMedia
internal import UprightMediaIO

/// Why an input, or a part of it, can't be copied, as a text for the user.
struct CopyRefusal: Error, Hashable { let reason: String }

/// Combines encoded frames with copied ones in one track.
///
/// For H.264 and HEVC, the encoder's parameter sets have IDs that the source doesn't use, so that both are in
/// the container's configuration and no frame is decoded with the wrong set. Each keyframe has its sets in
/// band as well, because decoders discard the configuration at the first sets that they find in band, and
/// Firefox reads only the first of several sample entries. VP9 and AV1 have no parameter sets that
/// apply beyond a keyframe.
struct StreamMerger: Sendable {
  private let codec: VideoCodec
  private let source: CodecParameters
  /// The pixel format of the copied frames.
  private let format: PixelFormat
  /// The maximum reordering depth of encoded frames.
  private let reordering: Int
  /// `nil` for codecs without parameter sets.
  private let sets: ParameterSetMerger?

  /// - Parameters:
  ///   - sets: What was found in all packets: an ID must be unused in all of them.
  ///   - container: The container of the combined track.
  /// - Throws: `CopyRefusal` if encoded frames can't be combined with this stream's.
  init(_ video: StreamInfo, sets: InBandParameterSets, container: OutputContainer)
    throws(CopyRefusal)
  {
    guard let codec = VideoCodec(rawValue: video.codecName), codec.isLinked else {
      throw CopyRefusal(reason: "there is no encoder for \(video.codecLabel)")
    }
    guard container.canCarry(codec) else {
      throw CopyRefusal(reason: "\(container.rawValue) cannot carry \(codec.rawValue)")
    }
    self.codec = codec
    source = video.parameters
    if let found = sets.parameterSets {
      let join = try ParameterSetMerger(found, codec)
      self.sets = join
      format = try Self.format(join.sequence, codec)
      // The signalled depth is the maximum; the observed depth is the actual one.
      let said = join.sequence.reordering ?? source.reordering
      reordering = min(sets.reordering ?? said, said)
    } else {
      guard let format = source.pixelFormat, codec.supports(format), !format.hasAlpha,
        video.metadata.allSatisfy({ $0.key.lowercased() != "alpha_mode" })
      else { throw CopyRefusal(reason: "there is no encoder for its kind of pixels") }
      self.sets = nil
      self.format = format
      reordering = 0
    }
  }

  private static func format(
    _ sequence: SequenceParameters, _ codec: VideoCodec
  ) throws(CopyRefusal) -> PixelFormat {
    let depth = sequence.lumaDepth
    let layout = ["gray", "yuv420p", "yuv422p", "yuv444p"][sequence.chroma]
    let name = depth == 8 ? layout : "\(layout)\(depth)le"
    guard sequence.chroma == 0 || depth == sequence.chromaDepth, !sequence.hasSeparatePlanes,
      let format = PixelFormat(name: name), codec.supports(format)
    else { throw CopyRefusal(reason: "there is no encoder for its kind of pixels") }
    return format
  }

  /// Returns the encoder settings matched to the source: profile, level, chroma, bit depth, parameter set
  /// IDs, reordering, closed GOPs. They override `--encoder-options` of the same name.
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

  /// Returns the parameters of the output track, with both encoders' parameter sets.
  ///
  /// - Parameter encoded: The parameters of an encoder that was opened with `settings`.
  func parameters(encoded: CodecParameters) throws(UprightError) -> CodecParameters {
    if let sets {
      return try source.with(extradata: try sets.configuration(with: encoded.extradata))
    }
    // A sequence header in av1C would have to match all packets, and each keyframe has one (AV1 Codec ISO
    // Media File Format Binding, 2.3.4). So it is left out.
    let description = source.extradata
    guard codec == .av1, description.count > 4, description[0] == 0x81 else { return source }
    return try source.with(extradata: Array(description[..<4]))
  }

  /// Adds the source's parameter sets to a copied keyframe that has none.
  func completed(_ packet: consuming Packet) throws(UprightError) -> Packet {
    guard let sets, let bytes = unsafe packet.withBytes({ unsafe sets.completed($0) }) else {
      return packet
    }
    return try packet.with(payload: bytes)
  }

  /// Converts an encoded packet to the form of the copied ones, with its parameter sets in band at each IDR
  /// frame.
  func adapted(_ packet: consuming Packet) throws(UprightError) -> Packet {
    guard let sets else { return packet }
    let bytes = unsafe packet.withBytes { bytes in Result { try unsafe sets.adapted(bytes) } }
    switch bytes {
    case .success(nil): return packet
    case .success(let bytes?): return try packet.with(payload: bytes)
    case .failure: throw UprightError(.fault, "the encoder's packet is not as expected")
    }
  }
}
