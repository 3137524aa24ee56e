package import Orientation
package import UprightMediaIO
package import UprightPipeline

/// A track that stands beside the pictures in the output.
package struct SideTrack: Sendable {
  var parameters: CodecParameters
  let timeBase: Rational
  let source: StreamInfo
  let metadata: [String: String]

  package init(
    parameters: CodecParameters, timeBase: Rational, source: StreamInfo, metadata: [String: String]
  ) {
    self.parameters = parameters
    self.timeBase = timeBase
    self.source = source
    self.metadata = metadata
  }
}

/// What every output is begun with.
package struct OutputDescription: Sendable {
  /// The first format of the pictures; later ones come with their first packets.
  var format: EncodedFormat
  package let videoTimeBase: Rational
  let frameRate: Rational?
  let videoMetadata: [String: String]
  /// Seconds that each frame lasts, for a container whose header has a frame rate and whose frames have no
  /// times (YUV4MPEG2); `nil` for all others.
  var frameTick: Rational? {
    guard format.parameters.isUncompressed else { return nil }
    let rate = frameRate.map { $0.numerator > 0 ? $0 : Rational(25, 1) } ?? Rational(25, 1)
    return Rational(rate.denominator, rate.numerator)
  }
  /// In the order of tracks 1, 2, ...; track 0 is the pictures.
  var sideTracks: [SideTrack]
  package let metadata: [String: String]
  /// Whether tags are written as QuickTime's list of any names.
  package let listsTags: Bool
  package var chapters: [Demuxer.Chapter]
  /// The lowest decoding time among the first packets, in seconds; below zero more often than not.
  let earliestTime: Double
  /// The stream that the pictures are copied from; nil where they are encoded.
  var copiedVideo: StreamInfo?
  /// How the output says which way up copied pictures are.
  package var mark: OrientationMark?

  package init(
    format: EncodedFormat, videoTimeBase: Rational, frameRate: Rational?,
    videoMetadata: [String: String], sideTracks: [SideTrack], metadata: [String: String],
    listsTags: Bool, chapters: [Demuxer.Chapter], earliestTime: Double,
    copiedVideo: StreamInfo? = nil, mark: OrientationMark? = nil
  ) {
    self.format = format
    self.videoTimeBase = videoTimeBase
    self.frameRate = frameRate
    self.videoMetadata = videoMetadata
    self.sideTracks = sideTracks
    self.metadata = metadata
    self.listsTags = listsTags
    self.chapters = chapters
    self.earliestTime = earliestTime
    self.copiedVideo = copiedVideo
    self.mark = mark
  }
}

/// Takes packets in order and makes a file or a stream of them.
package protocol PacketSink: AnyObject {
  /// Opens the output; the first packet follows.
  func begin(_ description: OutputDescription) throws(MediaError)
  /// Takes the next packet; `format` is given with the first packet of each format but the first.
  func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(MediaError)
  /// Closes the output so that it plays.
  ///
  /// - Parameter isPartial: whether a file gets the name of a partial output (`OutputName.partial`).
  func finish(isPartial: Bool) throws(MediaError)
  /// Removes what is not finished.
  func abandon()
  /// The files that were made, if they are others than the one that was named.
  var files: [String] { get }
}

extension PacketSink {
  var files: [String] { [] }
}
