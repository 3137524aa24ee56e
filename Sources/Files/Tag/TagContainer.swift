internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// The container that `upright tag` writes packets to, and what it can carry.
struct TagContainer {
  /// libavformat's name.
  let muxer: String
  /// The output, for errors.
  let output: String

  /// Whether the output is an H.264 or HEVC stream without a container.
  var writesElementaryStream: Bool { ["h264", "hevc"].contains(muxer) }

  /// Whether the output can store edit lists.
  var keepsEdits: Bool { ["mp4", "mov"].contains(muxer) }

  /// Returns whether a stream is an attachment of the output.
  func attaches(_ stream: StreamInfo) -> Bool {
    muxer == OutputContainer.matroska.muxer && OutputContainer.matroska.isAttachment(stream)
  }

  /// Returns why a stream is left out; `nil` if it is copied.
  ///
  /// - Throws: `usage` for video or audio that the container can't carry.
  func reasonToDrop(
    _ stream: StreamInfo, video: StreamInfo
  ) throws(UprightError) -> String? {
    if writesElementaryStream && stream.index != video.index {
      return "an elementary stream has video only"
    }
    if stream.isDamagedCover { return "a cover that cannot be read" }
    if attaches(stream) { return nil }
    if stream.kind == .video && stream.isAttachedPicture && !keepsEdits {
      return "cover picture"
    }
    let isTaken: Bool
    switch (muxer, stream.kind) {
    case ("h264", _), ("hevc", _): isTaken = stream.codecName == muxer
    // These muxers have no codec table, or accept codecs that players don't expect.
    case ("mpegts", .video):
      isTaken = ["h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4"].contains(stream.codecName)
    case ("mpegts", .audio):
      isTaken = OutputContainer.mpegts.copiesAudio(stream.codecName)
    case ("mpegts", .subtitle): isTaken = stream.codecName == "dvb_subtitle"
    case ("webm", .video): isTaken = ["vp8", "vp9", "av1"].contains(stream.codecName)
    case ("webm", .audio): isTaken = OutputContainer.webm.copiesAudio(stream.codecName)
    case ("webm", .subtitle): isTaken = stream.codecName == "webvtt"
    default: isTaken = Muxer.canCopy(stream, format: muxer)
    }
    if isTaken { return nil }
    guard stream.kind == .video || stream.kind == .audio, !stream.isAttachedPicture else {
      return "\(muxer) cannot carry it"
    }
    if stream.kind == .audio && stream.parameters.sampleRate <= 0 {
      return "the input has no data for it"
    }
    // FFmpeg has no name for it, and so no container that it writes has one.
    if stream.kind == .audio && stream.codecName == "none" { return "\(muxer) cannot carry it" }
    throw UprightError(
      .usage, "\(muxer) cannot carry \(stream.codecLabel), and tag does not encode",
      at: output, remedy: "write the input's container, or .mkv")
  }
}
