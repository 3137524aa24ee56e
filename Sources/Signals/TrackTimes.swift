/// The times of one track of an MP4 or MOV file: its clock, its edit list and its sample tables (ISO/IEC
/// 14496-12, 8.3 to 8.6).
package struct TrackTimes: Sendable {
  /// An entry of an edit list (8.6.6).
  package struct Edit: Sendable, Hashable {
    /// The time from which the media is presented, in ticks of the media; `nil` for an empty edit.
    package let mediaTime: Int64?
    /// How long it is presented, in ticks of the movie. 0 in a movie with fragments: to the end.
    package let duration: Int64
    /// The rate, in units of 2^-16. 0 is a dwell: the media at that time, for the whole duration.
    package let rate: Int

    package static let normalRate = 1 << 16
  }

  /// The `track_ID`.
  package let identifier: Int
  /// The handler's type, such as `vide`.
  package let handler: MP4BoxType
  /// Ticks of the media in a second.
  package let timescale: Int
  /// Ticks of the movie in a second.
  package let movieTimescale: Int
  /// Empty if there is no edit list.
  package let edits: [Edit]
  private let movie: [UInt8]
  private let tables: Range<Int>

  /// The most edits and samples that are read.
  private static let mostEdits = 1 << 14
  static let mostSamples = 1 << 22

  /// Returns the tracks of a movie whose times can be read, in order.
  ///
  /// - Parameter movie: The content of a `moov` box.
  package static func tracks(inMovie movie: [UInt8]) -> [TrackTimes] {
    guard let header = MP4Boxes.payload(at: "mvhd", of: movie, in: movie.indices),
      let timescale = timescale(movie, header)
    else { return [] }
    return MP4Boxes(movie, in: movie.indices).compactMap {
      $0.type == "trak" ? Self(movie, track: $0.payload, movieTimescale: timescale) : nil
    }
  }

  /// Returns whether a movie has fragments (8.8.1), whose samples the sample tables don't list.
  ///
  /// - Parameter movie: The content of a `moov` box.
  package static func hasFragments(_ movie: [UInt8]) -> Bool {
    MP4Boxes(movie, in: movie.indices).contains { $0.type == "mvex" }
  }

  private init?(_ movie: [UInt8], track: Range<Int>, movieTimescale: Int) {
    guard let header = MP4Boxes.payload(at: "tkhd", of: movie, in: track),
      let identifier = Self.identifier(movie, header),
      let media = MP4Boxes.payload(at: "mdia", of: movie, in: track),
      let clock = MP4Boxes.payload(at: "mdhd", of: movie, in: media),
      let timescale = Self.timescale(movie, clock),
      let handler = MP4Boxes.payload(at: "hdlr", of: movie, in: media),
      let tables = MP4Boxes.payload(at: "minf", "stbl", of: movie, in: media)
    else { return nil }
    var type = ByteReader(movie, handler.dropFirst(8))
    guard let number = type.integer(4) else { return nil }
    self.handler = MP4BoxType(number: UInt32(truncatingIfNeeded: number))
    let list = MP4Boxes.payload(at: "edts", "elst", of: movie, in: track)
    guard let edits = list.map({ Self.edits(movie, $0) }) ?? [] else { return nil }
    (self.identifier, self.timescale, self.movieTimescale) = (identifier, timescale, movieTimescale)
    (self.edits, self.movie, self.tables) = (edits, movie, tables)
  }

  /// Returns the time scale of `mvhd` or `mdhd`, 1 or more.
  static func timescale(_ movie: [UInt8], _ header: Range<Int>) -> Int? {
    var reader = ByteReader(movie, header)
    guard let version = reader.count(1), reader.skip(version == 1 ? 19 : 11) != nil,
      let scale = reader.count(4), (1...Int(Int32.max)).contains(scale)
    else { return nil }
    return scale
  }

  private static func identifier(_ movie: [UInt8], _ header: Range<Int>) -> Int? {
    var reader = ByteReader(movie, header)
    guard let version = reader.count(1), reader.skip(version == 1 ? 19 : 11) != nil else {
      return nil
    }
    return reader.count(4)
  }

  /// Returns the entries of an `elst` box, or `nil` if one of them has no meaning.
  private static func edits(_ movie: [UInt8], _ list: Range<Int>) -> [Edit]? {
    var reader = ByteReader(movie, list)
    guard let version = reader.count(1), version <= 1, reader.skip(3) != nil,
      let count = reader.count(4)
    else { return nil }
    let width = version == 1 ? 8 : 4
    var edits: [Edit] = []
    for _ in 0..<min(count, mostEdits) {
      guard let duration = reader.integer(width), let time = reader.integer(width),
        let rate = reader.integer(4)
      else { break }
      let ticks = version == 1 ? Int64(bitPattern: time) : Int64(Int32(truncatingIfNeeded: time))
      guard ticks >= -1, let duration = Int64(exactly: duration) else { return nil }
      edits.append(
        Edit(
          mediaTime: ticks < 0 ? nil : ticks, duration: duration,
          rate: Int(Int32(truncatingIfNeeded: rate))))
    }
    return edits
  }

  // MARK: - Sample tables

  /// Returns the number of samples that the tables list.
  package var sampleCount: Int {
    for type in ["stsz", "stz2"] as [MP4BoxType] {
      guard let sizes = MP4Boxes.payload(at: type, of: movie, in: tables) else { continue }
      var reader = ByteReader(movie, sizes.dropFirst(8))
      return reader.count(4) ?? 0
    }
    return 0
  }

  /// Returns the duration of all samples in ticks of the media, which is where the last one ends.
  package var mediaDuration: Int64 {
    var sum: Int64 = 0
    forEachRun(of: "stts") { count, delta in
      let (run, isTooLong) = Int64(count).multipliedReportingOverflow(by: Int64(delta))
      let (next, overflow) = sum.addingReportingOverflow(run)
      sum = isTooLong || overflow ? .max : next
    }
    return sum
  }

  /// Whether samples may be presented in another order than they are decoded in.
  package var hasCompositionOffsets: Bool {
    MP4Boxes.payload(at: "ctts", of: movie, in: tables) != nil
  }

  /// Returns the samples' times. Returns `nil` if there are none, or more than are read.
  package func samples() -> SampleTimes? {
    let count = sampleCount
    guard (1...Self.mostSamples).contains(count) else { return nil }
    var times: [Int64] = []
    times.reserveCapacity(count)
    var time: Int64 = 0
    forEachRun(of: "stts") { number, delta in
      for _ in 0..<min(number, count - times.count) {
        times.append(time)
        // At most 2^22 samples of 2^32 ticks.
        time += Int64(delta)
      }
    }
    // A table that is too short repeats its last time, as libavformat does.
    while times.count < count { times.append(time) }
    var shown = times
    var index = 0
    // Version 0 is signed too: many writers have negative offsets in it.
    forEachRun(of: "ctts") { number, offset in
      let shift = Int64(Int32(truncatingIfNeeded: offset))
      for _ in 0..<min(number, count - index) {
        shown[index] += shift
        index += 1
      }
    }
    var keys: [Int]?
    if let table = MP4Boxes.payload(at: "stss", of: movie, in: tables) {
      keys = movie.numbers(in: table.dropFirst(8), width: 4).map { $0 - 1 }
        .filter { (0..<count).contains($0) }
    }
    return SampleTimes(decoding: times, composition: shown, keys: keys, end: time)
  }

  /// Passes on the pairs of numbers in a table of runs, as far as they are there.
  private func forEachRun(of type: MP4BoxType, _ body: (Int, Int) -> Void) {
    guard let table = MP4Boxes.payload(at: type, of: movie, in: tables) else { return }
    var reader = ByteReader(movie, table.dropFirst(8))
    while let count = reader.count(4), let value = reader.count(4) { body(count, value) }
  }
}
