import Foundation
import Testing
import UprightOrientation
import UprightTestSupport

/// A clip whose stored frames are grey, with a white disc in the middle of the part that is shown and a black
/// square in that part's top left corner. What a player shows is computed here from the numbers in the file.
struct ShapeClip: CustomTestStringConvertible, Sendable {
  enum Container: String, Sendable { case mp4, mov, mkv, ts }

  /// Where the sample aspect ratio is.
  enum Source: Sendable {
    /// `pasp`, and another ratio in the bitstream if `vui` is set.
    case spacing
    /// The track's width and height (`tkhd`).
    case track
    /// QuickTime's `clef`.
    case aperture
    /// DisplayWidth and DisplayHeight.
    case display
    case bitstream
  }

  var container = Container.mp4
  var source = Source.spacing
  var ratio = Rational(1, 1)
  /// The ratio in the bitstream that the container contradicts.
  var vui: Rational?
  /// The part that is shown, by `clap` or PixelCrop.
  var crop: PixelRect?
  var scale = (across: 1.0, down: 1.0)
  var orientation = ImageOrientation.up
  var codec = "libx264"
  var format = "yuv420p"

  static let stored = PixelSize(160, 96)
  static let disc = 48
  static let corner = 16

  var testDescription: String {
    let parts = [
      "\(container)", "\(source) \(ratio)", vui.map { "VUI \($0)" },
      crop.map { "crop \($0.x),\($0.y) \($0.size)" },
      scale == (1, 1) ? nil : "scale \(scale.across)x\(scale.down)", orientation.name, codec,
      format,
    ]
    return parts.compactMap(\.self).joined(separator: " ")
  }

  private var part: PixelRect { crop ?? PixelRect(Self.stored) }

  /// The lengths of a stored pixel's sides as they are shown.
  private var pixel: (width: Double, height: Double) {
    let ratio = Double(ratio.numerator) / Double(ratio.denominator)
    return (ratio * scale.across, scale.down)
  }

  /// Returns a size in stored pixels as it is shown, upright.
  func shown(_ width: Int, _ height: Int) -> (width: Double, height: Double) {
    let (width, height) = (Double(width) * pixel.width, Double(height) * pixel.height)
    return orientation.swapsAxes ? (height, width) : (width, height)
  }

  /// The size that a player shows.
  var shownSize: (width: Double, height: Double) { shown(part.width, part.height) }

  /// Writes the clip with `frames` frames, and returns its path.
  func write(_ scratch: Scratch, frames: Int = 3) throws -> String {
    let path = scratch.path("clip.\(container)")
    let coded = scratch.path("coded.mp4")
    let own = vui ?? (source == .bitstream ? ratio : nil)
    let centre = (part.x + part.width / 2, part.y + part.height / 2)
    let picture =
      "geq=lum='if(lt(hypot(X-\(centre.0)+0.5,Y-\(centre.1)+0.5),\(Self.disc / 2)),235,"
      + "if(gte(X,\(part.x))*lt(X,\(part.x + Self.corner))*gte(Y,\(part.y))"
      + "*lt(Y,\(part.y + Self.corner)),16,128))':cb=128:cr=128"
    let shape = own.map { "\($0.numerator)/\($0.denominator)" } ?? "0"
    try FFmpegTool.run(
      [
        "-f", "lavfi", "-i",
        "color=gray:s=\(Self.stored):r=25,format=yuv420p,\(picture),format=\(format),setsar=\(shape)",
        "-frames:v", "\(frames)", "-c:v", codec, "-preset", "ultrafast", "-crf", "8",
      ] + (codec == "libx265" ? ["-tag:v", "hvc1", "-x265-params", "log-level=none"] : [])
        + ["-bf", "0", "-g", "4", coded])
    switch container {
    case .mp4, .mov: try writeMovie(coded, to: path)
    case .ts: try FFmpegTool.run(["-i", coded, "-c", "copy", path])
    case .mkv:
      let display = Rational(
        part.width * ratio.numerator, part.height * ratio.denominator)
      // The ratio of the whole frame, from which libavformat computes DisplayWidth.
      let aspect = ["-aspect", "\(display.numerator):\(display.denominator)"]
      try FFmpegTool.run(
        ["-i", coded, "-c", "copy"] + (source == .display ? aspect : []) + [path])
      if let crop {
        func edge(_ low: UInt8, _ value: Int) -> [UInt8] {
          EBMLPatch.element([0x54, low], MovieWriter.be(value, 2))
        }
        try EBMLPatch.addToVideo(
          edge(0xCC, crop.x) + edge(0xBB, crop.y)
            + edge(0xDD, Self.stored.width - crop.x - crop.width)
            + edge(0xAA, Self.stored.height - crop.y - crop.height), to: path)
      }
    }
    return path
  }

