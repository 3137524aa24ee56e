/// The samples of a track in one fragment of a movie (ISO/IEC 14496-12, 8.8.6 to 8.8.12).
struct TrackFragment {
  /// What samples have that don't say otherwise (8.8.3).
  struct Defaults {
    var duration = 0
    var size = 0
    var flags = 0

    /// Returns those of each track, by its identifier.
    ///
    /// - Parameter movie: The content of a `moov` box.
    static func all(inMovie movie: [UInt8]) -> [Int: Defaults] {
      var found: [Int: Defaults] = [:]
      for box in MP4Boxes(movie, in: movie.indices) where box.type == "mvex" {
        for entry in MP4Boxes(movie, in: box.payload) where entry.type == "trex" {
          let numbers = movie.numbers(in: entry.payload, width: 4)
          guard numbers.count >= 6 else { continue }
          found[numbers[1]] = Defaults(duration: numbers[3], size: numbers[4], flags: numbers[5])
        }
      }
      return found
    }
  }

  struct Sample {
    let duration: Int
    let size: Int
    let flags: Int
    /// How much later it is shown than decoded, in ticks.
    let offset: Int64

    /// Whether decoding can start here: `sample_is_non_sync_sample` isn't set (8.8.3.1).
    var isKey: Bool { flags & 0x10000 == 0 }
  }

  /// The samples whose data is in one place (8.8.8).
  struct Run: Sequence, IteratorProtocol {
    /// The number of samples that it says it has.
    let count: Int
    /// The position of the number that says where its data begins, and that number; `nil` if there is none.
    let offset: (place: Int, value: Int)?
    private let flags: Int
    private let defaults: Defaults
    private let first: Int?
    private var reader: ByteReader
    private var index = 0

    fileprivate init?(_ bytes: [UInt8], _ box: Range<Int>, _ defaults: Defaults) {
      var reader = ByteReader(bytes, box)
      guard let flags = reader.count(4), let count = reader.count(4) else { return nil }
      let place = reader.position
      offset =
        (flags & 1 != 0 ? reader.count(4) : nil).map {
          (place, Int(Int32(truncatingIfNeeded: $0)))
        }
      first = flags & 4 != 0 ? reader.count(4) : nil
      (self.count, self.flags, self.defaults, self.reader) = (count, flags, defaults, reader)
    }

    /// The position of the size of the next sample; `nil` if it has none of its own.
    var sizePlace: Int? {
      let before = flags & 0x100 != 0 ? 4 : 0
      guard flags & 0x200 != 0, reader.count >= before + 4 else { return nil }
      return reader.position + before
    }

    /// Returns the next sample; `nil` if the box ends before it.
    mutating func next() -> Sample? {
      guard index < count else { return nil }
      let duration = flags & 0x100 != 0 ? reader.count(4) : defaults.duration
      let size = flags & 0x200 != 0 ? reader.count(4) : defaults.size
      var own = flags & 0x400 != 0 ? reader.count(4) : defaults.flags
      if index == 0, let first { own = first }
      let offset = flags & 0x800 != 0 ? reader.count(4) : 0
      guard let duration, let size, let own, let offset else { return nil }
      index += 1
      return Sample(
        duration: duration, size: size, flags: own,
        offset: Int64(Int32(truncatingIfNeeded: offset)))
    }
  }

  let identifier: Int
  /// The position in the file that the data is counted from; `nil` for that of the fragment.
  let base: Int?
  /// Whether the data is counted from the fragment, and not from that of the track before either.
  let isFromFragment: Bool
  /// The decoding time of the first sample; `nil` for the end of the fragment before.
  let start: Int64?
  let runs: [Run]

  /// Returns the tracks of a fragment, in order.
  ///
  /// - Parameters:
  ///   - fragment: The content of a `moof` box in the bytes.
  ///   - defaults: Those of the movie.
  static func all(
    _ bytes: [UInt8], in fragment: Range<Int>, _ defaults: [Int: Defaults] = [:]
  ) -> [Self] {
    let boxes = MP4Boxes(bytes, in: fragment).filter { $0.type == "traf" }
    return boxes.enumerated().compactMap { index, box in
      Self(bytes, box.payload, isFirst: index == 0, defaults)
    }
  }

  private init?(
    _ bytes: [UInt8], _ box: Range<Int>, isFirst: Bool, _ defaults: [Int: Defaults]
  ) {
    guard let header = MP4Boxes.payload(at: "tfhd", of: bytes, in: box),
      case var reader = ByteReader(bytes, header), let flags = reader.count(4),
      let identifier = reader.count(4)
    else { return nil }
    self.identifier = identifier
    var own = defaults[identifier] ?? Defaults()
    base = flags & 1 != 0 ? Int(clamping: reader.integer(8) ?? 0) : nil
    isFromFragment = base == nil && (flags & 0x20000 != 0 || isFirst)
    if flags & 2 != 0 { reader.skip(4) }
    if flags & 8 != 0 { own.duration = reader.count(4) ?? own.duration }
    if flags & 0x10 != 0 { own.size = reader.count(4) ?? own.size }
    if flags & 0x20 != 0 { own.flags = reader.count(4) ?? own.flags }
    start = MP4Boxes.payload(at: "tfdt", of: bytes, in: box).flatMap { Self.time(bytes, $0) }
    runs = MP4Boxes(bytes, in: box).compactMap { part in
      part.type == "trun" ? Run(bytes, part.payload, own) : nil
    }
  }

  /// Returns a decoding time (8.8.12) of less than 2^55 ticks.
  private static func time(_ bytes: [UInt8], _ box: Range<Int>) -> Int64? {
    var reader = ByteReader(bytes, box)
    guard let version = reader.count(1), reader.skip(3) != nil,
      let time = reader.integer(version == 1 ? 8 : 4), time < 1 << 55
    else { return nil }
    return Int64(time)
  }
}
