import Testing

@testable import Orientation

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

  @Test("Nonsense is the middle", arguments: [Double.nan, .infinity, -.infinity])
  func nonsense(_ value: Double) {
    let rect = Self.placement(Point(x: value, y: value)).sourceRect
    #expect(PixelRect(PixelSize(160, 90)).width >= rect.x + rect.width && rect.x >= 0)
  }
}