  /// Writes the samples of `coded` with boxes of this clip's own.
  private func writeMovie(_ coded: String, to path: String) throws {
    let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: coded)))
    let packets = try FFmpegTool.probe(coded, ["-show_packets"])["packets"].array
    let samples = packets.compactMap { packet -> MovieWriter.Sample? in
      guard let position = packet["pos"].string.flatMap(Int.init),
        let size = packet["size"].string.flatMap(Int.init), let pts = packet["pts"].int
      else { return nil }
      return MovieWriter.Sample(
        Array(file[position..<position + size]), dts: pts,
        isKey: packet["flags"].string?.hasPrefix("K") == true)
    }
    let name = codec == "libx265" ? "hvc1" : "avc1"
    var entry = Self.content(name, in: file).prefix(78)
    entry += MovieWriter.box(
      codec == "libx265" ? "hvcC" : "avcC",
      Self.content(codec == "libx265" ? "hvcC" : "avcC", in: file))
    if let crop {
      // The centre of the aperture, from that of the frame, in halves of a pixel.
      let x = 2 * crop.x + crop.width - Self.stored.width
      let y = 2 * crop.y + crop.height - Self.stored.height
      entry += MovieWriter.box(
        "clap",
        [crop.width, 1, crop.height, 1, x, 2, y, 2].flatMap { MovieWriter.be($0, 4) })
    }
    if case .spacing = source {
      entry += MovieWriter.box(
        "pasp", MovieWriter.be(ratio.numerator, 4) + MovieWriter.be(ratio.denominator, 4))
    }
    var track = MovieWriter.Track(
      handler: "vide", entry: MovieWriter.box(name, Array(entry)), samples: samples)
    let display = PixelSize(
      part.width * ratio.numerator / ratio.denominator, part.height)
    (track.width, track.height) = (Self.stored.width, Self.stored.height)
    if case .track = source { (track.width, track.height) = (display.width, display.height) }
    if case .aperture = source {
      let size = MovieWriter.be(display.width << 16, 4) + MovieWriter.be(display.height << 16, 4)
      track.boxes = MovieWriter.box("tapt", MovieWriter.box("clef", MovieWriter.be(0, 4) + size))
    }
    track.matrix = DisplayMatrixPatch.numbers(orientation)
    track.scale = scale
    try MovieWriter(timescale: 12800, lastDuration: 512, tracks: [track]).write(to: path)
  }

  /// Returns the content of the first box of a type in the sample descriptions.
  private static func content(_ type: String, in file: [UInt8]) -> [UInt8] {
    func place(_ type: String, from start: Int) -> Int? {
      let name = Array(type.utf8)
      return file.indices.dropFirst(start).dropLast(4).first { Array(file[$0..<$0 + 4]) == name }
    }
    guard let table = place("stsd", from: 0), let found = place(type, from: table) else {
      return []
    }
    let size = file[found - 4..<found].reduce(0) { $0 << 8 | Int($1) }
    return Array(file[found + 4..<found - 4 + size])
  }
}

/// What is found in a frame of an output.
struct ShownDisc {
  /// The extent of the white disc.
  let disc: PixelRect
  /// The extent of the black square.
  let corner: PixelRect

  init(_ picture: Y4M, frame: Int) {
    let bytes = [UInt8](picture.plane(0, frame: frame))
    let deep = picture.sampleBytes == 2
    func extent(_ holds: (Int) -> Bool) -> PixelRect {
      var (left, top, right, bottom) = (Int.max, Int.max, -1, -1)
      for y in 0..<picture.height {
        for x in 0..<picture.width {
          let index = y * picture.width + x
          let luma =
            deep ? (Int(bytes[2 * index]) | Int(bytes[2 * index + 1]) << 8) >> 2 : Int(bytes[index])
          guard holds(luma) else { continue }
          (left, top) = (min(left, x), min(top, y))
          (right, bottom) = (max(right, x), max(bottom, y))
        }
      }
      guard right >= 0 else { return PixelRect(x: 0, y: 0, width: 0, height: 0) }
      return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }
    disc = extent { $0 > 180 }
    corner = extent { $0 < 72 }
  }
}
