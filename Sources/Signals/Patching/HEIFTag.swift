internal import UprightOrientation

/// Changes the rotation (`irot`) and mirroring (`imir`) of the images in a HEIC or AVIF file (ISO/IEC 23008-12, 6.5.10 and
/// 6.5.12): those of the primary item, of what is derived from it and of what goes with it.
struct HEIFTag {
  private let file: any ByteFile
  /// The content of the `meta` box after version and flags, and where it begins in the file.
  private let meta: [UInt8]
  private let position: Int
  private let properties: [MP4Box]
  private let associations: [Association]
  private let primary: Int
  private let damage: String?
  private let hasMovie: Bool
  private static let largest = 64 << 20

  /// A property of an item: where its index is, and how many bytes it has.
  private struct Association {
    let item: Int
    /// The number of the property from 1, and whether a reader must know it.
    let property: Int
    let place: Range<Int>
  }

  static func patch(
    _ file: any ByteFile, _ orientation: ImageOrientation, isForced: Bool
  ) throws(UprightError) -> OrientationPatch {
    try HEIFTag(file).patch(orientation, isForced: isForced)
  }

  init(_ file: any ByteFile) throws(UprightError) {
    self.file = file
    let index = try TaggedMovie(file)
    damage = index.damage
    hasMovie = !index.movie.isEmpty
    let range = index.meta.dropFirst(4)
    guard !range.isEmpty, range.count <= Self.largest else {
      throw UprightError(.badData, "the file has no image", remedy: "the file is truncated")
    }
    meta = try file.bytes(in: range)
    position = range.lowerBound
    let all = meta.indices
    guard let item = MP4Boxes.payload(at: "pitm", of: meta, in: all),
      let container = MP4Boxes.payload(at: "iprp", "ipco", of: meta, in: all),
      let table = MP4Boxes.payload(at: "iprp", "ipma", of: meta, in: all)
    else {
      throw UprightError(
        .badData, "the file has no primary image with properties", remedy: "the file is damaged")
    }
    var reader = ByteReader(meta, item)
    let version = reader.count(4) ?? 0
    primary = reader.count(version >> 24 == 0 ? 2 : 4) ?? 0
    properties = Array(MP4Boxes(meta, in: container).prefix(1 << 15))
    associations = Self.associations(meta, table)
  }

  private static func associations(_ meta: [UInt8], _ table: Range<Int>) -> [Association] {
    var reader = ByteReader(meta, table)
    guard let head = reader.count(4), let items = reader.count(4) else { return [] }
    let isWide = head & 1 == 1
    var found: [Association] = []
    for _ in 0..<items {
      guard let item = reader.count(head >> 24 == 0 ? 2 : 4), let count = reader.count(1) else {
        break
      }
      for _ in 0..<count {
        let place = reader.position
        guard let value = reader.count(isWide ? 2 : 1) else { return found }
        found.append(
          Association(
            item: item, property: value & (isWide ? 0x7FFF : 0x7F), place: place..<reader.position))
      }
    }
    return found
  }

  // MARK: - Items and properties

  /// The primary item, its thumbnails and its auxiliary images, which are shown or used as it is.
  private var shown: Set<Int> {
    guard let references = MP4Boxes.payload(at: "iref", of: meta, in: meta.indices) else {
      return [primary]
    }
    var items: Set<Int> = [primary]
    let isWide = meta[references].first == 1
    for box in MP4Boxes(meta, in: references.dropFirst(4))
    where ["thmb", "auxl"].contains(box.type) {
      var reader = ByteReader(meta, box.payload)
      guard let from = reader.count(isWide ? 4 : 2), let count = reader.count(2) else { continue }
      for _ in 0..<count {
        guard let to = reader.count(isWide ? 4 : 2) else { break }
        if to == primary { items.insert(from) }
      }
    }
    return items
  }

  private func property(_ type: MP4BoxType, of item: Int) -> MP4Box? {
    associations.first { $0.item == item && box($0.property)?.type == type }
      .flatMap { box($0.property) }
  }

  private func box(_ number: Int) -> MP4Box? {
    properties.indices.contains(number - 1) ? properties[number - 1] : nil
  }

