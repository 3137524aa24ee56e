internal import UprightOrientation
internal import UprightKernels
internal import UprightMediaIO

extension Drawing {
  /// Returns the drawing as an image, with text on top of all else.
  ///
  /// - Throws: `unavailable` if FFmpeg can't draw text.
  func painted() throws(UprightError) -> RGBPicture {
    var canvas = RGBPicture(size: size, colour: Palette.paper)
    var labels: [RGBPicture.Label] = []
    for shape in shapes {
      if case .text(let text, let x, let y, let colour) = shape {
        labels.append(.init(text, x: x, baseline: y + Text.height, colour: colour))
      } else {
        canvas.paint(shape)
      }
    }
    try canvas.write(labels, height: Text.em)
    return canvas
  }
}

extension RGBPicture {
  fileprivate mutating func paint(_ shape: Drawing.Shape) {
    switch shape {
    case .rectangle(let rect, let colour): fill(rect, colour)
    case .line(let x, let y, let length, let isUpright, let colour):
      fill(
        PixelRect(x: x, y: y, width: isUpright ? 1 : length, height: isUpright ? length : 1), colour
      )
    case .arrow(let x, let y, let colour):
      for row in 0..<11 {
        let half = (row + 1) / 2
        fill(PixelRect(x: x - half, y: y - 1 - row, width: 2 * half + 1, height: 1), colour)
      }
    case .cross(let x, let y, let colour):
      for step in -4...4 {
        fill(PixelRect(x: x + step - 1, y: y + step, width: 3, height: 1), colour)
        fill(PixelRect(x: x - step - 1, y: y + step, width: 3, height: 1), colour)
      }
    case .dot(let x, let y, let colour):
      for row in -4...4 {
        let half = [1, 3, 3, 4, 4, 4, 3, 3, 1][row + 4]
        fill(PixelRect(x: x - half, y: y + row, width: 2 * half + 1, height: 1), colour)
      }
    case .picture(let picture, let x, let y): lay(picture, x: x, y: y)
    case .text, .note: break
    }
  }

  /// Fills the part of `rect` inside the image.
  private mutating func fill(_ rect: PixelRect, _ colour: RGBColour) {
    let columns = max(0, rect.x)..<max(0, max(rect.x, min(size.width, rect.x + rect.width)))
    let rows = max(0, rect.y)..<max(0, max(rect.y, min(size.height, rect.y + rect.height)))
    for y in rows {
      for x in columns {
        let place = (y * size.width + x) * 3
        bytes[place] = colour.red
        bytes[place + 1] = colour.green
        bytes[place + 2] = colour.blue
      }
    }
  }

  private mutating func lay(_ picture: RGBPicture, x: Int, y: Int) {
    guard x >= 0, x + picture.size.width <= size.width else { return }
    for row in 0..<picture.size.height where (0..<size.height).contains(y + row) {
      let from = row * picture.size.width * 3
      let to = ((y + row) * size.width + x) * 3
      let count = picture.size.width * 3
      bytes.replaceSubrange(to..<to + count, with: picture.bytes[from..<from + count])
    }
  }
}
