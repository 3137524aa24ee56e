/// The boxes of a movie's index without those in sample entries: their types and where they are.
package struct MovieOutline: Sendable, Hashable {
  /// A box by its place, such as `trak/udta/GPMF`.
  package struct Place: Sendable, Hashable {
    /// The types from the index down to the box.
    package let path: [MP4BoxType]
    /// The `track_ID` of its track; `nil` outside tracks.
    package let track: Int?
    /// The extended type of a `uuid` box; empty for others.
    package let identifier: [UInt8]
  }

  /// A box of user data (ISO/IEC 14496-12, 8.10.1).
  package struct UserData: Sendable, Hashable {
    package let place: Place
    /// The whole box.
    package let bytes: [UInt8]
  }

  /// Each place once, in the order of the file.
  package private(set) var places: [Place] = []
  /// The names of the `keys` lists of metadata (QuickTime File Format, "Metadata item keys").
  package private(set) var keys: [String] = []
  /// The boxes of user data, but for those that are too large together.
  package private(set) var userData: [UserData] = []
  private var userDataSize = 0
  private var seen: Set<Place> = []

  /// The boxes that contain boxes. `stsd` isn't one here.
  private static let containers: Set<MP4BoxType> = [
    "trak", "mdia", "minf", "stbl", "edts", "udta", "meta", "mvex", "gmhd", "tapt", "dinf",
  ]
  /// The maximum number of places.
  private static let limit = 10_000
  /// The maximum number of bytes of user data.
  private static let userDataLimit = 4 << 20

  /// - Parameter movie: The content of a `moov` box.
  package init(movie: [UInt8]) { read(movie, movie.indices, [], track: nil) }

  private mutating func read(
    _ movie: [UInt8], _ range: Range<Int>, _ parents: [MP4BoxType], track: Int?
  ) {
    for box in MP4Boxes(movie, in: range) {
      guard places.count < Self.limit else { return }
      var track = track
      if box.type == "trak" {
        track = MovieTrack.identifier(movie, ofTrack: box.payload)
      }
      // The last box of `udta` may be four bytes of zero.
      if box.type.number == 0 { continue }
      let place = Place(
        path: parents + [box.type], track: track,
        identifier: box.type == "uuid" ? Array(movie[box.payload.prefix(16)]) : [])
      if seen.insert(place).inserted { places.append(place) }
      if parents.last == "udta", box.isComplete,
        box.whole.count <= Self.userDataLimit - userDataSize
      {
        userDataSize += box.whole.count
        userData.append(UserData(place: place, bytes: Array(movie[box.whole])))
      }
      if box.type == "keys" { readKeys(movie, box.payload) }
      guard Self.containers.contains(box.type), parents.count < 8 else { continue }
      read(movie, content(of: box, movie), place.path, track: track)
    }
  }

  /// Returns the range of the boxes in a box. ISO's `meta` has version and flags before them, QuickTime's
  /// hasn't.
  private func content(of box: MP4Box, _ movie: [UInt8]) -> Range<Int> {
    guard box.type == "meta" else { return box.payload }
    var boxes = MP4Boxes(movie, in: box.payload)
    return boxes.next()?.type == "hdlr" ? box.payload : box.payload.dropFirst(4)
  }

  private mutating func readKeys(_ movie: [UInt8], _ payload: Range<Int>) {
    var reader = ByteReader(movie, payload.dropFirst(8))
    while keys.count < Self.limit, let size = reader.count(4), size >= 8, reader.skip(4) != nil,
      let name = reader.text(size - 8)
    {
      keys.append(name)
    }
  }
}
