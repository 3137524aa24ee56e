/// The samples of a video track in the order in which they are decoded to present what an edit list says: which
/// of them are shown, when and how long. A piece that begins between sync samples is decoded from the one
/// before it, and what is decoded only for that isn't shown.
package struct PresentedSamples: Sendable {
  /// Samples that are decoded one after the other.
  package struct Run: Sendable, Hashable {
    package let samples: Range<Int>
    /// The piece that they are presented in.
    package let piece: PresentationMap.Piece
    /// Whether decoding goes on from the run before it. Otherwise it starts anew.
    package let continues: Bool
  }

  /// When a sample's picture is shown, in ticks of the media.
  package struct Showing: Sendable, Hashable {
    package let start: Int64
    package let duration: Int64
  }

  package let runs: [Run]
  /// The number of samples of all runs that are decoded.
  package let count: Int
  /// Where the first picture begins.
  package let start: Int64
  /// Where the last picture ends.
  package let end: Int64
  package let times: SampleTimes
  private let rules: Rules

  /// - Parameter cutsPictures: Whether what began before a piece is shown from the piece's start on however
  ///   short the rest is: values that apply until the next one, such as those of a metadata track.
  /// - Returns: `nil` if no picture is shown, or if samples would be decoded over and over.
  package init?(_ map: PresentationMap, _ times: SampleTimes, cutsPictures: Bool = false) {
    self.times = times
    rules = Rules(
      times: times, tolerance: map.tolerance,
      shortestRest: cutsPictures ? 0 : times.usualDuration)
    var (runs, count, visited): ([Run], Int, Int) = ([], 0, 0)
    var (first, last): (Int64?, Int64) = (nil, 0)
    for piece in Self.pieces(of: map, times) {
      guard let run = rules.run(of: piece, after: runs.last) else { continue }
      visited += run.samples.count
      guard visited <= 4 * times.count + 100_000 else { return nil }
      for sample in run.samples where rules.isNeeded(sample, in: run) {
        count += 1
        guard let showing = rules.showing(of: sample, in: piece) else { continue }
        first = min(first ?? showing.start, showing.start)
        last = max(last, showing.start + showing.duration)
      }
      runs.append(run)
    }
    guard let first else { return nil }
    // If the only piece begins within a picture, which isn't held, the next one is shown from the start on, as
    // libavformat shows it.
    var shift: Int64 = 0
    if map.pieces.count == 1, let run = runs.first, first > run.piece.start {
      shift = first - run.piece.start
      runs[0] = Run(samples: run.samples, piece: run.piece.moved(by: -shift), continues: false)
    }
    (self.runs, self.count, self.start, end) = (runs, count, first - shift, last - shift)
  }

  /// Returns the pieces of a map. One that is as long as the whole track hides nothing: FFmpeg from 6 on writes a last
  /// picture without a duration if the rate varies, so that the list ends where that picture begins.
  private static func pieces(
    of map: PresentationMap, _ times: SampleTimes
  ) -> [PresentationMap.Piece] {
    guard map.pieces.count == 1, map.hasNormalRate, let piece = map.pieces.first,
      let first = times.decoding.first, piece.mediaStart <= times.start,
      piece.duration + map.tolerance >= times.decodingEnd - first
    else { return map.pieces }
    let last = times.composition[times.latest]
    guard (0...map.tolerance).contains(piece.mediaEnd - last) else { return map.pieces }
    return [piece.ending(at: max(piece.mediaEnd, times.end))]
  }

  /// Returns when a sample's picture is shown in a run; `nil` if it is hidden.
  package func showing(of sample: Int, in run: Run) -> Showing? {
    rules.showing(of: sample, in: run.piece)
  }

  /// Returns whether a sample of a run must be decoded.
  package func isNeeded(_ sample: Int, in run: Run) -> Bool { rules.isNeeded(sample, in: run) }

  /// Whether each sample is shown once, at its composition time and for as long as it is decoded, so that only
  /// a constant separates the two timelines.
  package var isPlain: Bool {
    guard runs.count == 1, let run = runs.first, run.samples == 0..<times.count,
      run.piece.rate == TrackTimes.Edit.normalRate, times.start >= run.piece.mediaStart
    else { return false }
    let last = times.latest
    guard let showing = showing(of: last, in: run) else { return false }
    let next = last + 1 < times.count ? times.decoding[last + 1] : times.decodingEnd
    return run.samples.allSatisfy { self.showing(of: $0, in: run) != nil }
      && abs(showing.duration - (next - times.decoding[last])) <= rules.tolerance
  }
}

/// Which pictures a piece of an edit list shows.
private struct Rules: Sendable {
  let times: SampleTimes
  let tolerance: Int64
  /// How long the rest of a picture that began before the piece must be for it to be shown.
  let shortestRest: Int64

  /// Returns the samples to decode for a piece; `nil` if it shows none.
  ///
  /// - Parameter last: The run before it.
  func run(
    of piece: PresentationMap.Piece, after last: PresentedSamples.Run?
  ) -> PresentedSamples.Run? {
    var shown: Range<Int>?
    var entry = Int.max
    for sample in times.presented(in: piece.media) where showing(of: sample, in: piece) != nil {
      shown = min(shown?.lowerBound ?? sample, sample)..<max(shown?.upperBound ?? 0, sample + 1)
      entry = min(entry, times.entry(for: sample))
    }
    guard let shown else { return nil }
    // What is decoded already isn't decoded again, unless it is shown again.
    let end = last?.samples.upperBound ?? 0
    if let last, entry >= last.samples.lowerBound, entry < end, shown.lowerBound >= end {
      return .init(samples: end..<shown.upperBound, piece: piece, continues: true)
    }
    return .init(samples: entry..<shown.upperBound, piece: piece, continues: false)
  }

  /// The pictures that precede the run's first one, and are hidden, are not referred to (open GOP).
  func isNeeded(_ sample: Int, in run: PresentedSamples.Run) -> Bool {
    run.continues || times.composition[sample] >= times.composition[run.samples.lowerBound]
      || showing(of: sample, in: run.piece) != nil
  }

  func showing(
    of sample: Int, in piece: PresentationMap.Piece
  ) -> PresentedSamples.Showing? {
    let (from, to) = (times.composition[sample], times.ends[sample])
    if piece.isDwell {
      guard from <= piece.mediaStart, piece.mediaStart < to else { return nil }
      return .init(start: piece.start, duration: piece.duration)
    }
    let (start, end) = (max(from, piece.mediaStart), min(to, piece.mediaEnd))
    // Of two pictures at one time the first has no duration.
    guard start < end || start == from && from == to && start < piece.mediaEnd else { return nil }
    let isShortened = from + tolerance < piece.mediaStart && end < piece.mediaEnd
    if isShortened, end - start < shortestRest { return nil }
    // The rounding of an edit's duration shows no further picture.
    if end < to, end - start <= tolerance, (end - start) * 2 < to - from, start > piece.mediaStart {
      return nil
    }
    // A tick of the media is many of the movie where the rate is low, and the end of a piece within one of them.
    let place = min(piece.place(of: start), piece.end)
    return .init(start: place, duration: max(0, min(piece.place(of: end), piece.end) - place))
  }
}
