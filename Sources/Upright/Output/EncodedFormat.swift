internal import MediaIO
internal import Orientation

/// What a container must know of the pictures from one point of the stream on.
final class EncodedFormat: Sendable {
  /// Counts the formats of one output, from 0.
  let index: Int
  let size: PixelSize
  let parameters: CodecParameters

  init(index: Int, size: PixelSize, parameters: CodecParameters) {
    self.index = index
    self.size = size
    self.parameters = parameters
  }
}

/// A track that stands beside the pictures in the output.
struct SideTrack: Sendable {
  var parameters: CodecParameters
  let timeBase: Rational
  let source: StreamInfo
  let metadata: [String: String]
}

/// What every output is begun with.
struct OutputDescription: Sendable {
  /// The first format of the pictures; later ones come with their first packets.
  var format: EncodedFormat
  let videoTimeBase: Rational
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
  let metadata: [String: String]
  /// Whether tags are written as QuickTime's list of any names.
  let listsTags: Bool
  var chapters: [Demuxer.Chapter]
  /// The lowest decoding time among the first packets, in seconds; below zero more often than not.
  let earliestTime: Double
  /// The stream that the pictures are copied from; nil where they are encoded.
  var copiedVideo: StreamInfo?
  /// How the output says which way up copied pictures are.
  var mark: OrientationMark?
}

/// Takes packets in order and makes a file or a stream of them.
protocol PacketSink: AnyObject {
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
