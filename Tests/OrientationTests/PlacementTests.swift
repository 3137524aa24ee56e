import UprightOrientation
import Testing

@Suite("Placement: one transform from source to canvas")
struct PlacementTests {
  @Test("A quarter turn without scaling is exact")
  func exactTurns() {
    let rows: [(ImageOrientation, PixelSize, String)] = [
      (.up, PixelSize(1920, 1080), "[1, 0, 0, 1, 0, 0]"),
      (.right, PixelSize(1080, 1920), "[0, 1, -1, 0, 1080, 0]"),
      (.down, PixelSize(1920, 1080), "[-1, 0, 0, -1, 1920, 1080]"),
      (.left, PixelSize(1080, 1920), "[0, -1, 1, 0, 0, 1920]"),
      (.rightMirrored, PixelSize(1080, 1920), "[0, -1, -1, 0, 1080, 1920]"),
    ]
    for (orientation, canvas, text) in rows {
      for fit in Fit.allCases {
        let placement = Placement(
          source: PixelSize(1920, 1080), orientation: orientation, fit: fit, canvas: canvas)
        #expect(placement.isExact && placement.coversCanvas && !placement.isEmpty)
        #expect(placement.transform.description == text)
        #expect(placement.uprightSize == canvas)
      }
    }
  }

