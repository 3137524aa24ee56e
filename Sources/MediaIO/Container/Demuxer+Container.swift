internal import CUprightFFmpeg
package import UprightOrientation
package import UprightSignals

extension Demuxer {
  /// The container's properties, fixed once it is open.
  package struct Container: Sendable {
    /// libavformat's name of the format, such as `mov,mp4,m4a,3gp,3g2,mj2`.
    package let format: String
    package internal(set) var streams: [StreamInfo]
    /// The duration. `nil` if unknown.
    package let duration: MediaTime?
    package let metadata: [String: String]
    package internal(set) var chapters: [Chapter] = []
    /// The number of chapters that are left out because their start time is implausible.
    package internal(set) var implausibleChapters = 0
    /// The renditions of a playlist that aren't read, as texts for the user.
    package internal(set) var unreadRenditions: [String] = []
    /// The boxes of an MP4 or MOV file's index. `nil` for other containers, or if it can't be read.
    package internal(set) var outline: MovieOutline?
    /// The types of the boxes at the top level of such a file, each once.
    package internal(set) var topBoxes: [MP4BoxType] = []
    /// Whether reading can start again at an earlier position.
    package let isSeekable: Bool
    /// Whether the input has its whole length already, and doesn't grow like a live playlist.
    package internal(set) var isComplete = false

    package init(
      format: String, streams: [StreamInfo], duration: MediaTime? = nil,
      metadata: [String: String] = [:], isSeekable: Bool
    ) {
      self.format = format
      self.streams = streams
      self.duration = duration
      self.metadata = metadata
      self.isSeekable = isSeekable
    }
  }

  /// A named section of the timeline.
  package struct Chapter: Sendable {
    package let start: MediaTime
    package let end: MediaTime
    package let metadata: [String: String]

    package init(start: MediaTime, end: MediaTime, metadata: [String: String]) {
      (self.start, self.end, self.metadata) = (start, end, metadata)
    }
  }

  static func isFLV(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
    ["flv", "live_flv"].contains(String(cString: context.pointee.iformat.pointee.name))
  }

  /// Returns where the input begins if its video begins before the time 0, in microseconds; else 0. Only MP4 and
  /// MOV can say by that that it is hidden; of other containers everything is shown.
  static func earlyStart(_ context: UnsafeMutablePointer<AVFormatContext>) -> Int64 {
    guard !String(cString: context.pointee.iformat.pointee.name).hasPrefix("mov,") else { return 0 }
    let tick = AVRational(num: 1, den: 1_000_000)
    func start(_ kind: AVMediaType) -> Int64 {
      let index = av_find_best_stream(context, kind, -1, -1, nil, 0)
      guard index >= 0, let stream = context.pointee.streams[Int(index)]?.pointee,
        Rational(stream.time_base).isPlausible(stream.start_time)
      else { return 0 }
      return rescale(stream.start_time, from: stream.time_base, to: tick)
    }
    let video = start(AVMEDIA_TYPE_VIDEO)
    return video < 0 ? min(video, start(AVMEDIA_TYPE_AUDIO)) : 0
  }

  /// Returns whether a stream carries FLV script tags. libavformat reports them as a text stream.
  static func isScript(
    _ stream: UnsafeMutablePointer<AVStream>, in context: UnsafeMutablePointer<AVFormatContext>
  ) -> Bool {
    stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_TEXT && isFLV(context)
  }
}
