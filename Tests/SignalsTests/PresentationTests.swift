import Testing
import UprightSignals
import UprightTestSupport

@Suite("Edit lists")
struct PresentationTests {
  /// A movie of one track with a tick of 1/1000 s and 24 pictures of 40 ticks: an IDR each twelve, and two B
  /// pictures between other pictures if there is a delay. A tick of the movie is 1/100 s.
  private static func track(
    delay: Int, edits: [[Int]], version: Int = 0, keys: [Int]? = [0, 12]
  ) throws -> TrackTimes {
    try #require(tracks(delay: delay, edits: edits, version: version, keys: keys).first)
  }

  private static func tracks(
    delay: Int, edits: [[Int]], version: Int = 0, keys: [Int]? = [0, 12]
  ) -> [TrackTimes] {
    let be = MovieWriter.be
    // I P B B P B B P B B P P of each group.
    let shown =
      delay == 0
      ? Array(0..<24)
      : [0, 12].flatMap { start in [0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 10, 11].map { $0 + start } }
    let offsets = shown.enumerated().map { be(($1 - $0) * 40 + delay, 4) }
    func full(_ type: String, _ content: [UInt8], version: Int = 0) -> [UInt8] {
      MovieWriter.box(type, be(version << 24, 4) + content)
    }
    let width = version == 1 ? 8 : 4
    let list = edits.flatMap {
      be($0[0], width) + be($0[1], width) + be($0.count > 2 ? $0[2] : 65536, 4)
    }
    let tables =
      full("stts", be(1, 4) + be(24, 4) + be(40, 4))
      + full("ctts", be(24, 4) + offsets.flatMap { be(1, 4) + $0 })
      + (keys.map { full("stss", be($0.count, 4) + $0.flatMap { be($0 + 1, 4) }) } ?? [])
      + full("stsz", be(0, 4) + be(24, 4) + be(0, 96))
    let media =
      full("mdhd", be(0, 8) + be(1000, 4) + be(960, 4) + be(0, 4))
      + full("hdlr", be(0, 4) + Array("vide".utf8) + be(0, 13))
      + MovieWriter.box("minf", MovieWriter.box("stbl", tables))
    let movie =
      full("mvhd", be(0, 8) + be(100, 4) + be(96, 4) + be(0, 80))
      + MovieWriter.box(
        "trak",
        full("tkhd", be(0, 8) + be(7, 4) + be(0, 68))
          + (edits.isEmpty
            ? []
            : MovieWriter.box("edts", full("elst", be(edits.count, 4) + list, version: version)))
          + MovieWriter.box("mdia", media))
    return TrackTimes.tracks(inMovie: movie)
  }

  /// Returns what is presented as "start picture duration", and the number of samples decoded for it.
  private static func shown(_ track: TrackTimes, delay: Int) throws -> ([[Int]], decoded: Int) {
    let times = try #require(track.samples())
    let map = try #require(PresentationMap(track, mediaEnd: times.end))
    let presented = try #require(PresentedSamples(map, times))
    var shown: [[Int]] = []
    for run in presented.runs {
      for sample in run.samples {
        guard let showing = presented.showing(of: sample, in: run) else { continue }
        let picture = (Int(times.composition[sample]) - delay) / 40
        shown.append([Int(showing.start), picture, Int(showing.duration)])
      }
    }
    return (shown.sorted { $0[0] < $1[0] }, presented.count)
  }

  /// Returns consecutive pictures from `start` on.
  private static func pictures(_ range: Range<Int>, from start: Int = 0) -> [[Int]] {
    range.enumerated().map { [start + $0 * 40, $1, 40] }
  }

  @Test(
    "Cuts at and between sync samples, several edits, gaps and repeats", arguments: [0, 80], [0, 1])
  func cuts(delay: Int, version: Int) throws {
    func check(_ edits: [[Int]], _ expected: [[Int]], decoded: Int? = nil) throws {
      let track = try Self.track(delay: delay, edits: edits, version: version)
      let (shown, count) = try Self.shown(track, delay: delay)
      #expect(shown == expected, "\(edits)")
      if let decoded { #expect(count == decoded, "\(edits)") }
    }
    // Durations are in 1/100 s.
    try check([[96, delay]], Self.pictures(0..<24), decoded: 24)
    try check([[48, delay + 480]], Self.pictures(12..<24), decoded: 12)
    try check([[40, delay + 200]], Self.pictures(5..<15))
    // The end of the list is that of the media, not farther.
    try check([[60, delay + 800]], Self.pictures(20..<24))
    try check(
      [[24, delay], [24, delay + 720]], Self.pictures(0..<6) + Self.pictures(18..<24, from: 240))
    try check(
      [[10, -1], [8, delay + 120], [50, -1], [12, delay + 120]],
      Self.pictures(3..<5, from: 100) + Self.pictures(3..<6, from: 680))
    // Backward.
    try check(
      [[8, delay + 640], [8, delay]], Self.pictures(16..<18) + Self.pictures(0..<2, from: 80))
    // Two pieces that continue one another are one.
    try check([[24, delay], [24, delay + 240]], Self.pictures(0..<12), decoded: 12)
    // A dwell, and twice the speed.
    try check([[100, delay + 130, 0]], [[0, 3, 1000]])
    try check(
      [[8, delay, 131072]], [[0, 0, 20], [20, 1, 20], [40, 2, 20], [60, 3, 20]])
  }

  @Test(
    "A picture that began before a cut is shown if the cut holds it, else the piece begins with the next"
  )
  func betweenPictures() throws {
    let track = try Self.track(delay: 0, edits: [[20, 140]])
    #expect(try Self.shown(track, delay: 0).0.first == [0, 4, 40])
    let second = try Self.track(delay: 0, edits: [[8, 0], [20, 140]])
    #expect(try Self.shown(second, delay: 0).0[2] == [100, 4, 40])
    // In a piece shorter than a picture there is no next one.
    let short = try Self.track(delay: 0, edits: [[1, 130]])
    #expect(try Self.shown(short, delay: 0).0 == [[0, 3, 10]])
    // The picture of a whole second.
    let times = SampleTimes(
      decoding: [0, 1000, 1040, 1080], composition: [0, 1000, 1040, 1080], keys: [0], end: 1120)
    let map = try #require(
      PresentationMap(try Self.track(delay: 0, edits: [[60, 500]]), mediaEnd: 1120))
    let presented = try #require(PresentedSamples(map, times))
    #expect(presented.showing(of: 0, in: presented.runs[0])?.duration == 500)
    #expect(presented.end == 600)
  }

