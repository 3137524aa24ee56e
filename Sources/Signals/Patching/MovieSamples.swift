internal import UprightOrientation

/// The places of a track's samples in the file: those of its sample table, then those of the fragments (ISO/IEC
/// 14496-12, 8.6, 8.7 and 8.8).
struct MovieSamples {
  private let movie: [UInt8]
  private let track: TaggedTrack
  private let file: any ByteFile
  private let fragments: [Range<Int>]
  private let defaults: [Int: TrackFragment.Defaults]
  /// The most samples that are visited, in all.
  private static let limit = 1 << 24

  init(_ index: TaggedMovie, _ track: TaggedTrack, in file: any ByteFile) {
    (movie, fragments) = (index.movie, index.fragments)
    defaults = TrackFragment.Defaults.all(inMovie: movie)
    (self.track, self.file) = (track, file)
  }

  /// Calls `visit` with the range of each sample that is wholly in the file.
  func forEach(_ visit: (Range<Int>) throws(UprightError) -> Void) throws(UprightError) {
    let end = file.size
    var rest = Self.limit
    func visitIfWhole(_ start: Int, _ size: Int) throws(UprightError) -> Bool {
      rest -= 1
      guard rest >= 0, start >= 0, size >= 0, start <= end, size <= end - start else {
        return false
      }
      if size > 0 { try visit(start..<start + size) }
      return true
    }
    try visitTable(visitIfWhole)
    guard !fragments.isEmpty else { return }
    for fragment in fragments where rest > 0 { try visitFragment(fragment, visitIfWhole) }
  }

  private func payload(_ type: MP4BoxType) -> Range<Int>? {
    MP4Boxes.payload(at: type, of: movie, in: track.table)
  }

  // MARK: - The sample table

  private func visitTable(_ visit: (Int, Int) throws(UprightError) -> Bool) throws(UprightError) {
    guard let sizes = SampleSizes(movie, payload("stsz"), payload("stz2")) else { return }
    let chunks =
      payload("stco").map { movie.numbers(in: $0.dropFirst(8), width: 4) }
      ?? payload("co64").map { movie.numbers(in: $0.dropFirst(8), width: 8) } ?? []
    let runs = movie.numbers(in: payload("stsc")?.dropFirst(8) ?? 0..<0, width: 4)
    var (sample, run, position) = (0, 0, 0)
    for (chunk, offset) in chunks.enumerated() {
      // A run: its first chunk from 1, the samples in each chunk, the sample entry.
      while run + 5 < runs.count, runs[run + 3] <= chunk + 1 { run += 3 }
      guard run + 1 < runs.count else { return }
      position = offset
      for _ in 0..<runs[run + 1] {
        guard sample < sizes.count else { return }
        let size = sizes[sample]
        guard try visit(position, size) else { break }
        position += size
        sample += 1
      }
    }
  }

  /// The sizes of the samples (8.7.3).
  private struct SampleSizes {
    let count: Int
    private let bytes: [UInt8]
    private let entries: Range<Int>
    private let bits: Int
    private let common: Int

    init?(_ movie: [UInt8], _ plain: Range<Int>?, _ compact: Range<Int>?) {
      guard let range = plain ?? compact else { return nil }
      var reader = ByteReader(movie, range)
      guard reader.skip(4) != nil, let field = reader.count(4), let count = reader.count(4) else {
        return nil
      }
      bytes = movie
      (common, bits) = plain != nil ? (field, 32) : (0, field & 0xFF)
      guard [4, 8, 16, 32].contains(bits) else { return nil }
      entries = reader.position..<range.upperBound
      self.count = common > 0 ? count : min(count, entries.count * 8 / bits)
    }

    subscript(_ sample: Int) -> Int {
      if common > 0 { return common }
      let place = entries.lowerBound + sample * bits / 8
      if bits == 4 { return Int(sample.isMultiple(of: 2) ? bytes[place] >> 4 : bytes[place] & 15) }
      return bytes[place..<place + bits / 8].reduce(0) { $0 << 8 | Int($1) }
    }
  }

  // MARK: - Fragments

  private func visitFragment(
    _ fragment: Range<Int>, _ visit: (Int, Int) throws(UprightError) -> Bool
  ) throws(UprightError) {
    guard fragment.count <= 16 << 20 else { return }
    let bytes = try file.bytes(in: fragment)
    guard let whole = MP4Box(header: bytes) else { return }
    for part in TrackFragment.all(bytes, in: whole.payload, defaults)
    where part.identifier == track.identifier {
      let base = part.base ?? fragment.lowerBound
      var position = base
      for run in part.runs {
        if let offset = run.offset {
          let (start, isTooLarge) = base.addingReportingOverflow(offset.value)
          guard !isTooLarge else { return }
          position = start
        }
        for sample in run {
          guard try visit(position, sample.size) else { break }
          position += sample.size
        }
      }
    }
  }
}
