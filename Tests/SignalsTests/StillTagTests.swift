import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightSignals

@Suite("The orientation of still images, changed in their bytes")
struct StillTagTests {
  private static func be(_ value: Int, _ size: Int) -> [UInt8] { MovieWriter.be(value, size) }
  private static func le(_ value: Int, _ size: Int) -> [UInt8] { be(value, size).reversed() }

  static func apply(_ edits: [ByteEdit], to file: [UInt8]) throws -> [UInt8] {
    var (result, position) = ([UInt8](), 0)
    for edit in edits {
      try #require(edit.offset >= position && edit.offset + edit.old.count <= file.count)
      #expect(Array(file[edit.offset..<edit.offset + edit.old.count]) == edit.old)
      result += file[position..<edit.offset] + edit.new
      position = edit.offset + edit.old.count
    }
    return result + file[position...]
  }

  private static func tagged(
    _ file: [UInt8], _ orientation: ImageOrientation
  ) throws -> [UInt8] {
    let format = try #require(try PatchedFormat(file))
    return try apply(format.patch(file, orientation).edits, to: file)
  }

  /// An EXIF structure with these tags of type SHORT in IFD 0.
  private static func exif(_ tags: [(Int, Int)], isLittle: Bool = false) -> [UInt8] {
    func number(_ value: Int, _ size: Int) -> [UInt8] {
      isLittle ? le(value, size) : be(value, size)
    }
    var bytes = Array((isLittle ? "II" : "MM").utf8)
    bytes += number(42, 2) + number(8, 4) + number(tags.count, 2)
    for (tag, value) in tags {
      bytes += number(tag, 2) + number(3, 2) + number(1, 4)
      bytes += number(value, 2) + [0, 0]
    }
    return bytes + number(0, 4)
  }

