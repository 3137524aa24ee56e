/// A box of an ISO base media file (ISO/IEC 14496-12, 4.2) and its position.
struct MovieBox {
  let type: String
  let whole: Range<Int>
  let payload: Range<Int>

  /// Returns the consecutive boxes in `range`, up to the first incomplete one.
  static func all(in bytes: [UInt8], _ range: Range<Int>) -> [MovieBox] {
    var boxes: [MovieBox] = []
    var place = range.lowerBound
    while place + 8 <= range.upperBound {
      var size = bytes.number(at: place, bytes: 4)
      var header = 8
      if size == 1, place + 16 <= range.upperBound {
        size = bytes.number(at: place + 8, bytes: 8)
        header = 16
      }
      guard size >= header, size <= range.upperBound - place else { break }
      boxes.append(
        MovieBox(
          type: String(decoding: bytes[place + 4..<place + 8], as: UTF8.self),
          whole: place..<place + size, payload: place + header..<place + size))
      place += size
    }
    return boxes
  }

  /// Returns a box of `type` that contains `payload`.
  static func bytes(_ type: String, _ payload: [UInt8]) -> [UInt8] {
    [UInt8].big(payload.count + 8, bytes: 4) + Array(type.utf8) + payload
  }
}

extension [UInt8] {
  /// Reads a big-endian number; `bytes` is 4 or 8. Files written by Upright have no numbers above 2^62.
  func number(at place: Int, bytes: Int) -> Int {
    self[place..<place + bytes].reduce(0) { ($0 & Int.max >> 8) << 8 | Int($1) }
  }

  mutating func put(_ number: Int, at place: Int, bytes: Int) {
    replaceSubrange(place..<place + bytes, with: Self.big(number, bytes: bytes))
  }

  static func big(_ number: Int, bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * (bytes - 1 - $0))) }
  }

  /// Adds `growth` to the chunk offsets of every track of this movie box. Returns `false` if an offset would
  /// not fit its 32 or 64 bits; the bytes are then invalid.
  mutating func moveChunks(by growth: Int) -> Bool {
    var tables: [MovieBox] = []
    func search(_ range: Range<Int>, _ path: ArraySlice<String>) {
      for box in MovieBox.all(in: self, range) {
        if let next = path.first {
          if box.type == next { search(box.payload, path.dropFirst()) }
        } else if box.type == "stco" || box.type == "co64" {
          tables.append(box)
        }
      }
    }
    search(indices, ["moov", "trak", "mdia", "minf", "stbl"])
    for table in tables {
      let width = table.type == "stco" ? 4 : 8
      for place in stride(
        from: table.payload.lowerBound + 8, through: table.payload.upperBound - width, by: width)
      {
        let (offset, overflow) = number(at: place, bytes: width).addingReportingOverflow(growth)
        if overflow || width == 4 && offset > Int(UInt32.max) { return false }
        put(offset, at: place, bytes: width)
      }
    }
    return true
  }
}
