internal import UprightOrientation
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// Small upright pictures of a file, for a seek bar: several on a sheet. Each shows a frame that can be decoded alone, not
/// more than one a second.
struct SegmentSprites {
  private struct Sprite {
    /// The time of the frame in the file, and when it is shown.
    let start, begin: MediaTime
    let size: PixelSize
  }

  private let sprites: [Sprite]
  private let end: MediaTime
  /// The size of the largest one.
  private let cell: PixelSize

  /// The longer side of a picture, in pixels.
  private static let side = 160
  private static let (columns, rows) = (5, 5)
  /// About as many pictures has a long file.
  private static let most = 240

  init(_ list: SegmentList) {
    let step = MediaTime(seconds: max(1, list.end.seconds / Double(Self.most)))
    var (sprites, pieces) = ([Sprite](), list.pieces[...])
    for frame in [0] + list.starts.map(\.frame).drop(while: { $0 == 0 }) {
      let start = list.parts.inputSurvey.time(of: frame)
      if let last = sprites.last, start < last.start + step - .millisecond { continue }
      pieces = pieces.drop { $0.frames.upperBound <= frame }
      guard let size = pieces.first?.size else { break }
      let longest = max(size.width, size.height)
      sprites.append(
        Sprite(
          start: start, begin: list.begin(of: frame),
          size: PixelSize(
            max(1, size.width * Self.side / longest), max(1, size.height * Self.side / longest))))
    }
    (self.sprites, end) = (sprites, list.end + list.lead)
    cell = PixelSize(
      sprites.map(\.size.width).max() ?? 1, sprites.map(\.size.height).max() ?? 1)
  }

  /// The number of sheets.
  var sheets: Int {
    let perSheet = Self.columns * Self.rows
    return (sprites.count + perSheet - 1) / perSheet
  }

  /// The place of a picture on its sheet.
  private func place(of index: Int) -> (sheet: Int, x: Int, y: Int) {
    let (sheet, place) = index.quotientAndRemainder(dividingBy: Self.columns * Self.rows)
    return (sheet, place % Self.columns * cell.width, place / Self.columns * cell.height)
  }

  /// The list of the pictures as WebVTT, each with its part of a sheet (Media Fragments, 4.2.2).
  ///
  /// - Parameter folder: The folder of the sheets, with a slash behind; empty for that of the list.
  func text(in folder: String) -> String {
    func time(_ time: MediaTime) -> String {
      SegmentCaptions.time(time.plausibleTicks(of: Rational(1, 1000)))
    }
    var text = "WEBVTT\n"
    for (index, sprite) in sprites.enumerated() {
      let (sheet, x, y) = place(of: index)
      let next = index + 1 < sprites.count ? sprites[index + 1].begin : end
      text += "\n\(time(sprite.begin)) --> \(time(next))\n"
      text += "\(folder)\(SegmentFile.spriteSheet(sheet).name)"
      text += "#xywh=\(x),\(y),\(sprite.size.width),\(sprite.size.height)\n"
    }
    return text
  }

  /// Returns the largest size of the same shape within another one.
  private static func fitted(_ size: PixelSize, into room: PixelSize) -> PixelSize {
    let isWider = size.width * room.height > size.height * room.width
    return isWider
      ? PixelSize(room.width, max(1, size.height * room.width / size.width))
      : PixelSize(max(1, size.width * room.height / size.height), room.height)
  }

  /// Returns a sheet as a JPEG.
  ///
  /// - Parameter isWanted: Asked for each picture.
  /// - Throws: The errors of an `UprightReader`; `cancelled` if it isn't wanted any more.
  func sheet(
    _ sheet: Int, of request: TranscodeRequest, while isWanted: () -> Bool
  ) throws(UprightError) -> [UInt8] {
    var picture = RGBPicture(
      size: PixelSize(cell.width * Self.columns, cell.height * Self.rows), colour: .black)
    var options = request.options
    // Frames of their own size come without a look at the whole file.
    (options.size, options.canvas, options.threads) = (nil, .auto, 1)
    let reader = try UprightReader(
      request.input, inputFormat: request.inputFormat, options: options, policy: request.policy,
      events: request.events)
    defer { reader.close() }
    let scaler = Scaler()
    for index in sprites.indices where place(of: index).sheet == sheet {
      guard isWanted() else { throw UprightError(.cancelled, "stopped", at: request.input) }
      let sprite = sprites[index]
      // Seconds are rounded.
      try reader.seek(to: sprite.start.seconds + 0.0005)
      guard let frame = try reader.next() else { continue }
      let (_, x, y) = place(of: index)
      // The canvas may have another shape.
      let size = Self.fitted(frame.size, into: sprite.size)
      picture.draw(
        try frame.picture(size: size, scaler: scaler),
        x: x + (sprite.size.width - size.width) / 2, y: y + (sprite.size.height - size.height) / 2)
    }
    return try picture.jpeg()
  }
}
