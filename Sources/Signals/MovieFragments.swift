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

  private let defaults: [Int: TrackFragment.Defaults]
  private(set) var tracks: [Int: Samples] = [:]

  /// - Parameter movie: The content of a `moov` box.
  package init(inMovie movie: [UInt8]) {
    defaults = TrackFragment.Defaults.all(inMovie: movie)
  }

  /// Adds the samples of a fragment.
  ///
  /// - Parameter fragment: The content of a `moof` box.
  package mutating func add(_ fragment: [UInt8]) {
    for track in TrackFragment.all(fragment, in: fragment.indices, defaults) {
      var samples = tracks.removeValue(forKey: track.identifier) ?? Samples()
      if let start = track.start { samples.end = max(samples.end, start) }
      for sample in track.runs.joined() {
        guard samples.decoding.count < TrackTimes.mostSamples else { break }
        if sample.isKey { samples.keys.append(samples.decoding.count) }
        samples.decoding.append(samples.end)
        samples.composition.append(samples.end + sample.offset)
        // At most 2^22 samples of 2^32 ticks after 2^55.
        samples.end += Int64(sample.duration)
      }
      tracks[track.identifier] = samples
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
