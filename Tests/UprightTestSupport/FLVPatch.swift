import Foundation

/// Splits an FLV file into its tags and inserts script data between them, byte by byte.
package struct FLVPatch {
  /// The value of a member.
  package enum Value: Sendable {
    case number(Double)
    case text(String)
    case flag(Bool)

    var bytes: [UInt8] {
      switch self {
      case .number(let number):
        [0] + MovieWriter.be(Int(bitPattern: UInt(number.bitPattern)), 8)
      case .text(let text): [2] + MovieWriter.be(text.utf8.count, 2) + Array(text.utf8)
      case .flag(let flag): [1, flag ? 1 : 0]
      }
    }
  }

  private let header: [UInt8]
  private var tags: [[UInt8]] = []

  /// Reads the file at `path`, without its script data.
  package init(path: String) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    header = Array(bytes.prefix(13))
    var rest = bytes.dropFirst(13)
    while rest.count >= 15 {
      let size = rest.dropFirst().prefix(3).reduce(0) { $0 << 8 | Int($1) } + 15
      if rest.first != 18 { tags.append(Array(rest.prefix(size))) }
      rest = rest.dropFirst(size)
    }
  }

  /// Inserts an `onMetaData` before the coded frame with index `frame`, in file order.
  ///
  /// - Parameter time: The tag's time in milliseconds. `nil` uses the decoding time of the frame's tag.
  package mutating func insert(
    _ members: [(String, Value)], beforeFrame frame: Int, time: Int? = nil
  ) throws {
    let frames = tags.indices.filter { tags[$0][0] == 9 && tags[$0][12] == 1 }
    let index = frames[frame]
    let own = tags[index]
    let stamp = time ?? Int(own[7]) << 24 | own[4...6].reduce(0) { $0 << 8 | Int($1) }
    tags.insert(
      Self.tag(Self.body(members), time: stamp), at: frame == 0 ? tags.startIndex : index)
  }

  /// Returns the body of an `onMetaData` script tag.
  package static func body(_ members: [(String, Value)]) -> [UInt8] {
    [2, 0, 10] + Array("onMetaData".utf8) + [8] + MovieWriter.be(members.count, 4)
      + members.flatMap {
        MovieWriter.be($0.0.utf8.count, 2) + Array($0.0.utf8) + $0.1.bytes
      } + [0, 0, 9]
  }

  private static func tag(_ body: [UInt8], time: Int) -> [UInt8] {
    [18] + MovieWriter.be(body.count, 3) + MovieWriter.be(time & 0xFF_FFFF, 3)
      + MovieWriter.be(time >> 24, 1) + [0, 0, 0] + body + MovieWriter.be(body.count + 11, 4)
  }

  package func write(to path: String) throws {
    try Data(header + tags.joined()).write(to: URL(fileURLWithPath: path))
  }
}
