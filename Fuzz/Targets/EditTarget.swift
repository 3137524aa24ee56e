#if DEBUG
import UprightOrientation

@testable import UprightSignals

extension FuzzTarget {
  /// A track's edit list and sample tables, whose fields are read from the input, so that each of them has a
  /// meaning: a fuzzer of the boxes' bytes seldom finds one.
  static let edits = FuzzTarget("edits") { bytes in
    var input = FuzzInput(bytes)
    let movie = index(&input)
    for track in TrackTimes.tracks(inMovie: movie) {
      guard let times = track.samples() else { continue }
      try expect(times.count == track.sampleCount, "\(times.count) samples")
      guard let map = PresentationMap(track, mediaEnd: times.end) else { continue }
      try check(map)
      for cuts in [false, true] {
        guard let samples = PresentedSamples(map, times, cutsPictures: cuts) else { continue }
        try check(samples)
      }
    }
  }

  private static func check(_ map: PresentationMap) throws {
    var end: Int64 = 0
    for piece in map.pieces {
      try expect(piece.start >= end, "a piece at \(piece.start) before \(end)")
      try expect(piece.duration > 0, "a piece of \(piece.duration)")
      try expect(piece.media.lowerBound >= 0, "a piece of the media from \(piece.media.lowerBound)")
      end = piece.end
    }
  }

  private static func check(_ samples: PresentedSamples) throws {
    var shown = 0
    for run in samples.runs {
      try expect(
        run.samples.lowerBound >= 0 && run.samples.upperBound <= samples.times.count,
        "a run of the samples \(run.samples)")
      for sample in run.samples {
        guard let showing = samples.showing(of: sample, in: run) else { continue }
        shown += 1
        try expect(samples.isNeeded(sample, in: run), "\(sample) is shown and isn't decoded")
        try expect(showing.duration >= 0, "shown for \(showing.duration)")
        // Times of the media are rounded where a rate isn't normal.
        let end = showing.start + showing.duration
        try expect(
          showing.start >= run.piece.start - 1 && end <= run.piece.end + 1,
          "shown from \(showing.start) to \(end) in a piece to \(run.piece.end)")
      }
    }
    try expect(shown > 0 && samples.count >= shown, "\(samples.count) decoded, \(shown) shown")
    try expect(samples.start <= samples.end, "from \(samples.start) to \(samples.end)")
    _ = samples.isPlain
  }

  // MARK: - Boxes

  /// Returns the content of an index with one track. A table has at most 16 runs, and a run at most 255 samples.
  private static func index(_ input: inout FuzzInput) -> [UInt8] {
    let zeros = [UInt8](repeating: 0, count: 12)
    let (movie, media) = (scale(&input), scale(&input))
    let isWide = input.flag()
    let edits = list(&input) { input in
      let (duration, time) = (input.ticks(), input.ticks())
      let rate = input.flag() ? 1 << 16 : Int64(input.integer(Int32.self))
      return isWide
        ? be(duration, 8) + be(time, 8) + be(rate, 4) : be(duration, 4) + be(time, 4) + be(rate, 4)
    }
    let handler = input.choice(["vide", "meta"])
    let count = Int64(input.integer(UInt16.self) & 0x3FF)
    let steps = list(&input) { be(Int64($0.byte()), 4) + be($0.ticks(), 4) }
    let offsets = list(&input) { be(Int64($0.byte()), 4) + be($0.ticks(), 4) }
    let keys = list(&input) { be(Int64($0.integer(UInt16.self) & 0x3FF), 4) }
    let tables =
      box("stts", be(0, 4) + steps) + (input.flag() ? box("ctts", be(0, 4) + offsets) : [])
      + (input.flag() ? box("stss", be(0, 4) + keys) : [])
      + box("stsz", be(0, 4) + be(1, 4) + be(count, 4))
    let track =
      box("tkhd", zeros + be(1, 4)) + box("edts", box("elst", be(isWide ? 1 << 24 : 0, 4) + edits))
      + box(
        "mdia",
        box("mdhd", zeros + be(media, 4)) + box("hdlr", zeros.prefix(8) + Array(handler.utf8))
          + box("minf", box("stbl", tables)))
    return box("mvhd", zeros + be(movie, 4)) + box("trak", track)
  }

  private static func scale(_ input: inout FuzzInput) -> Int64 {
    switch input.byte() & 3 {
    case 0: 600
    case 1: 90_000
    case 2: 1
    default: Int64(input.integer(UInt32.self))
    }
  }

  /// Returns a table's count and its entries.
  private static func list(
    _ input: inout FuzzInput, _ entry: (inout FuzzInput) -> [UInt8]
  ) -> [UInt8] {
    let count = Int(input.byte() & 15)
    return be(Int64(count), 4) + (0..<count).flatMap { _ in entry(&input) }
  }

  private static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] {
    be(Int64(payload.count + 8), 4) + Array(type.utf8) + payload
  }

  private static func be(_ value: Int64, _ width: Int) -> [UInt8] {
    (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> Int64(8 * $0)) }
  }
}
#endif