  private func value(_ type: MP4BoxType, of item: Int) -> Int? {
    property(type, of: item).flatMap { meta[$0.payload].first }.map { Int($0) }
  }

  /// The orientation of the primary item.
  var old: ImageOrientation? {
    HEIFOrientation(
      irot: value("irot", of: primary).map { $0 & 3 },
      imir: value("imir", of: primary).map { $0 & 1 }
    ).orientation
  }

  var size: PixelSize {
    guard let box = property("ispe", of: primary) else { return PixelSize(0, 0) }
    let numbers = meta.numbers(in: box.payload.dropFirst(4), width: 4)
    return numbers.count == 2 ? PixelSize(numbers[0], numbers[1]) : PixelSize(0, 0)
  }

  // MARK: - The edits

  private func patch(
    _ orientation: ImageOrientation, isForced: Bool
  ) throws(UprightError) -> OrientationPatch {
    var patch = OrientationPatch()
    (patch.codec, patch.size) = (codec, size)
    if let damage { patch.damage.append(damage) }
    if old != orientation {
      for edit in try edits(orientation) { patch.add(edit) }
    }
    if let video = try attachedVideo() {
      let still = StillOrientation(size: size, old: old ?? .up, new: orientation)
      try patch.add(video: video, of: file, still, isForced: isForced)
    }
    // An image sequence has tracks too.
    if hasMovie {
      for edit in try MovieTag.patch(file, orientation, isForced: isForced).edits {
        patch.add(edit)
      }
    }
    return try patch.ordered()
  }

  private var codec: String {
    associations.contains { $0.item == primary && box($0.property)?.type == "av1C" }
      || MP4Boxes(meta, in: meta.indices).contains {
        meta[$0.payload].firstRange(of: Array("av01".utf8)) != nil
      }
      ? "av1" : "hevc"
  }

  /// The video of a motion photo: a box of its own after the images (`mpvd`).
  func attachedVideo() throws(UprightError) -> Range<Int>? {
    var place = 0
    for _ in 0..<64 {
      let head = try file.bytes(in: place..<place + 16)
      guard let box = MP4Box(header: head, at: place), box.whole.upperBound <= file.size else {
        break
      }
      if box.type == "mpvd" { return box.payload }
      place = box.whole.upperBound
    }
    return try MotionPhoto.video(of: file, [])
  }

  /// Returns the edits in place, if both properties that are needed are there.
  private func edits(_ orientation: ImageOrientation) throws(UprightError) -> [ByteEdit] {
    let wanted = HEIFOrientation(orientation)
    var edits: [ByteEdit] = []
    for item in shown {
      let (rotation, mirror) = (property("irot", of: item), property("imir", of: item))
      // An item without either, such as a thumbnail that is stored upright, isn't turned.
      if item != primary, rotation == nil, mirror == nil { continue }
      guard wanted.irot ?? 0 == 0 || rotation != nil, wanted.imir == nil || mirror != nil else {
        return try HEIFHeader(file, meta, position).edits(orientation, of: shown, primary: primary)
      }
      if let rotation { edits += edit(rotation, wanted.irot ?? 0, mask: 3) }
      guard let mirror else { continue }
      if let axis = wanted.imir {
        edits += edit(mirror, axis, mask: 1)
      } else {
        // A property that isn't one any more, and that a reader need not know.
        edits.append(
          ByteEdit(
            at: position + mirror.whole.lowerBound + 4, Array("imir".utf8), Array("free".utf8)))
        let number = properties.firstIndex(of: mirror).map { $0 + 1 }
        for association in associations where association.property == number {
          let byte = association.place.lowerBound
          edits.append(ByteEdit(at: position + byte, [meta[byte]], [meta[byte] & 0x7F]))
        }
      }
    }
    return edits
  }

  private func edit(_ box: MP4Box, _ value: Int, mask: UInt8) -> [ByteEdit] {
    guard let byte = meta[box.payload].first else { return [] }
    let new = byte & ~mask | UInt8(truncatingIfNeeded: value) & mask
    return [ByteEdit(at: position + box.payload.lowerBound, [byte], [new])]
  }
}