  @Test("A list as long as the track hides no last picture, though that has no duration")
  func lastWithoutDuration() throws {
    // The picture that is presented last is decoded before the last one, whose duration is 0.
    let times = SampleTimes(
      decoding: [0, 600, 955], composition: [0, 955, 600], keys: [0], end: 955)
    for (edit, last) in [(96, 355), (95, nil), (97, 15)] as [(Int, Int64?)] {
      let map = try #require(
        PresentationMap(try Self.track(delay: 0, edits: [[edit, 0]]), mediaEnd: times.end))
      let presented = try #require(PresentedSamples(map, times))
      #expect(presented.showing(of: 1, in: presented.runs[0])?.duration == last, "\(edit)")
      #expect(presented.isPlain == (edit == 96))
    }
    // The list ends exactly where the last picture begins, for libavformat before it.
    let even = SampleTimes(
      decoding: [0, 600, 950], composition: [0, 600, 950], keys: [0], end: 950)
    for (edit, last) in [(95, 350), (94, nil)] as [(Int, Int64?)] {
      let map = try #require(
        PresentationMap(try Self.track(delay: 0, edits: [[edit, 0]]), mediaEnd: even.end))
      let presented = try #require(PresentedSamples(map, even))
      #expect(presented.showing(of: 2, in: presented.runs[0])?.duration == last, "\(edit)")
      #expect(!presented.isPlain)
    }
  }

  @Test("Only a constant shift needs no presentation of its own")
  func plain() throws {
    for (edits, isPlain) in [
      ([[96, 80]], true), ([[20, -1], [96, 80]], true), ([[48, 560]], false), ([[48, 80]], false),
      ([[96, 80, 32768]], false), ([[96, 81]], false),
    ] {
      let track = try Self.track(delay: 80, edits: edits)
      let times = try #require(track.samples())
      let map = try #require(PresentationMap(track, mediaEnd: times.end))
      #expect(PresentedSamples(map, times)?.isPlain == isPlain, "\(edits)")
    }
  }

  @Test("Without a sync sample before the cut, decoding starts with the first sample")
  func noKeyframe() throws {
    let track = try Self.track(delay: 80, edits: [[20, 280]], keys: [12])
    #expect(try Self.shown(track, delay: 80).decoded >= 10)
  }

  @Test("Hidden pictures before a sync sample in an open group are not decoded")
  func openGroup() throws {
    // I0 P3 B1 B2 I6 B4 B5 P7: B4 and B5 refer to P3.
    let shown = [0, 3, 1, 2, 6, 4, 5, 7].map { Int64($0) * 40 }
    let times = SampleTimes(
      decoding: (0..<8).map { $0 * 40 }, composition: shown, keys: [0, 4], end: 320)
    func decoded(from start: Int) throws -> Int? {
      let track = try Self.track(delay: 0, edits: [[8, start]])
      return PresentedSamples(try #require(PresentationMap(track, mediaEnd: 320)), times)?.count
    }
    #expect(try decoded(from: 240) == 2)
    #expect(try decoded(from: 200) == 7)
  }

  @Test("Hostile lists and tables end in no map, or in few samples")
  func hostile() throws {
    for edits in [
      [[10, -2]], [[10, 0, -65536]], [[Int(UInt32.max), 0]], [], [[0, -1]],
      [[0, Int(Int32.max)]],
    ] {
      guard let track = Self.tracks(delay: 0, edits: edits).first, let times = track.samples()
      else { continue }
      if let map = PresentationMap(track, mediaEnd: times.end) {
        _ = PresentedSamples(map, times)
      }
    }
    let extreme = Self.tracks(
      delay: 0, edits: [[Int.max, Int.max], [Int.max, 0, 1], [1, 0, Int(Int32.max)]], version: 1)
    if let extreme = extreme.first { #expect(PresentationMap(extreme, mediaEnd: 960) == nil) }
    // Ten thousand repeats of the whole are more than any player decodes.
    let many = try Self.track(delay: 0, edits: Array(repeating: [96, 0], count: 10_000))
    let times = try #require(many.samples())
    #expect(PresentedSamples(try #require(PresentationMap(many, mediaEnd: 960)), times) == nil)
  }
}
