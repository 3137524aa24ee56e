import Testing

@testable import UprightOrientation

/// The crop of `fill` around a focus.
struct FocusPlacementTests {
  private static func placement(
    _ focus: Point?, turn: ImageOrientation = .up, anchor: Anchor = .center
  ) -> Placement {
    Placement(
      source: PixelSize(160, 90), orientation: turn, fit: .fill, anchor: anchor, focus: focus,
      canvas: turn.swapsAxes ? PixelSize(160, 90) : PixelSize(90, 160))
  }

  @Test("The focus is in the middle, as far as the frame reaches")
  func middle() {
    // 50 of 160 columns are shown.
    #expect(Self.placement(nil).sourceRect == PixelRect(x: 54, y: 0, width: 50, height: 90))
    #expect(Self.placement(Point(x: 0.5, y: 0.5)).sourceRect == Self.placement(nil).sourceRect)
    for (x, left) in [(0, 0), (0.1, 0), (0.25, 16), (0.75, 94), (0.9, 110), (1, 110)]
      as [(Double, Int)]
    {
      let rect = Self.placement(Point(x: x, y: 0.9)).sourceRect
      #expect(abs(rect.x - left) <= 2 && rect.x % 2 == 0 && rect.width == 50, "\(x): \(rect)")
    }
    // An anchor is the focus at its corner.
    #expect(
      Self.placement(Point(x: 0, y: 0)).sourceRect
        == Self.placement(nil, anchor: .topLeading).sourceRect)
  }

  @Test("The focus is a point of the upright frame, however the frame is stored")
  func turned() {
    // Stored on its side, the upright frame is 90x160, and 50 of its rows are shown.
    let top = Self.placement(Point(x: 0.5, y: 0), turn: .right)
    #expect(top.sourceRect == PixelRect(x: 0, y: 0, width: 50, height: 90))
    let bottom = Self.placement(Point(x: 0.5, y: 1), turn: .right)
    #expect(bottom.sourceRect == PixelRect(x: 110, y: 0, width: 50, height: 90))
    #expect(
      Self.placement(Point(x: 0.5, y: 0), turn: .left).sourceRect == bottom.sourceRect)
    // The transform moves with the crop.
    let point = Point(x: 0, y: 0).applying(top.transform)
    #expect(point.y == 0)
  }

  /// What a click on the canvas is mapped with: the focus is there again, as far as the frame reaches.
  @Test("The part of the upright frame that is shown has the focus in its middle")
  func part() {
    for quarter in 0..<4 {
      for flips in [false, true] {
        let turn = ImageOrientation(flippedHorizontally: flips, quarterTurns: quarter)
        for focus in [0.0, 0.2, 0.5, 0.7, 1] {
          let placement = Self.placement(Point(x: focus, y: focus), turn: turn)
          let part = placement.uprightPart(of: PixelSize(160, 90))
          let (start, length, across) =
            turn.swapsAxes
            ? (part.origin.y, part.size.height, part.size.width)
            : (part.origin.x, part.size.width, part.size.height)
          #expect(across == 1 && length == 50.0 / 160)
          let expected = min(max(length / 2, focus), 1 - length / 2)
          // The crop begins on an even pixel.
          #expect(abs(start + length / 2 - expected) <= 2.0 / 160, "\(turn), \(focus): \(part)")
        }
      }
    }
  }

  @Test(
    "Where nothing is cropped, the part is the whole frame", arguments: [Fit.fit, .blur, .stretch])
  func wholePart(_ fit: Fit) {
    let whole = Rect(x: 0, y: 0, width: 1, height: 1)
    for (source, canvas) in [
      (PixelSize(161, 91), PixelSize(90, 160)), (PixelSize(0, 9), PixelSize(90, 160)),
      (PixelSize(160, 90), PixelSize(0, 0)),
    ] {
      let placement = Placement(source: source, orientation: .right, fit: fit, canvas: canvas)
      #expect(placement.uprightPart(of: source) == whole, "\(source), \(canvas)")
    }
    #expect(Self.placement(nil).uprightPart(of: PixelSize(0, 0)) == whole)
  }

  @Test("Nonsense is the middle", arguments: [Double.nan, .infinity, -.infinity])
  func nonsense(_ value: Double) {
    let rect = Self.placement(Point(x: value, y: value)).sourceRect
    #expect(PixelRect(PixelSize(160, 90)).width >= rect.x + rect.width && rect.x >= 0)
  }
}
