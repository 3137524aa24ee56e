internal import UprightMediaIO

/// Room in front of the media of an MP4 or QuickTime file for the index (`moov`), which is known only
/// when all media are written: so it comes to stand first, and the media need not be moved for it.
///
/// How much is needed can only be reckoned. Where it was too little, the media are moved after all;
/// what is left over becomes a `free` box (ISO/IEC 14496-12, 8.1.2).
struct IndexRoom {
  /// Bytes, a box header at least.
  let size: Int

  /// - Parameter samples: those of all tracks.
  init?(samples: Int) {
    guard samples > 0 else { return nil }
    // A size, a composition offset, a chunk for most (8.7.3, 8.6.1.3, 8.7.5), now and then a sync
    // sample or another duration; beside them the tracks' headers and tags.
    size = min(samples, 1 << 24) * 18 + (16 << 10)
  }

  /// Moves the index from behind the media of the file at `path` into the room behind `ftyp`.
  ///
  /// - Parameter location: what errors call the file.
  func settle(fileAt path: String, location: String) throws(MediaError) {
    let file = try PatchedFile(path: path, location: location)
    guard let type = try file.box(at: 0), type.type == "ftyp" else { throw unexpected(location) }
    let room = type.whole.upperBound..<type.whole.upperBound + size
    var place = room.upperBound
    while let box = try file.box(at: place), box.type != "moov" { place = box.whole.upperBound }
    guard let index = try file.box(at: place)?.whole else { throw unexpected(location) }
    var moov = try file.bytes(in: index)
    if room.count >= moov.count + 8 {
      try file.truncate(at: index.lowerBound)
      try file.write(moov[...], at: room.lowerBound)
      try file.write(free(room.count - moov.count)[...], at: room.lowerBound + moov.count)
    } else if moov.moveChunks(by: moov.count - room.count) {
      try file.truncate(at: index.lowerBound)
      try file.replace(room, with: moov)
    } else {
      // Offsets of 32 bits would not reach: the index stays last, where it plays as well.
      try file.write(free(room.count)[...], at: room.lowerBound)
    }
  }

  /// The header of a box that says nothing.
  private func free(_ size: Int) -> [UInt8] { [UInt8].big(size, bytes: 4) + Array("free".utf8) }

  private func unexpected(_ location: String) -> MediaError {
    MediaError(.fault, "the file is not laid out as expected", at: location)
  }
}
