internal import UprightOrientation
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// The segments of an input: each is a part of it, or some frames of an encoded part. Those that have other sizes are
/// apart, and a long part is divided, since a player waits until all of a segment is encoded.
struct SegmentList {
  struct Piece {
    /// The index of the part that makes it.
    let part: Int
    /// The indexes of its frames.
    let frames: Range<Int>
    let format: Int
    let size: PixelSize
    /// Why the frames are encoded; `nil` if they are copied.
    let reason: String?
  }

  let parts: InputParts
  let pieces: [Piece]
  /// Where a decoder can start.
  let starts: [PacketSurvey.Start]
  /// The end of the last frame.
  let end: MediaTime
  private let turns: TurnLog
  /// The time of the first frame in the input.
  let zero: MediaTime
  /// How much earlier the audio begins. The first frame is shown from there on: browsers wait for a picture, and don't go on.
  var lead = MediaTime.zero
  /// The time in the input at which the playlist begins.
  var origin: MediaTime { zero - lead }

  /// - Parameters:
  ///   - size: The size of copied frames.
  ///   - depth: How far the frames are reordered at most.
  init(_ plan: SessionPlan, _ parts: InputParts, copied size: PixelSize, depth: Int) {
    let survey = parts.inputSurvey
    let starts = survey.survey.starts()
    var pieces: [Piece] = []
    for (index, part) in parts.parts.enumerated() {
      var rest = part.frames
      let stretches = part.isCopied ? [] : survey.stretches(in: part.frames)
      var canvas = stretches.first?.direction.canvas ?? size
      func append(_ frames: Range<Int>) {
        for piece in part.isCopied ? [frames] : Self.divided(frames, survey, starts) {
          Self.append(index, piece, canvas, part.reason, to: &pieces)
        }
      }
      for stretch in stretches.dropFirst() where stretch.direction.canvas != canvas {
        append(rest.lowerBound..<stretch.firstFrame)
        rest = stretch.firstFrame..<rest.upperBound
        canvas = stretch.direction.canvas
      }
      append(rest)
    }
    (self.pieces, self.starts) = (pieces, starts)
    var parts = parts
    parts.decodingTimes = survey.survey.decodingTimes(of: pieces.map(\.frames), depth: depth)
    self.parts = parts
    let shown = survey.survey.shown
    let step = shown.count > 1 ? shown[shown.count - 1] - shown[shown.count - 2] : 1
    let last = survey.survey.lastDuration
    end =
      survey.time(of: shown.count - 1) + MediaTime(last > 0 ? last : step, plan.video.timeBase)
    turns = TurnLog(date: plan.date)
    zero = MediaTime(shown[0], plan.video.timeBase)
    survey.logTurns(in: turns)
  }

  /// Divides frames of an encoded part. All frames from a decoder's start on are decoded for a piece, so one that begins
  /// later is longer, up to the next start: in sequence, each frame is decoded about three times. The first one of a file is
  /// short: the first picture comes sooner.
  private static func divided(
    _ frames: Range<Int>, _ survey: InputSurvey, _ starts: [PacketSurvey.Start]
  ) -> [Range<Int>] {
    let end = survey.time(of: min(frames.upperBound, survey.survey.shown.count - 1))
    var (pieces, start) = ([frames], survey.time(of: frames.lowerBound))
    var latest = survey.time(of: Self.start(of: frames.lowerBound, starts).frame)
    var begin = latest
    var upcoming = starts.drop { $0.frame <= frames.lowerBound }
    for frame in frames.dropFirst() {
      let time = survey.time(of: frame)
      let isStart = upcoming.first?.frame == frame
      if isStart {
        upcoming.removeFirst()
        latest = time
      }
      let least = start == .zero ? SegmentSource.encoded / 2 : SegmentSource.encoded
      let length = isStart ? least : max(least, (start - begin) / 2)
      // A piece that began just before the next start would be decoded from far before.
      let isNear =
        length > least
        && upcoming.first.map { survey.time(of: $0.frame) - time < SegmentSource.encoded } ?? false
      guard time - start >= length - .millisecond, !isNear,
        end - time >= SegmentSource.encoded / 2,
        !survey.stretch(of: frame).direction.showsEarlierFrame
      else { continue }
      pieces[pieces.count - 1] = pieces[pieces.count - 1].lowerBound..<frame
      pieces.append(frame..<frames.upperBound)
      start = time
      begin = latest
    }
    return pieces
  }

