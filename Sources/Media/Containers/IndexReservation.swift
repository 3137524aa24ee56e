internal import UprightOrientation
internal import UprightSignals
internal import UprightMediaIO

/// Space reserved before the media of an MP4 or QuickTime file for the index (`moov`), which is complete only
/// when all media are written. The index can then be placed first without moving the media.
///
/// The size can only be estimated. If it is too small, the media are moved after all; if it is too large, the
/// rest becomes a `free` box (ISO/IEC 14496-12, 8.1.2).
struct IndexReservation {
  /// The size in bytes, at least that of a box header.
  let size: Int

  /// Moves the index from after the media of the file at `path` to the reserved space after `ftyp`.
  ///
  /// - Parameter location: The name of the file in error messages.
  func settle(fileAt path: String, location: String) throws(UprightError) {
    let file = try FilePatcher(path: path, location: location)
    guard let type = try file.box(at: 0), type.type == "ftyp" else { throw unexpected(location) }
    let room = type.whole.upperBound..<type.whole.upperBound + size
    var place = room.upperBound
    while let box = try file.box(at: place), box.type != "moov" { place = box.whole.upperBound }
    guard let index = try file.box(at: place)?.whole else { throw unexpected(location) }
    var moov = try file.bytes(in: index)
    if room.count >= moov.count + 8 {
      try file.truncate(at: index.lowerBound)
      try file.write(moov[...], at: room.lowerBound)
      try file.write(
        MP4Box.header("free", size: room.count - moov.count)[...], at: room.lowerBound + moov.count)
      return
    }
    // Fewer than the 8 bytes of a box header can't be left free: the media are moved by a few bytes.
    let rest = moov.count < room.count ? MP4Box.header("free", size: 8) : []
    if moov.moveChunks(by: moov.count + rest.count - room.count) {
      try file.truncate(at: index.lowerBound)
      try file.replace(room, with: moov + rest)
    } else {
      // The new offsets would not fit into 32 bits. The index stays last; the file still plays.
      try file.write(MP4Box.header("free", size: room.count)[...], at: room.lowerBound)
    }
  }

  private func unexpected(_ location: String) -> UprightError {
    UprightError(.fault, "the file is not laid out as expected", at: location)
  }
}

extension IndexReservation {
  /// - Parameter samples: The number of samples of all tracks.
  init?(samples: Int) {
    guard samples > 0 else { return nil }
    // For most samples a size, a composition offset and a chunk (8.7.3, 8.6.1.3, 8.7.5), for some a sync
    // sample or another duration; and the headers and tags of the tracks.
    size = min(samples, 1 << 24) * 18 + (16 << 10)
  }
}
