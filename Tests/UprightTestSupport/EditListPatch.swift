import Foundation

/// Gives the tracks of a movie other edit lists. The movie's `moov` box must be its last one.
package enum EditListPatch {
  /// An entry of an edit list.
  package struct Edit: Sendable {
    /// In ticks of the movie.
    package var duration: Int
    /// In ticks of the media; -1 for an empty edit.
    package var mediaTime: Int
    /// In units of 2^-16.
    package var rate: Int

    package init(_ duration: Int, at mediaTime: Int, rate: Int = 1 << 16) {
      (self.duration, self.mediaTime, self.rate) = (duration, mediaTime, rate)
    }
  }

  /// Replaces the edit list of each track, in the order of the file.
  ///
  /// - Parameter version: 0 or 1: the width of the numbers.
  package static func write(_ lists: [[Edit]], version: Int = 0, to path: String) throws {
    let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var lists = lists[...]
    var result: [UInt8] = []
    for box in boxes(file[...]) {
      guard box.type == "moov" else {
        result += box.whole
        continue
      }
      let movie = boxes(box.content).flatMap { track -> [UInt8] in
        guard track.type == "trak", let list = lists.popFirst() else { return Array(track.whole) }
        let content = boxes(track.content).flatMap { part -> [UInt8] in
          if part.type == "edts" { return [] }
          return part.whole + (part.type == "tkhd" ? edts(list, version) : [])
        }
        return MovieWriter.box("trak", content)
      }
      result += MovieWriter.box("moov", movie)
    }
    try Data(result).write(to: URL(fileURLWithPath: path))
  }

  /// Returns where each track's media begins by its last edit, in ticks of the media.
  package static func mediaTimes(of path: String) throws -> [Int] {
    let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let tracks = boxes(file[...]).filter { $0.type == "moov" }.flatMap { boxes($0.content) }
      .filter { $0.type == "trak" }
    return tracks.map { track in
      let list = boxes(track.content).first { $0.type == "edts" }.flatMap {
        boxes($0.content).first { $0.type == "elst" }
      }
      // Version 0: the last entry's second number.
      guard let list, list.content.count >= 20 else { return 0 }
      return list.content.suffix(8).prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }
  }

  private static func edts(_ list: [Edit], _ version: Int) -> [UInt8] {
    let width = version == 1 ? 8 : 4
    let entries = list.flatMap {
      MovieWriter.be($0.duration, width) + MovieWriter.be($0.mediaTime, width)
        + MovieWriter.be($0.rate, 4)
    }
    return MovieWriter.box(
      "edts",
      MovieWriter.box(
        "elst", MovieWriter.be(version << 24, 4) + MovieWriter.be(list.count, 4) + entries))
  }

  private static func boxes(
    _ bytes: ArraySlice<UInt8>
  ) -> [(type: String, whole: ArraySlice<UInt8>, content: ArraySlice<UInt8>)] {
    var found: [(type: String, whole: ArraySlice<UInt8>, content: ArraySlice<UInt8>)] = []
    var place = bytes.startIndex
    while place + 8 <= bytes.endIndex {
      let size = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      guard size >= 8, place + size <= bytes.endIndex else { break }
      let type = String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
      found.append((type, bytes[place..<place + size], bytes[place + 8..<place + size]))
      place += size
    }
    return found
  }
}
