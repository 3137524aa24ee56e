internal import UprightOrientation

/// What a track presents and when, as its edit list says (ISO/IEC 14496-12, 8.6.5 and 8.6.6). Times are in ticks
/// of the media, on both sides of the map.
package struct PresentationMap: Sendable, Hashable {
  /// A piece of the media on the movie's timeline. Between pieces nothing is presented.
  package struct Piece: Sendable, Hashable {
    /// Where it begins on the movie's timeline.
    package let start: Int64
    /// How long it is presented.
    package let duration: Int64
    /// Where it begins in the media.
    package let mediaStart: Int64
    /// The rate in units of 2^-16; 0 for a dwell.
    package let rate: Int

    package var end: Int64 { start + duration }

    package var isDwell: Bool { rate == 0 }

    /// Where it ends in the media.
    package var mediaEnd: Int64 {
      isDwell
        ? mediaStart + 1
        : mediaStart + PresentationMap.scaled(duration, rate, TrackTimes.Edit.normalRate)
    }

    /// The part of the media that is presented.
    package var media: Range<Int64> { mediaStart..<max(mediaStart, mediaEnd) }

    /// Returns which time of the media is presented at a time of the movie's timeline.
    package func media(at time: Int64) -> Int64 {
      isDwell
        ? mediaStart
        : mediaStart + PresentationMap.scaled(time - start, rate, TrackTimes.Edit.normalRate)
    }

    /// Returns the piece at another time of the movie.
    func moved(by time: Int64) -> Piece {
      Piece(start: start + time, duration: duration, mediaStart: mediaStart, rate: rate)
    }

    /// Returns the piece, played at the normal rate, with another end in the media.
    func ending(at end: Int64) -> Piece {
      Piece(start: start, duration: end - mediaStart, mediaStart: mediaStart, rate: rate)
    }

    /// Returns where a time of the media is on the movie's timeline.
    package func place(of media: Int64) -> Int64 {
      isDwell
        ? start
        : start + PresentationMap.scaled(media - mediaStart, TrackTimes.Edit.normalRate, rate)
    }
  }

  /// The pieces in order.
  package let pieces: [Piece]
  /// How far an edit's end may be off, since its duration is rounded to ticks of the movie.
  package let tolerance: Int64

  /// The highest time that is accepted.
  private static let limit = Int64(1) << 55

  /// - Parameter mediaEnd: Where the media ends.
  /// - Returns: `nil` if the list is empty, plays backwards or has times that no file has.
  package init?(_ track: TrackTimes, mediaEnd: Int64) {
    guard !track.edits.isEmpty, (0...Self.limit).contains(mediaEnd) else { return nil }
    let (movie, media) = (Rational(1, track.movieTimescale), Rational(1, track.timescale))
    let isExact = track.movieTimescale.isMultiple(of: track.timescale)
    tolerance = isExact ? 0 : MediaTime(1, movie).roundedUp(to: media).ticks
    var pieces: [Piece] = []
    var time: Int64 = 0
    for (index, edit) in track.edits.enumerated() {
      guard edit.rate >= 0, edit.duration <= Self.limit, edit.mediaTime ?? 0 <= Self.limit else {
        return nil
      }
      let start = MediaTime(time, movie).rescaled(to: media).ticks
      time += edit.duration
      guard time <= Self.limit else { return nil }
      var end = MediaTime(time, movie).rescaled(to: media).ticks
      guard let mediaTime = edit.mediaTime else { continue }
      if edit.duration == 0, index == track.edits.count - 1, edit.rate > 0 {
        end = start + Self.scaled(max(0, mediaEnd - mediaTime), Edit.normalRate, edit.rate)
      }
      guard end > start, end <= Self.limit else { continue }
      let piece = Piece(
        start: start, duration: end - start, mediaStart: mediaTime, rate: edit.rate)
      if let last = pieces.last, last.end == start, last.rate == edit.rate, !last.isDwell,
        abs(last.mediaEnd - mediaTime) <= 1
      {
        // Pieces that continue one another are one.
        pieces[pieces.count - 1] = Piece(
          start: last.start, duration: end - last.start, mediaStart: last.mediaStart,
          rate: last.rate)
      } else {
        pieces.append(piece)
      }
    }
    self.pieces = pieces
  }

  private typealias Edit = TrackTimes.Edit

  /// The map of a track without an edit list.
  package init(whole end: Int64) {
    tolerance = 0
    pieces = [Piece(start: 0, duration: max(0, end), mediaStart: 0, rate: Edit.normalRate)]
  }

  /// Whether media is played at its own speed throughout.
  package var hasNormalRate: Bool { pieces.allSatisfy { $0.rate == TrackTimes.Edit.normalRate } }

  /// Whether each piece begins where the one before it ends.
  package var isGapless: Bool { zip(pieces, pieces.dropFirst()).allSatisfy { $0.end == $1.start } }

  /// Returns `value * numerator / denominator`, rounded to the nearest integer and clamped to 2^56. Values are
  /// below 2^57 and numerators below 2^32.
  static func scaled(_ value: Int64, _ numerator: Int, _ denominator: Int) -> Int64 {
    if numerator == denominator { return value }
    let product = Int128(value) * Int128(numerator)
    let half = Int128(denominator) / 2
    let quotient = (product + (product < 0 ? -half : half)) / Int128(max(1, denominator))
    let most = Int128(1) << 56
    return Int64(min(max(quotient, -most), most))
  }
}