  @Test("Rectangles of fit, fill and stretch; blur equals fit")
  func rectangles() {
    func place(
      _ source: PixelSize, _ fit: Fit, _ canvas: PixelSize, _ orientation: ImageOrientation = .up,
      sar: Rational = .one
    ) -> [PixelRect] {
      let placement = Placement(
        source: source, sampleAspectRatio: sar, orientation: orientation, fit: fit, canvas: canvas)
      return [placement.sourceRect, placement.canvasRect]
    }
    func rect(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PixelRect {
      PixelRect(x: x, y: y, width: width, height: height)
    }
    let (hd, tall) = (PixelSize(1280, 720), PixelSize(720, 1280))
    // 405 is halfway between two steps and rounds down.
    #expect(place(hd, .fit, tall) == [rect(0, 0, 1280, 720), rect(0, 438, 720, 404)])
    #expect(place(hd, .fill, tall) == [rect(438, 0, 404, 720), rect(0, 0, 720, 1280)])
    #expect(place(hd, .stretch, tall) == [rect(0, 0, 1280, 720), rect(0, 0, 720, 1280)])
    #expect(place(hd, .fit, tall, .right) == [rect(0, 0, 1280, 720), rect(0, 0, 720, 1280)])
    #expect(place(hd, .fill, hd, .left) == [rect(438, 0, 404, 720), rect(0, 0, 1280, 720)])
    #expect(place(hd, .fit, hd, .left) == [rect(0, 0, 1280, 720), rect(438, 0, 404, 720)])
    // No bars of a pixel or two: 1278 and 719.4 are extended to the edge.
    #expect(place(PixelSize(568, 320), .fit, tall, .right)[1] == rect(0, 0, 720, 1280))
    #expect(place(PixelSize(854, 480), .fit, hd)[1] == rect(0, 0, 1280, 720))
    #expect(place(hd, .blur, tall) == place(hd, .fit, tall))
    // But a frame that fits without scaling isn't stretched to avoid them.
    #expect(place(PixelSize(1918, 1080), .fit, PixelSize(1920, 1080))[1] == rect(0, 0, 1918, 1080))
    #expect(place(PixelSize(1920, 1082), .fill, PixelSize(1920, 1080))[0] == rect(0, 0, 1920, 1080))
    // Non-square pixels.
    #expect(
      place(PixelSize(640, 360), .fit, PixelSize(1280, 360), sar: Rational(2, 1))[1]
        == rect(0, 0, 1280, 360))
    #expect(
      place(PixelSize(720, 576), .fit, PixelSize(576, 768), .right, sar: Rational(16, 15))[1]
        == rect(0, 0, 576, 768))
    #expect(
      place(PixelSize(720, 576), .fill, PixelSize(576, 576), sar: Rational(16, 15))[0]
        == rect(90, 0, 540, 576))
  }

  @Test("A small frame keeps its aspect ratio on a tiny canvas")
  func tiny() {
    let placement = Placement(
      source: PixelSize(4, 2), orientation: .up, canvas: PixelSize(4, 4))
    #expect(placement.canvasRect == PixelRect(x: 0, y: 0, width: 4, height: 2))
    #expect(placement.isExact)
  }

  @Test("Odd sizes are kept unless actually cropped; canvas corners are on the grid")
  func oddSizes() {
    let whole = Placement(
      source: PixelSize(101, 57), orientation: .up, canvas: PixelSize(100, 56))
    #expect(whole.sourceRect == PixelRect(PixelSize(101, 57)))
    #expect(whole.canvasRect == PixelRect(PixelSize(100, 56)))
    let cropped = Placement(
      source: PixelSize(101, 57), crop: PixelRect(x: 0, y: 0, width: 100, height: 56),
      orientation: .right, canvas: PixelSize(56, 100))
    #expect(cropped.sourceRect == PixelRect(PixelSize(100, 56)))
    #expect(cropped.isExact)
    let odd = Placement(source: PixelSize(3, 7), orientation: .up, canvas: PixelSize(3, 7))
    #expect(odd.isExact && odd.coversCanvas)
    let filled = Placement(
      source: PixelSize(101, 57), orientation: .up, fit: .fill, anchor: .trailing,
      canvas: PixelSize(57, 57))
    #expect(filled.sourceRect == PixelRect(x: 44, y: 0, width: 56, height: 57))
  }

  @Test("A crop is snapped to the grid and clamped to the frame")
  func crops() {
    let source = PixelSize(100, 50)
    func crop(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PixelRect {
      Placement(
        source: source, crop: PixelRect(x: x, y: y, width: width, height: height), orientation: .up,
        canvas: source
      ).sourceRect
    }
    #expect(crop(10, 20, 30, 20) == PixelRect(x: 10, y: 20, width: 30, height: 20))
    #expect(crop(11, 0, 30, 50) == PixelRect(x: 12, y: 0, width: 30, height: 50))
    #expect(crop(-10, -10, 60, 500) == PixelRect(x: 0, y: 0, width: 50, height: 50))
    #expect(crop(99, 49, 1, 1) == PixelRect(x: 98, y: 48, width: 2, height: 2))
    for nothing in [crop(200, 0, 10, 10), crop(0, 0, 0, 10), crop(0, 0, -5, 10)] {
      #expect(nothing == PixelRect(source))
    }
    #expect(crop(Int.min, Int.min, Int.max, Int.max) == PixelRect(source))
    #expect(crop(Int.max, Int.max, Int.max, Int.max) == PixelRect(source))
    #expect(crop(2, 2, Int.max, Int.max) == PixelRect(x: 2, y: 2, width: 98, height: 48))
  }

  @Test(
    "Anchors refer to the upright frame in every stored orientation",
    arguments: ImageOrientation.allCases, Anchor.allCases)
  func anchors(orientation: ImageOrientation, anchor: Anchor) {
    for canvas in [PixelSize(40, 40), PixelSize(20, 60)] {
      for source in [PixelSize(80, 40), PixelSize(40, 120)] {
        let filled = Placement(
          source: source, orientation: orientation, fit: .fill, anchor: anchor, canvas: canvas)
        let shown = Rect(filled.sourceRect)
          .applying(AffineMatrix(orientation, size: source))
        let upright = Size(orientation.applied(to: source))
        #expect(abs(shown.origin.x - anchor.x * (upright.width - shown.size.width)) <= 1)
        #expect(abs(shown.origin.y - anchor.y * (upright.height - shown.size.height)) <= 1)
        let fitted = Placement(
          source: source, orientation: orientation, fit: .fit, anchor: anchor, canvas: canvas
        ).canvasRect
        #expect(abs(Double(fitted.x) - anchor.x * Double(canvas.width - fitted.width)) <= 1)
        #expect(abs(Double(fitted.y) - anchor.y * Double(canvas.height - fitted.height)) <= 1)
      }
    }
    #expect(Anchor(name: anchor.rawValue.uppercased()) == anchor)
    #expect(Anchor(name: "middle") == nil)
  }

  @Test(
    "An exact placement moves real pixels, including crop and bars",
    arguments: ImageOrientation.allCases)
  func pixels(orientation: ImageOrientation) {
    let grid = PixelGrid(numbered: PixelSize(10, 6))
    let crop = PixelRect(x: 2, y: 2, width: 6, height: 4)
    var part: [Int] = []
    for y in 2..<6 { for x in 2..<8 { part.append(grid[x, y]) } }
    let upright = PixelGrid(size: crop.size, pixels: part).uprighted(orientation)
    let canvas = PixelSize(upright.size.width, upright.size.height + 4)
    let placement = Placement(
      source: grid.size, crop: crop, orientation: orientation, canvas: canvas)
    #expect(placement.isExact)
    let bar = [Int](repeating: -1, count: 2 * canvas.width)
    let expected = PixelGrid(size: canvas, pixels: bar + upright.pixels + bar)
    #expect(
      grid.moved(by: placement.transform, area: placement.sourceRect, canvas: canvas) == expected)
  }

  @Test("The size for --size source: upright, square pixels, even")
  func uprightSizes() {
    let rows: [(PixelSize, Rational, ImageOrientation, PixelSize)] = [
      (PixelSize(1920, 1080), .one, .right, PixelSize(1080, 1920)),
      (PixelSize(101, 57), .one, .up, PixelSize(100, 56)),
      (PixelSize(640, 360), Rational(2, 1), .up, PixelSize(1280, 360)),
      (PixelSize(640, 360), Rational(2, 1), .left, PixelSize(360, 1280)),
      (PixelSize(720, 480), Rational(32, 27), .up, PixelSize(852, 480)),
      (PixelSize(720, 576), Rational(0, 1), .up, PixelSize(720, 576)),
      (PixelSize(720, 576), Rational(-1, 1), .up, PixelSize(720, 576)),
      (PixelSize(1, 1), .one, .up, PixelSize(2, 2)),
      (PixelSize(0, -7), .one, .up, PixelSize(2, 2)),
      (PixelSize(.max, .max), Rational(.max, 1), .up, PixelSize(1 << 31, 1 << 31)),
      (PixelSize(4, 4), Rational(1, .max), .up, PixelSize(2, 4)),
    ]
    for (source, sar, orientation, expected) in rows {
      #expect(
        Placement.uprightSize(source: source, sampleAspectRatio: sar, orientation: orientation)
          == expected)
    }
  }
}
