internal import UprightOrientation

/// Writes the `meta` box of a HEIC or AVIF file again, with properties that it lacks. The images after it move, and so do
/// their places in `iloc`.
struct HEIFHeader {
  private let file: any ByteFile
  /// The content of `meta` after version and flags, and where it begins in the file.
  private let meta: [UInt8]
  private let position: Int

  init(_ file: any ByteFile, _ meta: [UInt8], _ position: Int) {
    (self.file, self.meta, self.position) = (file, meta, position)
  }

  /// Returns the edits that give `items` the orientation: new properties at the end of `ipco`, and their numbers in
  /// `ipma` in place of the old ones.
  func edits(
    _ orientation: ImageOrientation, of items: Set<Int>, primary: Int
  ) throws(UprightError) -> [ByteEdit] {
    let all = meta.indices
    guard let properties = MP4Boxes(meta, in: all).first(where: { $0.type == "iprp" }),
      let container = MP4Boxes(meta, in: properties.payload).first(where: { $0.type == "ipco" }),
      let table = MP4Boxes(meta, in: properties.payload).first(where: { $0.type == "ipma" }),
      container.payload.lowerBound - container.whole.lowerBound == 8,
      table.payload.lowerBound - table.whole.lowerBound == 8,
      properties.payload.lowerBound - properties.whole.lowerBound == 8
    else { throw damaged }
    let old = Array(MP4Boxes(meta, in: container.payload))
    let wanted = HEIFOrientation(orientation)
    var added: [UInt8] = []
    var numbers: [Int] = []
    if let irot = wanted.irot {
      added += MP4Box.bytes("irot", [UInt8(truncatingIfNeeded: irot)])
      numbers.append(old.count + numbers.count + 1)
    }
    if let imir = wanted.imir {
      added += MP4Box.bytes("imir", [UInt8(truncatingIfNeeded: imir)])
      numbers.append(old.count + numbers.count + 1)
    }
    let turning = Set(
      old.indices.filter { ["irot", "imir"].contains(old[$0].type) }.map { $0 + 1 })
    let content = try associations(table.payload, items, primary, replacing: turning, by: numbers)
    let grown = content.count - table.payload.count
    let shift = added.count + grown
    guard let header = try metaHeader(shift) else { throw damaged }
    func size(_ box: MP4Box, _ more: Int) -> ByteEdit {
      ByteEdit(
        at: position + box.whole.lowerBound,
        Array(meta[box.whole.lowerBound..<box.whole.lowerBound + 4]),
        .big(box.whole.count + more, bytes: 4))
    }
    var edits = [
      header, size(properties, shift), size(container, added.count), size(table, grown),
      ByteEdit(at: position + container.whole.upperBound, [], added),
      ByteEdit(at: position + table.payload.lowerBound, Array(meta[table.payload]), content),
    ]
    edits += try locations(movedBy: shift)
    edits += try chunkOffsets(movedBy: shift)
    return edits
  }

  private var damaged: UprightError {
    UprightError(
      .badData, "the image's properties can't be added to",
      remedy: "use transcode to turn the image")
  }

  /// The edit of the size of `meta`, which is a full box.
  private func metaHeader(_ shift: Int) throws(UprightError) -> ByteEdit? {
    let start = position - 12
    guard start >= 0 else { return nil }
    let head = try file.bytes(in: start..<start + 8)
    guard let box = MP4Box(header: head, at: start), box.type == "meta", let size = box.size,
      size < 1 << 31
    else { return nil }
    return ByteEdit(at: start, Array(head[..<4]), .big(size + shift, bytes: 4))
  }

