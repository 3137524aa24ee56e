package import UprightOrientation
package import UprightMediaIO

/// A track of the output other than the video track.
package struct SideTrack: Sendable {
  package var parameters: CodecParameters
  let timeBase: Rational
  let source: StreamInfo
  package let metadata: [String: String]

  package init(
    parameters: CodecParameters, timeBase: Rational, source: StreamInfo, metadata: [String: String]
  ) {
    self.parameters = parameters
    self.timeBase = timeBase
    self.source = source
    self.metadata = metadata
  }
}

/// The properties that every output is opened with.
package struct OutputDescription: Sendable {
  /// The first video format. Later formats come with their first packets.
  package var format: EncodedFormat
  package let videoTimeBase: Rational
  /// The video's frame rate, in frames per second. `nil` if it varies.
  package var frameRate: Rational?
  package var videoMetadata: [String: String] = [:]
  /// The duration of each frame in seconds, for a container whose header has a frame rate and whose frames
  /// have no timestamps (YUV4MPEG2); `nil` for all others.
  var frameTick: Rational? {
    guard format.parameters.isUncompressed else { return nil }
    let rate = frameRate.map { $0.numerator > 0 ? $0 : Rational(25, 1) } ?? Rational(25, 1)
    return Rational(rate.denominator, rate.numerator)
  }
  /// The side tracks, in the order of tracks 1, 2, ...; track 0 is the video.
  package var sideTracks: [SideTrack]
  package var metadata: [String: String] = [:]
  /// Whether tags are written as QuickTime's list of arbitrary names.
  package var listsTags = false
  package var chapters: [Demuxer.Chapter] = []
  /// The lowest decoding time of the first packets. It is usually negative.
  let earliestTime: MediaTime
  /// That of the video; `nil` for live playlists, whose segments have the same dates with and without audio.
  package var earliestFrame: MediaTime?
  /// Returns the offset that is added to every timestamp of a track in segments so that none is negative, since `tfdt` is
  /// unsigned: audio priming and frame reordering begin before zero.
  ///
  /// hls.js takes the earliest decoding time of the first segment that it loads for the segment's start in the playlist, and a
  /// browser drops a GOP that begins a tick before zero. So the first frame of each segment is decoded at its start exactly:
  /// the video is moved by its own earliest time.
  ///
  /// - Parameter timeBase: The track's: the offset is a whole number of its ticks.
  func segmentOffset(ofVideo isVideo: Bool, in timeBase: Rational) -> MediaTime {
    Self.segmentOffset((isVideo ? earliestFrame : nil) ?? earliestTime, timeBase)
  }

  /// Returns the offset of a track of a stream with a lowest decoding time.
  package static func segmentOffset(_ earliest: MediaTime, _ timeBase: Rational) -> MediaTime {
    max(.zero, -earliest).roundedUp(to: timeBase)
  }
  /// The stream that the video is copied from; `nil` if it is encoded.
  package var copiedVideo: StreamInfo?
  /// How the output signals the orientation of copied frames.
  package var mark: OrientationMetadata?
  /// Boxes that are added to the tracks' sample entries, by the index of the track.
  package var entryBoxes: [Int: [[UInt8]]] = [:]
  /// Boxes of user data of the input that are added to the output's.
  package var userData = UserDataBoxes()
  /// The number of samples at the start of the audio that aren't played, in segments that say so.
  package var priming = 0
  /// Whether there is a video track. Without one, its packets still decide where segments end.
  package var hasVideo = true

  package init(
    format: EncodedFormat, videoTimeBase: Rational, sideTracks: [SideTrack] = [],
    earliestTime: MediaTime = .zero
  ) {
    self.format = format
    self.videoTimeBase = videoTimeBase
    self.sideTracks = sideTracks
    self.earliestTime = earliestTime
  }
}

/// Writes packets, which come in order, to a file or a stream.
package protocol PacketSink: AnyObject {
  /// Opens the output. Must be called before the first packet.
  func begin(_ description: OutputDescription) throws(UprightError)
  /// Writes the next packet. `format` is passed with the first packet of each format except the first.
  func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(UprightError)
  /// Finishes the output so that it is playable.
  ///
  /// - Parameter isPartial: Whether a file gets the name of a partial output (`OutputName.partial`).
  func finish(isPartial: Bool) throws(UprightError)
  /// Completes the output under its temporary name. `finish` does it too; with several outputs, all are
  /// complete before the first one gets its name.
  func complete() throws(UprightError)
  /// Removes unfinished output.
  func abandon()
  /// The files that were written, if they differ from the named output.
  var files: [String] { get }
}

extension PacketSink {
  package func complete() {}

  package var files: [String] { [] }
}
