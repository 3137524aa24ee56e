internal import UprightOrientation
internal import UprightSignals

/// Boxes of user data that libavformat doesn't write, such as those of cameras, for a finished MP4 or QuickTime file
/// (ISO/IEC 14496-12, 8.10.1).
package struct UserDataBoxes: Sendable {
  /// The boxes of the movie.
  package var movie: [[UInt8]] = []
  /// The boxes of tracks, by the index of the track.
  package var tracks: [Int: [[UInt8]]] = [:]

  package init() {}

  package var isEmpty: Bool { movie.isEmpty && tracks.isEmpty }

  /// Returns the index with the boxes, except those of a type that is there already. Chunk offsets are unchanged.
  func rebuilt(_ moov: [UInt8]) -> [UInt8] {
    guard let index = MP4Boxes(moov, in: moov.indices).complete.first else { return moov }
    var track = -1
    return Self.adding(movie, to: index, of: moov) { child in
      guard child.type == "trak" else { return Array(moov[child.whole]) }
      track += 1
      return Self.adding(tracks[track] ?? [], to: child, of: moov) { Array(moov[$0.whole]) }
    }
  }

  /// Returns a box with `boxes` in its user data.
  ///
  /// - Parameter content: Returns the content of another box in it.
  private static func adding(
    _ boxes: [[UInt8]], to parent: MP4Box, of moov: [UInt8], _ content: (MP4Box) -> [UInt8]
  ) -> [UInt8] {
    var payload: [UInt8] = []
    var rest = boxes
    for child in MP4Boxes(moov, in: parent.payload).complete {
      guard child.type == "udta", !rest.isEmpty else {
        payload += content(child)
        continue
      }
      // Without the four zeros that QuickTime may end the list with.
      let present = MP4Boxes(moov, in: child.payload).complete
      let types = present.map(\.type.bytes)
      let added = rest.filter { !types.contains(Array($0.dropFirst(4).prefix(4))) }
      let all = present.map { Array(moov[$0.whole]) } + added
      payload += MP4Box.bytes("udta", all.flatMap(\.self))
      rest = []
    }
    if !rest.isEmpty { payload += MP4Box.bytes("udta", rest.flatMap(\.self)) }
    return MP4Box.bytes(parent.type, payload)
  }
}

extension FilePatcher {
  /// Replaces the index of a finished file by a longer one.
  ///
  /// - Parameter rebuild: Returns the new index, with unchanged chunk offsets.
  func extendIndex(
    at location: String, _ rebuild: ([UInt8]) -> [UInt8]
  ) throws(UprightError) {
    var place = 0
    var isBeforeMedia = true
    while let box = try box(at: place), box.type != "moov" {
      if box.type == "mdat" { isBeforeMedia = false }
      place = box.whole.upperBound
    }
    guard let index = try box(at: place)?.whole else {
      throw UprightError(.fault, "the file's index is not as expected: no moov", at: location)
    }
    let old = try bytes(in: index)
    var new = rebuild(old)
    let growth = new.count - old.count
    guard growth > 0, !isBeforeMedia || new.moveChunks(by: growth) else { return }
    try replace(index, with: new)
  }
}