  /// Returns the content of `ipma` with other properties that turn (ISO/IEC 23008-12, 9.3.1).
  private func associations(
    _ table: Range<Int>, _ items: Set<Int>, _ primary: Int, replacing turning: Set<Int>,
    by numbers: [Int]
  ) throws(UprightError) -> [UInt8] {
    var reader = ByteReader(meta, table)
    guard let head = reader.count(4), let count = reader.count(4) else { throw damaged }
    let (isWide, isLong) = (head & 1 == 1, head >> 24 != 0)
    guard numbers.allSatisfy({ $0 < (isWide ? 1 << 15 : 1 << 7) }) else { throw damaged }
    var content = [UInt8].big(head, bytes: 4) + [UInt8].big(count, bytes: 4)
    for _ in 0..<count {
      guard let item = reader.count(isLong ? 4 : 2), let old = reader.count(1) else {
        throw damaged
      }
      var kept: [Int] = []
      for _ in 0..<old {
        guard let value = reader.count(isWide ? 2 : 1) else { throw damaged }
        kept.append(value)
      }
      let mask = isWide ? 0x7FFF : 0x7F
      let isTurned = kept.contains { turning.contains($0 & mask) }
      if items.contains(item), item == primary || isTurned {
        kept.removeAll { turning.contains($0 & mask) }
        // A reader must know them, or not show the image.
        kept += numbers.map { $0 | (mask + 1) }
      }
      guard kept.count < 256 else { throw damaged }
      content += [UInt8].big(item, bytes: isLong ? 4 : 2) + [UInt8(kept.count)]
      content += kept.flatMap { [UInt8].big($0, bytes: isWide ? 2 : 1) }
    }
    return content
  }

  /// Returns the edits of the places of items in the file (ISO/IEC 14496-12, 8.11.3).
  private func locations(movedBy shift: Int) throws(UprightError) -> [ByteEdit] {
    guard let table = MP4Boxes.payload(at: "iloc", of: meta, in: meta.indices) else { return [] }
    var reader = ByteReader(meta, table)
    guard let head = reader.count(4), let sizes = reader.count(2) else { throw damaged }
    let version = head >> 24
    let (offsetSize, lengthSize) = (sizes >> 12, sizes >> 8 & 15)
    let (baseSize, indexSize) = (sizes >> 4 & 15, version > 0 ? sizes & 15 : 0)
    guard let items = reader.count(version < 2 ? 2 : 4) else { throw damaged }
    var edits: [ByteEdit] = []
    // Moves a number that is added to `base`, if it leads to what lies after the properties. Returns whether it does.
    func move(_ size: Int, base: Int) throws(UprightError) -> Bool {
      let place = reader.position
      guard size == 0 || size == 4 || size == 8, let value = reader.integer(size),
        let offset = Int(exactly: value), offset < 1 << 60, base < 1 << 60
      else { throw damaged }
      guard base + offset >= position else { return false }
      guard size == 8 || size == 4 && offset + shift < 1 << 32 else { throw damaged }
      edits.append(
        ByteEdit(
          at: position + place, Array(meta[place..<place + size]), .big(offset + shift, bytes: size)
        ))
      return true
    }
    for _ in 0..<items {
      guard reader.skip(version < 2 ? 2 : 4) != nil else { throw damaged }
      // The construction method: 0 is a place in the file.
      let method = version > 0 ? (reader.count(2) ?? 0) & 15 : 0
      guard reader.skip(2) != nil else { throw damaged }
      let start = reader.position
      let base = Int(clamping: reader.integer(baseSize) ?? 0)
      var isMoved = method != 0
      if !isMoved, base >= position {
        reader = ByteReader(meta, start..<table.upperBound)
        isMoved = try move(baseSize, base: 0)
      }
      guard let extents = reader.count(2) else { throw damaged }
      for _ in 0..<extents {
        guard reader.skip(indexSize) != nil else { throw damaged }
        if !isMoved { _ = try move(offsetSize, base: base) } else { reader.skip(offsetSize) }
        reader.skip(lengthSize)
      }
    }
    return edits
  }

  /// Returns the edits of the chunks of an image sequence's tracks.
  private func chunkOffsets(movedBy shift: Int) throws(UprightError) -> [ByteEdit] {
    let index = try TaggedMovie(file)
    var edits: [ByteEdit] = []
    for box in MP4Boxes(index.movie, in: index.movie.indices) where box.type == "trak" {
      guard let track = TaggedTrack(index.movie, box.payload) else { continue }
      for (type, width) in [("stco", 4), ("co64", 8)] as [(MP4BoxType, Int)] {
        guard let table = MP4Boxes.payload(at: type, of: index.movie, in: track.table) else {
          continue
        }
        let entries = table.dropFirst(8)
        let new = index.movie.numbers(in: entries, width: width)
          .flatMap { [UInt8].big($0 >= position ? $0 &+ shift : $0, bytes: width) }
        let place = entries.lowerBound..<entries.lowerBound + new.count
        edits.append(
          ByteEdit(at: index.position + place.lowerBound, Array(index.movie[place]), new))
      }
    }
    return edits
  }
}
