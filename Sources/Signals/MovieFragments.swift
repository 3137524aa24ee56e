/// The samples that the fragments of a movie add to its tracks (ISO/IEC 14496-12, 8.8).
package struct MovieFragments: Sendable {
  /// The samples of one track so far, in decoding order.
  struct Samples: Sendable {
    var decoding: [Int64] = []
    var composition: [Int64] = []
    var keys: [Int] = []
    /// The decoding time after the last sample.
    var end: Int64 = 0
  }

  /// What a sample has whose fragment doesn't say otherwise: duration and flags (8.8.3).
  private struct Defaults {
    var duration = 0
    var flags = 0
  }

  private var defaults: [Int: Defaults] = [:]
  private(set) var tracks: [Int: Samples] = [:]

  /// - Parameter movie: The content of a `moov` box.
  package init(inMovie movie: [UInt8]) {
    for box in MP4Boxes(movie, in: movie.indices) where box.type == "mvex" {
      for entry in MP4Boxes(movie, in: box.payload) where entry.type == "trex" {
        let numbers = movie.numbers(in: entry.payload, width: 4)
        guard numbers.count >= 6 else { continue }
        defaults[numbers[1]] = Defaults(duration: numbers[3], flags: numbers[5])
      }
    }
  }

  /// Adds the samples of a fragment.
  ///
  /// - Parameter fragment: The content of a `moof` box.
  package mutating func add(_ fragment: [UInt8]) {
    for box in MP4Boxes(fragment, in: fragment.indices) where box.type == "traf" {
      let parts = Array(MP4Boxes(fragment, in: box.payload))
      guard let header = parts.first(where: { $0.type == "tfhd" }),
        case var reader = ByteReader(fragment, header.payload), let flags = reader.count(4),
        let track = reader.count(4)
      else { continue }
      var defaults = defaults[track] ?? Defaults()
      reader.skip((flags & 1 != 0 ? 8 : 0) + (flags & 2 != 0 ? 4 : 0))
      if flags & 8 != 0 { defaults.duration = reader.count(4) ?? defaults.duration }
      if flags & 0x10 != 0 { reader.skip(4) }
      if flags & 0x20 != 0 { defaults.flags = reader.count(4) ?? defaults.flags }
      var samples = tracks[track] ?? Samples()
      for part in parts {
        if part.type == "tfdt", let time = Self.decodeTime(fragment, part.payload) {
          samples.end = max(samples.end, time)
        }
        if part.type == "trun" { Self.add(fragment, part.payload, defaults, to: &samples) }
      }
      tracks[track] = samples
    }
  }

  private static func decodeTime(_ fragment: [UInt8], _ box: Range<Int>) -> Int64? {
    var reader = ByteReader(fragment, box)
    guard let version = reader.count(1), reader.skip(3) != nil,
      let time = reader.integer(version == 1 ? 8 : 4), time < 1 << 55
    else { return nil }
    return Int64(time)
  }

  /// Adds a run of samples (8.8.8).
  private static func add(
    _ fragment: [UInt8], _ box: Range<Int>, _ defaults: Defaults, to samples: inout Samples
  ) {
    var reader = ByteReader(fragment, box)
    guard let flags = reader.count(4), let count = reader.count(4) else { return }
    if flags & 1 != 0 { reader.skip(4) }
    let first = flags & 4 != 0 ? reader.count(4) : nil
    let isEmpty = flags & 0xF00 == 0
    for index in 0..<min(count, TrackTimes.mostSamples) {
      guard samples.decoding.count < TrackTimes.mostSamples, isEmpty || reader.count > 0 else {
        return
      }
      let duration = flags & 0x100 != 0 ? reader.count(4) ?? 0 : defaults.duration
      if flags & 0x200 != 0 { reader.skip(4) }
      var own = flags & 0x400 != 0 ? reader.count(4) ?? 0 : defaults.flags
      if index == 0, let first { own = first }
      let offset = flags & 0x800 != 0 ? reader.count(4) ?? 0 : 0
      // sample_is_non_sync_sample (8.8.3.1).
      if own & 0x10000 == 0 { samples.keys.append(samples.decoding.count) }
      samples.decoding.append(samples.end)
      samples.composition.append(samples.end + Int64(Int32(truncatingIfNeeded: offset)))
      // At most 2^22 samples of 2^32 ticks after 2^55.
      samples.end += Int64(duration)
    }
  }
}

extension TrackTimes {
  /// Returns the times of the samples in the fragments of the movie; `nil` if there are none.
  package func samples(in fragments: MovieFragments) -> SampleTimes? {
    guard let found = fragments.tracks[identifier], !found.decoding.isEmpty, sampleCount == 0
    else { return nil }
    return SampleTimes(
      decoding: found.decoding, composition: found.composition, keys: found.keys, end: found.end)
  }

  /// Returns where the samples in the fragments of the movie end, in ticks of the media.
  package func mediaDuration(in fragments: MovieFragments) -> Int64 {
    fragments.tracks[identifier]?.end ?? 0
  }
}
