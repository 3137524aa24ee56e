import Foundation

/// Changes the sample entries of an MP4 or MOV file, byte by byte, to what no available muxer writes. The index
/// must be after the media, as FFmpeg leaves it.
package enum MoviePatch {
  /// Replaces the first sample entry of track `track`, counted from 0.
  ///
  /// - Parameter change: Returns the new entry, a complete box, for the old one.
  package static func entry(
    of track: Int, in path: String, _ change: ([UInt8]) -> [UInt8]
  ) throws {
    try patch(path, [("moov", 0), ("trak", track)] + entryPath, change)
  }

  /// Appends boxes to the first sample entry of track `track`.
  package static func add(_ boxes: [UInt8], toEntryOf track: Int, in path: String) throws {
    try entry(of: track, in: path) { entry in
      MovieWriter.box(String(decoding: entry[4..<8], as: UTF8.self), entry[8...] + boxes)
    }
  }

  /// Gives the first sample entry of track `track` another type.
  package static func rename(entryOf track: Int, to type: String, in path: String) throws {
    try entry(of: track, in: path) { MovieWriter.box(type, Array($0[8...])) }
  }

  /// Appends boxes to the box at the end of a path of types, the first of each.
  package static func add(
    _ boxes: [UInt8], to way: [String], track: Int = 0, in path: String
  ) throws {
    try patch(path, way.map { ($0, $0 == "trak" ? track : 0) }) { box in
      MovieWriter.box(String(decoding: box[4..<8], as: UTF8.self), box[8...] + boxes)
    }
  }

  private static let entryPath = ["mdia", "minf", "stbl", "stsd", "*"].map { ($0, 0) }

  private static func patch(
    _ path: String, _ way: [(String, Int)], _ change: ([UInt8]) -> [UInt8]
  ) throws {
    let url = URL(fileURLWithPath: path)
    let bytes = [UInt8](try Data(contentsOf: url))
    try Data(rebuilt(bytes, way[...], change)).write(to: url)
  }

  private static func rebuilt(
    _ bytes: [UInt8], _ way: ArraySlice<(String, Int)>, _ change: ([UInt8]) -> [UInt8]
  ) -> [UInt8] {
    guard let (type, index) = way.first else { return bytes }
    var (result, position, count) = ([UInt8](), 0, 0)
    while position + 8 <= bytes.count {
      let size = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      let box = Array(bytes[position..<min(bytes.count, position + max(size, 8))])
      position += box.count
      let name = String(decoding: box[4..<8], as: UTF8.self)
      guard name == type || type == "*" else {
        result += box
        continue
      }
      count += 1
      if count - 1 != index {
        result += box
      } else if way.count == 1 {
        result += change(box)
      } else {
        // `stsd` has version, flags and a count before its entries.
        let fields = name == "stsd" ? 16 : 8
        result += MovieWriter.box(
          name, box[8..<fields] + rebuilt(Array(box[fields...]), way.dropFirst(), change))
      }
    }
    return result + bytes[position...]
  }
}
