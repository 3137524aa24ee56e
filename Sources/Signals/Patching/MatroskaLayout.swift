internal import UprightOrientation

/// The changes of a Matroska file's elements. Where one of them grows, a Void element before the first cluster gives it
/// room; else what follows moves, and all places that the file contains are corrected: SeekHead, Cues, the positions of
/// clusters, checksums and the size of the segment.
struct MatroskaLayout {
  private let file: any ByteFile
  private let index: MatroskaFile
  /// Changes that move nothing.
  private var overwrites: [ByteEdit] = []
  /// The new content of elements.
  private var contents: [MatroskaElement: [UInt8]] = [:]
  /// The largest part of a file that is written again so that the rest stays where it is.
  private static let largestHeader = 1 << 22
  private static let largestElement = 256 << 20

  init(_ file: any ByteFile, _ index: MatroskaFile) { (self.file, self.index) = (file, index) }

  mutating func overwrite(_ edit: ByteEdit) {
    if let edit = edit.trimmed { overwrites.append(edit) }
  }

  mutating func replace(_ element: MatroskaElement, content: [UInt8]) {
    contents[element] = content
  }

  /// Returns the edits, in no order.
  func edits() throws(UprightError) -> [ByteEdit] {
    guard !contents.isEmpty else {
      return try overwrites + checksums(of: overwrites)
    }
    var sizes: [MatroskaElement: [UInt8]] = [:]
    // Numbers that need more bytes move what follows, until none does.
    for _ in 0..<16 {
      let next = try layout(sizes)
      if next == sizes { return try edits(sizes) }
      sizes = next
    }
    throw UprightError(
      .fault, "the header's places can't be corrected", remedy: "use transcode to turn the frames")
  }

  // MARK: - The places of elements

  /// Returns the new bytes of the elements that change, where these have the sizes of `bytes`.
  private func layout(
    _ bytes: [MatroskaElement: [UInt8]]
  ) throws(UprightError) -> [MatroskaElement: [UInt8]] {
    let start = index.segment.content.lowerBound
    var moved: [Int: Int] = [:]
    var position = start
    for element in index.elements {
      moved[element.whole.lowerBound - start] = position - start
      position += bytes[element]?.count ?? element.whole.count
    }
    var next: [MatroskaElement: [UInt8]] = [:]
    for (element, content) in contents {
      next[element] = try whole(element, content)
    }
    for element in index.elements where contents[element] == nil {
      guard [MatroskaID.seekHead, MatroskaID.cues].contains(element.id) else { continue }
      let old = try content(of: element)
      let new = Self.corrected(old, old.indices, moved)
      if new != old { next[element] = try whole(element, new) }
    }
    reserveRoom(&next)
    return next
  }

  /// Makes a Void element before the first cluster smaller, if one has the room.
  private func reserveRoom(_ bytes: inout [MatroskaElement: [UInt8]]) {
    let header = index.elements.prefix { $0.id != MatroskaID.cluster }
    let growth = header.reduce(0) {
      $0 + (bytes[$1].map(\.count) ?? $1.whole.count) - $1.whole.count
    }
    guard growth > 0 else { return }
    let room = header.first {
      $0.id == MatroskaID.void && ($0.whole.count == growth || $0.whole.count >= growth + 2)
    }
    guard let room, room.whole.count <= Self.largestHeader else { return }
    bytes[room] = room.whole.count == growth ? [] : MatroskaElement.void(room.whole.count - growth)
  }

  /// Returns the content of SeekHead or Cues with the places in it corrected.
  private static func corrected(_ bytes: [UInt8], _ range: Range<Int>, _ moved: [Int: Int])
    -> [UInt8]
  {
    var result: [UInt8] = []
    for element in MatroskaElement.children(bytes, in: range) {
      switch element.id {
      case MatroskaID.seek, MatroskaID.cuePoint, MatroskaID.cuePositions:
        let inside = corrected(bytes, element.content, moved)
        result += MatroskaElement.bytes(element.id, inside, sizeLength: sizeLength(element))
      case MatroskaID.seekPosition, MatroskaID.cueClusterPosition, MatroskaID.cueCodecState:
        let old = bytes[element.content].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard element.content.count <= 8, let new = Int(exactly: old).flatMap({ moved[$0] }) else {
          result += bytes[element.whole]
          continue
        }
        let needed = max(1, 8 - new.leadingZeroBitCount / 8)
        let content = [UInt8].big(new, bytes: max(element.content.count, needed))
        result += MatroskaElement.bytes(element.id, content, sizeLength: sizeLength(element))
      default: result += bytes[element.whole]
      }
    }
    return result
  }

  private static func sizeLength(_ element: MatroskaElement) -> Int {
    let identifier = 4 - element.id.leadingZeroBitCount / 8
    return element.content.lowerBound - element.whole.lowerBound - identifier
  }

  // MARK: - Bytes

  private func content(of element: MatroskaElement) throws(UprightError) -> [UInt8] {
    guard element.content.count <= Self.largestElement else {
      throw UprightError(
        .badData, "an element of the header has \(element.content.count) bytes",
        remedy: "use transcode to turn the frames")
    }
    return try file.bytes(in: element.content)
  }

  /// Returns an element with new content and the checksum of it.
  private func whole(_ element: MatroskaElement, _ content: [UInt8]) throws(UprightError) -> [UInt8]
  {
    var content = content
    if let checksum = Self.checksum(content) { content.replaceSubrange(2..<6, with: checksum) }
    return MatroskaElement.bytes(element.id, content, sizeLength: Self.sizeLength(element))
  }

