import Foundation

/// Inserts elements into a Matroska file, byte by byte: elements that this FFmpeg reads and no available
/// muxer writes.
package enum EBMLPatch {
  /// Returns an element whose size is written in eight bytes.
  package static func element(_ identifier: [UInt8], _ content: [UInt8]) -> [UInt8] {
    identifier + [1] + MovieWriter.be(content.count, 7) + content
  }

  /// Returns a `Projection` element (RFC 9559, 5.1.4.1.28.41). The default type is rectangular.
  package static func projection(
    roll: Double, yaw: Double = 0, pitch: Double = 0, type: UInt8 = 0
  ) -> [UInt8] {
    func float(_ value: Double) -> [UInt8] {
      MovieWriter.be(Int(bitPattern: UInt(value.bitPattern)), 8)
    }
    return element(
      [0x76, 0x70],
      element([0x76, 0x71], [type]) + element([0x76, 0x73], float(yaw))
        + element([0x76, 0x74], float(pitch)) + element([0x76, 0x75], float(roll)))
  }

  /// Adds `content` to the `Video` element of the file's tracks.
  package static func addToVideo(_ content: [UInt8], to path: String) throws {
    try add(content, under: [segment, [0x16, 0x54, 0xAE, 0x6B], [0xAE], [0xE0]], to: path)
  }

  /// Adds `content` to the file's first track.
  package static func addToTrack(_ content: [UInt8], to path: String) throws {
    try add(content, under: [segment, [0x16, 0x54, 0xAE, 0x6B], [0xAE]], to: path)
  }

  /// Adds `count` tags with different names to the file's tags.
  package static func addTags(_ count: Int, to path: String) throws {
    var tags: [UInt8] = []
    for index in 0..<count {
      let name = element([0x45, 0xA3], Array("TAG\(index)".utf8))
      tags += element([0x67, 0xC8], name + element([0x44, 0x87], Array("x".utf8)))
    }
    try add(
      element([0x73, 0x73], tags), under: [segment, [0x12, 0x54, 0xC3, 0x67]], to: path)
  }

  private static let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67]

  private static func add(_ content: [UInt8], under way: [[UInt8]], to path: String) throws {
    let url = URL(fileURLWithPath: path)
    let bytes = [UInt8](try Data(contentsOf: url))
    try Data(rewritten(bytes[...], way[...], content)).write(to: url)
  }

  private static func rewritten(
    _ bytes: ArraySlice<UInt8>, _ way: ArraySlice<[UInt8]>, _ content: [UInt8]
  ) -> [UInt8] {
    guard let wanted = way.first else { return Array(bytes) + content }
    var result: [UInt8] = []
    var rest = bytes
    while let first = rest.first {
      let identifier = Array(rest.prefix(first.leadingZeroBitCount + 1))
      let sized = rest.dropFirst(identifier.count)
      guard let length = sized.first.map({ $0.leadingZeroBitCount + 1 }) else { break }
      let size = sized.prefix(length).reduce(0) { $0 << 8 | Int($1) } & ((1 << (7 * length)) - 1)
      let body = sized.dropFirst(length).prefix(size)
      result +=
        identifier == wanted
        ? element(identifier, rewritten(body, way.dropFirst(), content))
        : Array(rest.prefix(identifier.count + length + body.count))
      rest = rest.dropFirst(identifier.count + length + body.count)
    }
    return result
  }
}