  private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xFF, marker] + be(content.count + 2, 2) + content
  }

  private static let scan: [UInt8] =
    segment(0xC0, [8, 0, 48, 0, 64, 1, 1, 0x11, 0]) + segment(0xDA, [1, 1, 0, 0, 63, 0])
    + [1, 2, 3, 0xFF, 0, 4, 0xFF, 0xD9]

  private static func jpeg(_ segments: [UInt8]..., trailer: [UInt8] = []) -> [UInt8] {
    [0xFF, 0xD8] + segments.flatMap(\.self) + scan + trailer
  }

  private static func app1(_ exif: [UInt8]) -> [UInt8] {
    segment(0xE1, Array("Exif".utf8) + [0, 0] + exif)
  }

  // MARK: - JPEG

  static let images: [(String, [UInt8], Int)] = [
    ("without EXIF", jpeg(), 36), ("JFIF first", jpeg(segment(0xE0, Array("JFIF".utf8) + [0])), 36),
    ("big-endian", jpeg(app1(exif([(0x10F, 1), (0x112, 8), (0x128, 2)]))), 0),
    ("little-endian", jpeg(app1(exif([(0x112, 3)], isLittle: true))), 0),
    ("EXIF without it", jpeg(app1(exif([(0x10F, 1), (0x128, 2)]))), 42),
    ("little-endian without it", jpeg(app1(exif([(0x8769, 1)], isLittle: true))), 30),
    ("an invalid value", jpeg(app1(exif([(0x112, 9)]))), 0),
    (
      "XMP too",
      jpeg(
        app1(exif([(0x112, 6)])),
        segment(
          0xE1,
          Array("http://ns.adobe.com/xap/1.0/".utf8) + [0]
            + Array(#"<x tiff:Orientation="6"/><tiff:Orientation>6</tiff:Orientation>"#.utf8))), 0
    ),
  ]

  @Test("JPEG: EXIF in place, or inserted; the scan stays bit for bit", arguments: images)
  func jpegs(_ name: String, _ file: [UInt8], _ added: Int) throws {
    for orientation in ImageOrientation.allCases {
      let result = try Self.tagged(file, orientation)
      let found = EXIFOrientation.orientation(inJPEG: result)
      #expect(found == orientation || orientation == .up && found == nil, "\(name), \(orientation)")
      #expect(result.suffix(Self.scan.count) == Self.scan[...])
      if orientation != .up || EXIFOrientation.orientation(inJPEG: file) != nil {
        #expect(result.count == file.count + added, "\(name), \(orientation)")
      }
      let text = String(decoding: result, as: UTF8.self)
      if name == "XMP too" {
        #expect(text.contains("tiff:Orientation=\"\(orientation.exif)\""))
        #expect(text.contains("<tiff:Orientation>\(orientation.exif)<"))
      }
      // Once more, nothing is to be done, and a change is in place.
      #expect(try Self.tagged(result, orientation) == result)
      #expect(
        try Self.tagged(result, .left).count
          == (orientation == .up ? max(result.count, file.count + added) : result.count))
    }
  }

  @Test("JPEG: the index of several pictures has the first one's new size")
  func multiPicture() throws {
    let entry = Self.be(0x0300_0000, 4) + Self.be(500, 4) + Self.be(0, 4) + Self.be(0, 4)
    let index =
      Array("MPF".utf8) + [0] + Array("MM".utf8) + [0, 42] + Self.be(8, 4) + Self.be(1, 2)
      + Self.be(0xB002, 2) + Self.be(7, 2) + Self.be(16, 4) + Self.be(26, 4) + Self.be(0, 4) + entry
    let result = try Self.tagged(Self.jpeg(Self.segment(0xE2, index)), .right)
    // After the index's name come the header of TIFF, one entry, and the attributes of the first picture.
    let place = try #require(result.firstRange(of: Array("MPF".utf8))).lowerBound + 4 + 26 + 4
    #expect(Array(result[place..<place + 4]) == Self.be(536, 4))
  }

  // MARK: - Motion photos

  private static let movie: [UInt8] = {
    var track = MovieWriter.Track(
      handler: "vide",
      entry: MovieWriter.box(
        "avc1", be(0, 6) + be(1, 2) + be(0, 16) + be(64, 2) + be(48, 2) + be(0, 50)),
      samples: [.init([0, 0, 0, 1, 0x65], dts: 0)])
    (track.width, track.height) = (64, 48)
    return MovieWriter(timescale: 10, lastDuration: 10, tracks: [track]).bytes
  }()

  static let motionPhotos: [(String, [UInt8])] = {
    let name = Array("http://ns.adobe.com/xap/1.0/".utf8) + [0]
    func xmp(_ text: String) -> [UInt8] { segment(0xE1, name + Array(text.utf8)) }
    let block = be(0, 2) + le(0x0A30, 2) + le(16, 4) + Array("MotionPhoto_Data".utf8) + movie
    let directory =
      Array("SEFH".utf8) + le(106, 4) + le(1, 4) + be(0, 2) + le(0x0A30, 2) + le(block.count, 4)
      + le(block.count, 4)
    let mine = #"<Container:Item Item:Mime="image/jpeg" Item:Semantic="Primary" Item:Padding="0"/>"#
    let film = #"Item:Mime="video/mp4" Item:Semantic="MotionPhoto""#
    return [
      ("GCamera", jpeg(xmp(#"GCamera:MicroVideoOffset="\#(movie.count)""#), trailer: movie)),
      (
        "Container",
        jpeg(
          xmp(mine + #"<Container:Item \#(film) Item:Length="\#(movie.count)" Item:Padding="0"/>"#),
          trailer: movie)
      ),
      (
        "elements",
        jpeg(
          xmp(mine + #"<Container:Item \#(film)><Item:Length>\#(movie.count)</Item:Length>"#),
          trailer: movie)
      ),
      (
        "Samsung",
        jpeg(
          app1(exif([(0x112, 1)])),
          trailer: block + directory + le(directory.count, 4) + Array("SEFT".utf8))
      ),
    ]
  }()

  @Test("A motion photo's video says the same as its image", arguments: motionPhotos)
  func motionPhoto(_ name: String, _ file: [UInt8]) throws {
    for orientation in [ImageOrientation.right, .down, .leftMirrored] {
      let result = try Self.tagged(file, orientation)
      #expect(EXIFOrientation.orientation(inJPEG: result) == orientation)
      let start = try #require(result.firstRange(of: Array("ftypqt".utf8))).lowerBound - 4
      let video = Array(result[start..<start + Self.movie.count])
      let tag = try MovieTag(video, .up)
      #expect(tag.orientationBefore == orientation, "\(name)")
      #expect(video.count == Self.movie.count)
    }
  }

  // MARK: - PNG and WebP

  private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(type.utf8) + content
    return be(content.count, 4) + body + be(Int(CRC32.of(body)), 4)
  }

  @Test("PNG: eXIf with its checksum")
  func png() throws {
    #expect(CRC32.of(Array("123456789".utf8)) == 0xCBF4_3926)
    let header = Self.chunk("IHDR", Self.be(64, 4) + Self.be(48, 4) + [8, 2, 0, 0, 0])
    let image = Self.chunk("IDAT", [1, 2, 3]) + Self.chunk("IEND", [])
    for own in [[], Self.chunk("eXIf", Self.exif([(0x112, 3)])), Self.chunk("eXIf", Self.exif([]))]
    {
      let file = PNGTag.signature + header + own + image
      let result = try Self.tagged(file, .left)
      #expect(result.suffix(image.count) == image[...])
      let place = try #require(result.firstRange(of: Array("eXIf".utf8))).lowerBound
      let length = result.numbers(in: place - 4..<place, width: 4)[0]
      let body = Array(result[place..<place + 4 + length])
      #expect(TIFFOrientation(Array(body.dropFirst(4)))?.orientation == .left)
      let sum = Array(result[place + 4 + length..<place + 8 + length])
      #expect(sum == Self.be(Int(CRC32.of(body)), 4))
      #expect(try Self.tagged(result, .up).count == result.count)
    }
  }

  @Test("WebP: an EXIF chunk, its flag and the size of the file")
  func webp() throws {
    func riff(_ chunks: [UInt8]) -> [UInt8] {
      Array("RIFF".utf8) + Self.le(chunks.count + 4, 4) + Array("WEBP".utf8) + chunks
    }
    func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
      Array(type.utf8) + Self.le(content.count, 4) + content + (content.count % 2 == 1 ? [0] : [])
    }
    let lossy = chunk("VP8 ", [0, 0, 0, 0x9D, 1, 0x2A] + Self.le(64, 2) + Self.le(48, 2) + [7])
    let lossless = chunk("VP8L", [0x2F] + Self.le(63 | 47 << 14 | 1 << 28, 4) + [7, 8])
    let header = chunk("VP8X", [0x04, 0, 0, 0] + Self.le(63, 3) + Self.le(47, 3))
    let marked = chunk("VP8X", [0x0C, 0, 0, 0] + Self.le(63, 3) + Self.le(47, 3))
    let files = [
      riff(lossy), riff(lossless), riff(header + lossy + chunk("XMP ", [1, 2, 3])),
      riff(marked + lossy + chunk("EXIF", Self.exif([(0x112, 1)]))),
      riff(marked + lossy + chunk("EXIF", Self.exif([(0x10F, 1)]) + [9])),
      riff(marked + lossy + chunk("EXIF", Array("Exif".utf8) + [0, 0] + Self.exif([(0x112, 6)]))),
    ]
    for (index, file) in files.enumerated() {
      let result = try Self.tagged(file, .right)
      #expect(Array(result[4..<8]) == Self.le(result.count - 8, 4), "\(index)")
      #expect(result[12..<16].elementsEqual("VP8X".utf8) && result[20] & 8 == 8, "\(index)")
      #expect(Array(result[24..<30]) == Self.le(63, 3) + Self.le(47, 3))
      #expect((result[20] & 0x10 != 0) == (index == 1))
      let place = try #require(result.firstRange(of: Array("EXIF".utf8))).upperBound
      let length = result[place..<place + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
      var content = Array(result[place + 4..<place + 4 + length])
      if content.starts(with: Array("Exif".utf8)) { content.removeFirst(6) }
      #expect(TIFFOrientation(content)?.orientation == .right, "\(index)")
      #expect(result.firstRange(of: index == 1 ? lossless : lossy) != nil)
      #expect(try Self.tagged(result, .right) == result)
      #expect(try Self.tagged(result, .up).count == result.count)
    }
  }

  // MARK: - HEIC and AVIF

  /// A file with an image in two places: one item with these properties, each a box, and their associations.
  private static func heif(
    _ properties: [[UInt8]], isWide: Bool, base: Bool
  ) -> (file: [UInt8], data: [UInt8]) {
    func box(_ type: String, _ content: [UInt8]) -> [UInt8] { MovieWriter.box(type, content) }
    let data: [UInt8] = [11, 22, 33, 44, 55]
    func meta(_ offset: Int) -> [UInt8] {
      let item = be(1, 2) + be(0, 2) + be(0, 2)
      let iloc =
        base
        ? be(1 << 24, 4) + be(0x4440, 2) + be(1, 2) + item + be(offset, 4) + be(2, 2)
          + (be(0, 4) + be(2, 4) + be(2, 4) + be(3, 4))
        : be(1 << 24, 4) + be(0x4400, 2) + be(1, 2) + item + be(2, 2)
          + (be(offset, 4) + be(2, 4) + be(offset + 2, 4) + be(3, 4))
      let numbers = properties.indices.flatMap {
        be($0 + 1 | (isWide ? 0x8000 : 0x80), isWide ? 2 : 1)
      }
      let table = be(isWide ? 1 : 0, 4) + be(1, 4) + be(1, 2) + [UInt8(properties.count)] + numbers
      return box(
        "meta",
        be(0, 4) + box("hdlr", be(0, 8) + Array("pict".utf8) + be(0, 13))
          + box("pitm", be(0, 4) + be(1, 2)) + box("iloc", iloc)
          + box(
            "iprp", box("ipco", properties.flatMap(\.self)) + box("ipma", table)))
    }
    let type = box("ftyp", Array("heic".utf8) + be(0, 4) + Array("mif1".utf8))
    let size = type.count + meta(0).count + 8
    return (type + meta(size) + box("mdat", data), data)
  }

  /// Reads the orientation of the only item, and its data by `iloc`.
  private static func read(_ file: [UInt8]) throws -> (ImageOrientation?, [UInt8]) {
    let index = try TaggedMovie(file)
    let meta = index.meta.dropFirst(4)
    let container = try #require(MP4Boxes.payload(at: "iprp", "ipco", of: file, in: meta))
    let boxes = Array(MP4Boxes(file, in: container))
    let table = try #require(MP4Boxes.payload(at: "iprp", "ipma", of: file, in: meta))
    let isWide = file[table.lowerBound + 3] == 1
    let count = Int(file[table.lowerBound + 10])
    let numbers = file.numbers(
      in: table.lowerBound + 11..<table.lowerBound + 11 + count * (isWide ? 2 : 1),
      width: isWide ? 2 : 1)
    let properties = numbers.map { boxes[($0 & (isWide ? 0x7FFF : 0x7F)) - 1] }
    func value(_ type: MP4BoxType) -> Int? {
      properties.first { $0.type == type }.map { Int(file[$0.payload.lowerBound]) }
    }
    let places = try #require(MP4Boxes.payload(at: "iloc", of: file, in: meta))
    let base = file[places.lowerBound + 5] == 0x40
    var position = places.lowerBound + 14
    let start = base ? file.numbers(in: position..<position + 4, width: 4)[0] : 0
    if base { position += 4 }
    let extents = file.numbers(in: position + 2..<position + 18, width: 4)
    let data = [(extents[0], extents[1]), (extents[2], extents[3])]
      .flatMap { file[start + $0.0..<start + $0.0 + $0.1] }
    return (HEIFOrientation(irot: value("irot"), imir: value("imir")).orientation, data)
  }

  static let properties: [(String, [[UInt8]])] = {
    func box(_ type: String, _ content: [UInt8]) -> [UInt8] { MovieWriter.box(type, content) }
    let size = box("ispe", be(0, 4) + be(64, 4) + be(48, 4))
    let (rotation, mirror) = (box("irot", [3]), box("imir", [1]))
    return [
      ("none", [size]), ("irot", [size, rotation]), ("imir", [size, mirror]),
      ("both", [size, rotation, mirror]),
    ]
  }()

  @Test("HEIC: irot and imir in place, or in a new header", arguments: properties)
  func heic(_ name: String, _ properties: [[UInt8]]) throws {
    for (isWide, base) in [(false, false), (true, true)] {
      let (file, data) = Self.heif(properties, isWide: isWide, base: base)
      #expect(try Self.read(file).1 == data)
      for orientation in ImageOrientation.allCases {
        let result = try Self.tagged(file, orientation)
        let (found, moved) = try Self.read(result)
        #expect(found == orientation, "\(name), \(orientation)")
        #expect(moved == data)
        if name == "both" { #expect(result.count == file.count) }
        #expect(try Self.tagged(result, orientation) == result)
      }
    }
  }

  // MARK: - Damage

  @Test("Any damage: an error or a result, never a crash", arguments: 0..<8)
  func hostile(_ part: Int) throws {
    var random = SeededGenerator()
    let files =
      Self.images.map(\.1) + Self.motionPhotos.map(\.1)
      + Self.properties.map { Self.heif($0.1, isWide: true, base: true).file }
    for _ in 0..<400 {
      var file = files.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        file[Int.random(in: file.indices, using: &random)] =
          [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
          .randomElement(using: &random) ?? 0
      }
      if Bool.random(using: &random) {
        file.removeLast(Int.random(in: 0..<file.count, using: &random))
      }
      guard let format = try PatchedFormat(file), let patch = try? format.patch(file, .right) else {
        continue
      }
      _ = try Self.apply(patch.edits, to: file)
    }
  }
}
