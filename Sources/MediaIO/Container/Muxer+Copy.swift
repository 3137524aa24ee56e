internal import CUprightFFmpeg
package import UprightOrientation

extension Muxer {
  /// How a container stores the orientation of a track.
  package enum OrientationField: Sendable, Hashable {
    /// The track's display matrix (MP4, MOV).
    case matrix(DisplayMatrix)
    /// Matroska's ProjectionPoseYaw and ProjectionPoseRoll, in degrees. libavformat 5.1 writes them only for
    /// spherical video, so the projection must be changed to rectangular in the finished file.
    case projection(yaw: Int, roll: Int)
  }

  /// Adds a stream whose packets will be copied, with all properties in the source's container, and returns
  /// its index. `parameters` may differ from the source's in what a filter has changed. The source's
  /// orientation isn't copied; `orientation` replaces it.
  package func addCopy(
    of source: StreamInfo, parameters: CodecParameters, timeBase: Rational,
    metadata: [String: String], orientation: OrientationField? = nil
  ) throws(UprightError) -> Int {
    let index = try addStream(
      parameters, timeBase: timeBase,
      frameRate: source.kind == .audio ? nil : source.frameRate, like: source, metadata: metadata)
    guard let stream = context.pointee.streams[index] else { throw outOfMemory("stream") }
    if keepsTag(of: parameters, kind: source.kind) {
      stream.pointee.codecpar.pointee.codec_tag = parameters.raw.pointee.codec_tag
    }
    let ratio = AVRational(source.sampleAspectRatio)
    // A square ratio too, if the bitstream has another one.
    if source.kind == .video, source.sampleAspectRatio != parameters.sampleAspectRatio ?? .one {
      stream.pointee.sample_aspect_ratio = ratio
      stream.pointee.codecpar.pointee.sample_aspect_ratio = ratio
    }
    for side in source.sideData where side.type != AV_PKT_DATA_DISPLAYMATRIX {
      try side.add(to: stream)
    }
    // libavformat writes them to MP4 and Matroska only if this is allowed.
    if !source.descriptions.isEmpty, source.track == nil || isMatroska {
      context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
    }
    switch orientation {
    case nil: break
    case .matrix(let matrix): try add(matrix, to: stream)
    case .projection(let yaw, let roll): try add(yaw: yaw, roll: roll, to: stream)
    }
    return index
  }

  /// Returns whether the source's codec tag can be kept, because it means the same in this container. A tag
  /// gives more detail than the codec (`hvc1` or `hev1`; which kind of data).
  private func keepsTag(of parameters: CodecParameters, kind: StreamKind) -> Bool {
    if kind == .data { return true }
    guard let tags = context.pointee.oformat.pointee.codec_tag else { return false }
    let raw = parameters.raw.pointee
    return av_codec_get_id(tags, raw.codec_tag) == raw.codec_id
  }

  var isMatroska: Bool {
    ["matroska", "webm"].contains(String(cString: context.pointee.oformat.pointee.name))
  }

  private func add(
    _ matrix: DisplayMatrix, to stream: UnsafeMutablePointer<AVStream>
  ) throws(UprightError) {
    let values = matrix.values
    let bytes = values.withUnsafeBytes { Array($0) }
    try StreamSideData(type: AV_PKT_DATA_DISPLAYMATRIX, bytes: bytes).add(to: stream)
  }

  private func add(
    yaw: Int, roll: Int, to stream: UnsafeMutablePointer<AVStream>
  ) throws(UprightError) {
    var size = 0
    guard let mapping = av_spherical_alloc(&size) else { throw outOfMemory("side data") }
    defer { av_free(mapping) }
    mapping.pointee.projection = AV_SPHERICAL_EQUIRECTANGULAR
    mapping.pointee.yaw = Int32(clamping: yaw) << 16
    mapping.pointee.roll = Int32(clamping: roll) << 16
    let bytes = Array(UnsafeRawBufferPointer(start: mapping, count: size))
    try StreamSideData(type: AV_PKT_DATA_SPHERICAL, bytes: bytes).add(to: stream)
  }

  /// Returns whether packets of `stream` can be copied to `format` unchanged, by libavformat's tables.
  package static func canCopy(_ stream: StreamInfo, format: String) -> Bool {
    guard let output = av_guess_format(format, nil, nil) else { return false }
    let raw = stream.parameters.raw.pointee
    if stream.kind == .data {
      // movenc writes only these two kinds of timed data.
      return ["mp4", "mov"].contains(format)
        && ["tmcd", "gpmd"].map(tag).contains(raw.codec_tag)
    }
    return accepts(raw.codec_id, output)
  }
}

extension StreamInfo {
  /// Whether the container declares the video as spherical.
  package var isSpherical: Bool { sideData.contains { $0.type == AV_PKT_DATA_SPHERICAL } }
}