  /// Returns where a decoder starts for a frame: the last place before it.
  func start(of frame: Int) -> PacketSurvey.Start { Self.start(of: frame, starts) }

  private static func start(of frame: Int, _ starts: [PacketSurvey.Start]) -> PacketSurvey.Start {
    let place = starts.place { $0.frame <= frame }
    return place > 0 ? starts[place - 1] : .init(packet: 0, frame: 0)
  }

  private static func append(
    _ part: Int, _ frames: Range<Int>, _ size: PixelSize, _ reason: String?,
    to pieces: inout [Piece]
  ) {
    let format = pieces.last.map { $0.size == size ? $0.format : $0.format + 1 } ?? 0
    pieces.append(Piece(part: part, frames: frames, format: format, size: size, reason: reason))
  }

  /// Returns the playlist of a track of captions, which has a file for each format: its discontinuities are those of the
  /// video (RFC 8216, 4.3.4.1).
  func captionsPlaylist(_ track: Int) -> String {
    let listed = (0..<formats).map { format in
      let (start, end) = times(ofFormat: format)
      return ListedSegment(
        SegmentFile.captions(track, format: format).name, start: start, duration: end - start,
        beginsFormat: true, map: nil, size: pieces[0].size)
    }
    return ListedSegment.playlist(of: listed, turns: TurnLog(), from: zero)
  }

  /// The number of formats.
  var formats: Int { (pieces.last?.format ?? -1) + 1 }

  /// Returns when a format begins and ends in the playlist.
  func times(ofFormat format: Int) -> (start: MediaTime, end: MediaTime) {
    let end = end + lead
    guard let first = pieces.first(where: { $0.format == format }) else { return (end, end) }
    let next = pieces.first { $0.format > format }
    return (begin(of: first), next.map(begin(of:)) ?? end)
  }

  /// The time of its first frame, from the first frame of the input.
  func start(of piece: Piece) -> MediaTime {
    parts.inputSurvey.time(of: piece.frames.lowerBound)
  }

  /// When it begins in the playlist.
  func begin(of piece: Piece) -> MediaTime { begin(of: piece.frames.lowerBound) }

  /// When a frame is shown.
  func begin(of frame: Int) -> MediaTime {
    frame == 0 ? .zero : parts.inputSurvey.time(of: frame) + lead
  }

  func duration(of piece: Piece) -> MediaTime {
    let next = piece.frames.upperBound
    let isLast = next >= parts.inputSurvey.survey.shown.count
    return (isLast ? end : parts.inputSurvey.time(of: next)) + lead - begin(of: piece)
  }

  /// Whether a segment is the first one of a format that isn't the first.
  func beginsFormat(_ index: Int) -> Bool {
    index > 0 && pieces[index].format != pieces[index - 1].format
  }

  /// - Parameters:
  ///   - count: How many segments are listed.
  ///   - folder: The folder of the files, with a slash behind; empty for that of the playlist.
  func playlist(of content: SegmentContent, count: Int, in folder: String) -> String {
    let listed = pieces.prefix(count).enumerated().map { index, piece in
      ListedSegment(
        folder + SegmentFile.segment(index, content).name, start: begin(of: piece),
        duration: duration(of: piece), beginsFormat: index == 0 || beginsFormat(index),
        map: folder + SegmentFile.initial(piece.format, content).name, size: piece.size)
    }
    return ListedSegment.playlist(
      of: listed, turns: turns, from: origin, isKeyframes: content == .keyframes)
  }
}
