internal import Upright
internal import UprightOrientation

/// What a process of the library is told. The first is `divide` or `describe`.
enum LibraryOrder: Codable, Sendable {
  /// Divide the file that comes along. The answer has the number 0. The version is the folder of the segments in the playlist.
  case divide(version: String)
  /// Describe the files that come along later, all of them below a folder.
  case describe(folder: String)
  case call(Int, LibraryCall)
  /// Nobody waits for the answer any more.
  case cancel(Int)
  case end
}

enum LibraryCall: Codable, Sendable {
  /// A segment, which is written into the file that comes along.
  case segment(Int, SegmentContent)
  /// Another file.
  case file(SegmentFile)
  /// The list of small pictures, whose sheets are in a folder.
  case sprites(folder: String)
  /// What a multivariant playlist says of the file.
  case variant
  /// The frame that is shown at a time, in seconds.
  case poster(at: Double)
  /// What is in the file that comes along.
  case description
}

enum LibraryAnswer: Codable, Sendable {
  case divided(DividedFile)
  /// The init segment of its format comes along, of this length, and then the segment if it couldn't be written.
  case segment(initial: Int, isWritten: Bool)
  /// A file comes along.
  case file
  case variant(SegmentVariant)
  case description(LibraryDescription)
  case failed(UprightError)
}

/// The answer to the call with a number.
struct LibraryReport: Codable, Sendable {
  var call: Int
  var answer: LibraryAnswer
}

/// A file that is divided into segments.
struct DividedFile: Codable, Sendable {
  var playlist: String
  /// The number of segments.
  var count: Int
  /// The first segment of each format.
  var formats: [Int]
}

/// What a list says of a file.
struct LibraryDescription: Codable, Sendable, Hashable {
  /// The size in which its video is shown, upright.
  var width: Int
  var height: Int
  /// In seconds; `nil` if it is unknown.
  var duration: Double?
  /// The orientation that makes the first frame upright.
  var orientation: String
  /// How often that changes later.
  var turns: Int
  /// `HLG` or `PQ`; `nil` for a standard dynamic range.
  var dynamicRange: String?
  /// FFmpeg's name of the video's codec.
  var codec: String

  /// - Throws: `badData` if there is no video.
  init(_ probe: Probe) throws(UprightError) {
    guard let video = probe.streams.first(where: { $0.index == probe.videoStream }),
      let shown = video.video?.shownSize
    else { throw UprightError(.badData, "the file has no video", remedy: "check the file") }
    let applied = probe.signals.filter(\.isApplied).compactMap(\.signal)
    let first = applied.first.map(\.orientation) ?? .up
    let upright = first.applied(to: shown)
    (width, height) = (upright.width, upright.height)
    duration = video.duration ?? probe.duration
    dynamicRange = video.video?.dynamicRange
    codec = video.codec
    orientation = first.name
    turns = zip(applied, applied.dropFirst()).filter { $0.orientation != $1.orientation }.count
  }
}