  /// Returns the bytes of the CRC-32 with which a content begins, as they should be (RFC 8794, 11.3.1); `nil` if there is none.
  private static func checksum(_ content: [UInt8]) -> [UInt8]? {
    guard content.count >= 6, content[0] == 0xBF, content[1] == 0x84 else { return nil }
    return [UInt8].big(Int(CRC32.of(content[6...])), bytes: 4).reversed()
  }

  /// Returns the edits of the checksums of elements that `changes` are in.
  private func checksums(of changes: [ByteEdit]) throws(UprightError) -> [ByteEdit] {
    var edits: [ByteEdit] = []
    var changes = changes.sorted { $0.offset < $1.offset }[...]
    for element in index.elements where contents[element] == nil {
      let own = changes.prefix { $0.offset < element.whole.upperBound }
      changes = changes.dropFirst(own.count)
      guard !own.isEmpty else { continue }
      let head = try file.bytes(in: element.content.lowerBound..<element.content.lowerBound + 6)
      guard head.starts(with: [0xBF, 0x84]), head.count == 6 else { continue }
      var content = try content(of: element)
      for edit in own { Self.apply(edit, to: &content, at: element.content.lowerBound) }
      guard let new = Self.checksum(content) else { continue }
      let edit = ByteEdit(at: element.content.lowerBound + 2, Array(head[2...]), new)
      if let edit = edit.trimmed { edits.append(edit) }
    }
    return edits
  }

  private static func apply(_ edit: ByteEdit, to bytes: inout [UInt8], at start: Int) {
    let place = edit.offset - start..<edit.offset - start + edit.old.count
    guard place.lowerBound >= 0, place.upperBound <= bytes.count else { return }
    bytes.replaceSubrange(place, with: edit.new)
  }

  // MARK: - The edits

  private func edits(_ bytes: [MatroskaElement: [UInt8]]) throws(UprightError) -> [ByteEdit] {
    let shift = bytes.reduce(0) { $0 + $1.value.count - $1.key.whole.count }
    let positions = try clusterPositions(bytes)
    var small = overwrites + positions
    small += try checksums(of: small)
    let changed = index.elements.filter { bytes[$0] != nil }
    if shift != 0 {
      if let edit = try segmentSize(movedBy: shift) { small.append(edit) }
    } else if let first = changed.first, let last = changed.last,
      last.whole.upperBound - first.whole.lowerBound <= Self.largestHeader
    {
      // Nothing after them moves: they and what is between them are one change in place.
      let region = first.whole.lowerBound..<last.whole.upperBound
      let old = try file.bytes(in: region)
      var new: [UInt8] = []
      for element in index.elements where region.overlaps(element.whole) {
        var own = Array(
          old[
            element.whole.lowerBound - region.lowerBound..<element.whole.upperBound
              - region.lowerBound])
        for edit in small where element.whole.contains(edit.offset) {
          Self.apply(edit, to: &own, at: element.whole.lowerBound)
        }
        new += bytes[element] ?? own
      }
      small.removeAll { region.contains($0.offset) }
      if let edit = ByteEdit(at: region.lowerBound, old, new).trimmed { small.append(edit) }
      return small
    }
    for element in changed {
      let old = try file.bytes(in: element.whole)
      if let edit = ByteEdit(at: element.whole.lowerBound, old, bytes[element] ?? old).trimmed {
        small.append(edit)
      }
    }
    return small
  }

  /// Returns the edits of the positions that clusters say of themselves (RFC 9559, 5.1.3.2). One that doesn't fit becomes
  /// a Void element.
  private func clusterPositions(_ bytes: [MatroskaElement: [UInt8]]) throws(UprightError)
    -> [ByteEdit]
  {
    var edits: [ByteEdit] = []
    var shift = 0
    for element in index.elements {
      defer { shift += (bytes[element]?.count ?? element.whole.count) - element.whole.count }
      guard element.id == MatroskaID.cluster, shift != 0 else { continue }
      let head = try file.bytes(
        in: element.content
          .lowerBound..<min(element.content.upperBound, element.content.lowerBound + 64))
      // It comes before the blocks.
      let position = MatroskaElement.children(head, in: head.indices)
        .first { $0.id == MatroskaID.position && (1...8).contains($0.content.count) }
      guard let position else { continue }
      let value = element.whole.lowerBound + shift - index.segment.content.lowerBound
      let old = Array(head[position.whole])
      var new = old
      let count = position.content.count
      if count == 8 || value >> (8 * count) == 0 {
        new.replaceSubrange(new.count - count..<new.count, with: [UInt8].big(value, bytes: count))
      } else {
        new[0] = UInt8(MatroskaID.void)
      }
      let place = element.content.lowerBound + position.whole.lowerBound
      if let edit = ByteEdit(at: place, old, new).trimmed { edits.append(edit) }
    }
    return edits
  }

  private func segmentSize(movedBy shift: Int) throws(UprightError) -> ByteEdit? {
    guard let size = index.segmentSize else { return nil }
    let place = index.segment.whole.lowerBound + 4..<index.segment.content.lowerBound
    let old = try file.bytes(in: place)
    let new = MatroskaElement.size(min(size, 1 << 60) + shift, length: old.count)
    guard new.count == old.count else {
      throw UprightError(
        .badData, "the segment's size has no room", remedy: "use transcode to turn the frames")
    }
    return ByteEdit(at: place.lowerBound, old, new)
  }
}
