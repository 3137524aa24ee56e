import Foundation

/// Packs the frames of MPEG-4 video in AVI as DivX and Xvid do: a chunk has a reference and the B frame that is shown before
/// it, so that a decoder that doesn't delay frames shows one for each chunk.
package enum PackedAVI {
  /// A frame that isn't coded, which repeats the one before it (ISO/IEC 14496-2, 6.2.5), at 30 frames per second.
  private static let empty: [UInt8] = [0, 0, 1, 0xB6, 0x50, 0x5F]
  /// By which DivX says that frames are packed.
  private static let note: [UInt8] = [0, 0, 1, 0xB2] + Array("DivX503b1393p".utf8)

  /// Returns a file whose only stream, MPEG-4 video, is packed.
  package static func packed(_ avi: Data) -> Data {
    let bytes = Array(avi)
    let start = bytes.place(of: Array("movi".utf8))
    var chunks: [[UInt8]] = []
    var place = start + 4
    while place + 8 <= bytes.count, bytes[place..<place + 4].elementsEqual("00dc".utf8) {
      let size = Int(number(bytes, at: place + 4))
      chunks.append(Array(bytes[place + 8..<place + 8 + size]))
      place += 8 + size + size % 2
    }
    chunks = pack(chunks.filter { !$0.isEmpty })
    var movie = Array("movi".utf8)
    var index: [UInt8] = []
    for chunk in chunks {
      let isKey = kind(of: chunk) == 0
      index += Array("00dc".utf8) + four(isKey ? 0x10 : 0) + four(movie.count) + four(chunk.count)
      movie += Array("00dc".utf8) + four(chunk.count) + chunk + (chunk.count % 2 == 1 ? [0] : [])
    }
    var file = Array(bytes[..<(start - 4)]) + four(movie.count) + movie
    file += Array("idx1".utf8) + four(index.count) + index
    file.replaceSubrange(4..<8, with: four(file.count - 8))
    return Data(file)
  }

  private static func pack(_ chunks: [[UInt8]]) -> [[UInt8]] {
    var packed: [[UInt8]] = []
    var isOpen = false
    for (index, chunk) in chunks.enumerated() {
      if kind(of: chunk) != 2 {
        if isOpen { packed.append(empty) }
        isOpen = false
        packed.append(index == 0 ? noted(chunk) : chunk)
      } else if isOpen {
        packed.append(chunk)
      } else {
        packed[packed.count - 1] += chunk
        isOpen = true
      }
    }
    return isOpen ? packed + [empty] : packed
  }

  /// Returns the coding type of the first frame: 0 I, 1 P, 2 B.
  private static func kind(of chunk: [UInt8]) -> UInt8 {
    chunk[chunk.place(of: [0, 0, 1, 0xB6]) + 4] >> 6
  }

  private static func noted(_ chunk: [UInt8]) -> [UInt8] {
    let frame = chunk.place(of: [0, 0, 1, 0xB6])
    return chunk[..<frame] + note + chunk[frame...]
  }

  private static func number(_ bytes: [UInt8], at place: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << (8 * UInt32($1)) }
  }

  private static func four(_ number: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }
}

extension [UInt8] {
  /// Returns where `bytes` begin, which must be there.
  fileprivate func place(of bytes: [UInt8]) -> Int {
    indices.first { self[$0...].starts(with: bytes) } ?? 0
  }
}
