internal import UprightOrientation

/// The places of a track's samples in the file: those of its sample table, then those of the fragments (ISO/IEC
/// 14496-12, 8.6, 8.7 and 8.8).
struct MovieSamples {
  private let movie: [UInt8]
  private let track: TaggedTrack
  private let file: any ByteFile
  private let fragments: [Range<Int>]
  /// The most samples that are visited, in all.
  private static let limit = 1 << 24

  init(_ index: TaggedMovie, _ track: TaggedTrack, in file: any ByteFile) {
    (movie, fragments) = (index.movie, index.fragments)
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
    for box in MP4Boxes(bytes, in: whole.payload) where box.type == "traf" {
      guard let header = MP4Boxes.payload(at: "tfhd", of: bytes, in: box.payload) else { continue }
      var reader = ByteReader(bytes, header)
      guard let flags = reader.count(4), reader.count(4) == track.identifier else { continue }
      var base = fragment.lowerBound
      if flags & 1 == 1 { base = Int(clamping: reader.integer(8) ?? 0) }
      if flags & 2 == 2 { reader.skip(4) }
      if flags & 8 == 8 { reader.skip(4) }
      let size = flags & 0x10 == 0x10 ? reader.count(4) ?? 0 : standardSize
      var position = base
      for run in MP4Boxes(bytes, in: box.payload) where run.type == "trun" {
        try visitRun(ByteReader(bytes, run.payload), base, &position, size, visit)
      }
    }
  }

  /// The size of samples whose fragment has none (8.8.3).
  private var standardSize: Int {
    guard let extends = MP4Boxes.payload(at: "mvex", of: movie, in: movie.indices) else { return 0 }
    for box in MP4Boxes(movie, in: extends) where box.type == "trex" {
      let values = movie.numbers(in: box.payload.dropFirst(4), width: 4)
      if values.count >= 4, values[0] == track.identifier { return values[3] }
    }
    return 0
  }

  private func visitRun(
    _ run: ByteReader, _ base: Int, _ position: inout Int, _ size: Int,
    _ visit: (Int, Int) throws(UprightError) -> Bool
  ) throws(UprightError) {
    var reader = run
    guard let flags = reader.count(4), let count = reader.count(4) else { return }
    if flags & 1 == 1 {
      let offset = Int32(truncatingIfNeeded: reader.integer(4) ?? 0)
      let (start, isTooLarge) = base.addingReportingOverflow(Int(offset))
      guard !isTooLarge else { return }
      position = start
    }
    if flags & 4 == 4 { reader.skip(4) }
    // Duration, size, flags and composition offset of a sample, if present.
    let fields = [0x100, 0x200, 0x400, 0x800].map { flags & $0 == $0 }
    for _ in 0..<count {
      if fields[0] { reader.skip(4) }
      let own = fields[1] ? reader.count(4) : size
      if fields[2] { reader.skip(4) }
      if fields[3] { reader.skip(4) }
      guard let own, try visit(position, own) else { return }
      position += own
    }
  }
}
