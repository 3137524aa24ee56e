internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// The format of the track at each part: one that copied frames share with encoded frames of the same size,
/// and others if the canvas differs.
struct PartFormats {
  /// The alignment of frames on the canvas, in samples.
  let alignment: PixelSize
  /// The parameters shared by copied frames and encoded frames of the same size.
  let shared: CodecParameters
  private let size: PixelSize
  private let join: StreamMerger?
  private var present: CodecParameters?
  private var count = 0

  /// Decodes the first frame to get the encoder's parameter sets: they are in the header, which may be
  /// written long before the first encoded frame.
  init(_ plan: SessionPlan, _ input: InputParts) throws(UprightError) {
    size = plan.video.parameters.size
    join = input.join
    let first = try plan.decodeFirstFrame()
    var settings = plan.encoderSettings(first: first, codec: input.codec)
    settings.colour = first.colour
    settings.fields = first.fields
    if let join {
      settings = join.settings(settings)
      // The other codecs have no parameter sets, and SVT-AV1 hangs if it is closed before its first frame.
      let hasSets = settings.codec == .h264 || settings.codec == .hevc
      let encoded =
        hasSets ? try VideoEncoder(settings).parameters() : plan.video.parameters
      shared = try join.parameters(encoded: encoded)
    } else {
      shared = plan.video.parameters
    }
    alignment = settings.format.alignment
  }

  /// The formats of parts that other processes have encoded.
  ///
  /// - Parameters:
  ///   - shared: The parameters that were found for the same input and options.
  ///   - alignment: The alignment that was found with them.
  init(_ plan: SessionPlan, _ input: InputParts, shared: CodecParameters, alignment: PixelSize) {
    size = plan.video.parameters.size
    join = input.join
    self.shared = shared
    self.alignment = alignment
  }

  /// Returns the format that begins with a copied packet; `nil` if the format doesn't change.
  mutating func ofCopied() -> EncodedFormat? { begin(size, shared) }

  /// Returns the format that begins with an encoded packet; `nil` if the format doesn't change.
  ///
  /// - Parameter own: The format that the encoder announces with the packet.
  mutating func ofEncoded(_ own: EncodedFormat?) throws(UprightError) -> EncodedFormat? {
    guard let own else { return nil }
    guard let join else { return begin(own.size, own.parameters) }
    let joined = try join.parameters(encoded: own.parameters)
    if own.size == size { return begin(size, joined) }
    // The size is the encoder's; the extradata is that of the joined stream.
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
  /// Decodes the first frame of the input with a second demuxer, but for its pixels.
  func decodeFirstFrame() throws(UprightError) -> VideoFrame {
    // A keyframe needs none of the frames after it, for which a decoder waits.
    if let frame = try? firstFrame(packets: 1) { return frame }
    guard let frame = try firstFrame(packets: .max) else { throw undecodable }
    return frame
  }

  /// Returns the first frame of the first packets; `nil` if they have none.
  private func firstFrame(packets: Int) throws(UprightError) -> VideoFrame? {
    let demuxer = try demuxer.reopened(format: request.inputFormat)
    demuxer.select([video.index])
    let decoder = try VideoDecoder(stream: video, threads: 1, isForPixels: false)
    var left = packets
    while left > 0, let packet = try demuxer.read() {
      guard packet.streamIndex == video.index else { continue }
      left -= 1
      _ = decoder.send(packet)
      if let frame = try decoder.receive() { return frame }
    }
    decoder.finish()
    return try decoder.receive()
  }
}
