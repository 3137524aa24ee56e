internal import Orientation
internal import UprightMediaIO
internal import UprightPipeline

/// Which format the track has at each part: one that copied pictures share with encoded ones of their
/// size, and others where the canvas differs.
struct PartFormats {
  /// The samples that pictures are placed on in the canvas.
  let alignment: PixelSize
  /// What copied pictures and encoded ones of their size are told of together.
  private let shared: CodecParameters
  private let size: PixelSize
  private let join: StreamJoin?
  private var present: CodecParameters?
  private var count = 0

  /// Decodes the first picture, for an encoder to say what its parameter sets will be: they stand in the
  /// header, which may be written long before.
  init(_ plan: SessionPlan, _ clip: ClipParts) throws(MediaError) {
    size = plan.video.parameters.size
    join = clip.join
    let first = try plan.firstPicture()
    var settings = plan.encoderSettings(first: first, codec: clip.codec)
    settings.colour = first.colour
    settings.fields = first.fields
    if let join {
      settings = join.settings(settings)
      // The others have no parameter sets; and SVT-AV1, closed before its first picture, waits for ever.
      let hasSets = settings.codec == .h264 || settings.codec == .hevc
      let encoded =
        hasSets ? try VideoEncoder(settings).parameters() : plan.video.parameters
      shared = try join.parameters(encoded: encoded)
    } else {
      shared = plan.video.parameters
    }
    alignment = settings.format.alignment
  }

  /// The format that begins with a copied packet; nil where it goes on.
  mutating func ofCopied() -> EncodedFormat? { begin(size, shared) }

  /// The format that begins with an encoded packet; nil where it goes on.
  ///
  /// - Parameter own: what its encoder begins with it.
  mutating func ofEncoded(_ own: EncodedFormat?) throws(MediaError) -> EncodedFormat? {
    guard let own else { return nil }
    guard let join else { return begin(own.size, own.parameters) }
    let joined = try join.parameters(encoded: own.parameters)
    if own.size == size { return begin(size, joined) }
    // The size is the encoder's, the form of its packets that of the copied ones.
    return begin(own.size, try own.parameters.with(extradata: joined.extradata))
  }

  private mutating func begin(_ size: PixelSize, _ parameters: CodecParameters) -> EncodedFormat? {
    if let present, present.size == size, present.extradata == parameters.extradata { return nil }
    present = parameters
    defer { count += 1 }
    return EncodedFormat(index: count, size: size, parameters: parameters)
  }
}

extension SessionPlan {
  /// The clip's first picture, read anew.
  func firstPicture() throws(MediaError) -> VideoFrame {
    let demuxer =
      if let first = demuxer as? Demuxer {
        try Demuxer(again: first, format: request.inputFormat)
      } else {
        try Demuxer(url: request.input, format: request.inputFormat, interrupt: request.interrupt)
      }
    demuxer.select([video.index])
    let decoder = try VideoDecoder(stream: video, threads: 1)
    while let packet = try demuxer.read() {
      guard packet.streamIndex == video.index else { continue }
      _ = decoder.send(packet)
      if let picture = try decoder.receive() { return picture }
    }
    decoder.finish()
    if let picture = try decoder.receive() { return picture }
    throw MediaError(
      .badData, "no frame can be decoded", at: request.input, remedy: "the clip is damaged")
  }
}
