import UprightOrientation
import Testing

@Suite struct TimingCurveTests {
  @Test("UIKit's ease-in-out matches values computed to 40 digits")
  func easeInOut() {
    let rows: [(Double, Double)] = [
      (0, 0), (0.1, 0.01972245), (0.25, 0.12916193), (0.5, 0.5), (0.75, 0.87083807), (1, 1),
      (-1, 0), (2, 1), (.nan, 0),
    ]
    for (time, value) in rows {
      #expect(abs(TimingCurve.easeInOut.value(at: time) - value) < 1e-7, "at \(time)")
    }
  }

  @Test("The curve increases and is symmetric, and a straight line stays one")
  func shape() {
    let straight = TimingCurve(Point(x: 1.0 / 3, y: 1.0 / 3), Point(x: 2.0 / 3, y: 2.0 / 3))
    var last = 0.0
    for step in 1...1000 {
      let time = Double(step) / 1000
      let value = TimingCurve.easeInOut.value(at: time)
      #expect(value > last)
      last = value
      #expect(abs(value + TimingCurve.easeInOut.value(at: 1 - time) - 1) < 1e-12)
      #expect(abs(straight.value(at: time) - time) < 1e-12)
    }
  }
}

@Suite struct PoseTests {
  @Test("A frame that covers a canvas has no corner inside it, and none to spare")
  func covering() {
    let canvas = PixelSize(160, 90)
    for degrees in [-45.0, -12, 0, 0.5, 30, 45] {
      let pose = Pose(
        Self.placement(.up, canvas, fit: .fill), of: Self.source, degrees: degrees
      ).covering(canvas)
      let back = AffineMatrix(rotationAngle: -degrees * .pi / 180)
      let reaches = [(0.0, 0.0), (160, 0), (0, 90), (160, 90)].map { corner in
        let point = Point(x: corner.0 - pose.centre.x, y: corner.1 - pose.centre.y).applying(back)
        return max(2 * abs(point.x) / pose.size.width, 2 * abs(point.y) / pose.size.height)
      }
      #expect(abs((reaches.max() ?? 0) - 1) < 1e-9, "\(degrees)")
      #expect(abs(pose.size.width / pose.size.height - 16.0 / 9) < 1e-9)
    }
  }

  private static let source = PixelSize(160, 90)

  private static func placement(
    _ orientation: ImageOrientation, _ canvas: PixelSize, fit: Fit = .fit,
    pixel: Rational = .one
  ) -> Placement {
    Placement(
      source: source, sampleAspectRatio: pixel, orientation: orientation, fit: fit, canvas: canvas)
  }

  private static func distance(_ a: AffineMatrix, _ b: AffineMatrix) -> Double {
    var worst = 0.0
    for corner in [(0.0, 0.0), (160, 0), (0, 90), (160, 90)] {
      let point = Point(x: corner.0, y: corner.1)
      let (p, q) = (point.applying(a), point.applying(b))
      worst = max(worst, abs(p.x - q.x), abs(p.y - q.y))
    }
    return worst
  }

  @Test("A pose without an angle equals its placement for every orientation and fit")
  func still() {
    for orientation in ImageOrientation.allCases {
      for fit in Fit.allCases {
        for canvas in [PixelSize(90, 160), PixelSize(160, 90), PixelSize(100, 100)] {
          let placement = Self.placement(orientation, canvas, fit: fit, pixel: Rational(4, 3))
          let pose = Pose(placement, of: Self.source)
          #expect(pose.degrees == 0)
          #expect(
            Self.distance(pose.transform(of: Self.source), placement.transform) < 1e-9,
            "\(orientation) \(fit) \(canvas)")
        }
      }
    }
  }

  @Test("A rotation starts at the layout before and ends at the one after, for all fits")
  func ends() {
    for orientation in ImageOrientation.allCases {
      for degrees in [90, -90, 180, -180] {
        for fit in Fit.allCases {
          let canvas = PixelSize(90, 160)
          let after = Self.placement(orientation, canvas, fit: fit, pixel: Rational(4, 3))
          let before = Self.placement(
            orientation.then(
              ImageOrientation(flippedHorizontally: false, quarterTurns: -degrees / 90)),
            canvas, fit: fit, pixel: Rational(4, 3))
          func pose(_ fraction: Double) -> AffineMatrix {
            Pose(
              from: before, to: after, of: Self.source, clockwiseDegrees: degrees,
              fraction: fraction
            ).transform(of: Self.source)
          }
          let name = "\(orientation) \(degrees) \(fit)"
          #expect(Self.distance(pose(0), before.transform) < 1e-9, "\(name)")
          #expect(Self.distance(pose(1), after.transform) < 1e-9, "\(name)")
          // No step moves a corner further than its share of a hundredth of the rotation.
          var last = pose(0)
          for step in 1...100 {
            let next = pose(Double(step) / 100)
            #expect(Self.distance(last, next) < 12, "\(name) at \(step)")
            last = next
          }
        }
      }
    }
  }

  @Test("The visible part of a frame of any size")
  func visiblePartAtTheLimits() {
    for side in [Int.min, -1, 0, 1, 1 << 31, .max] {
      let source = PixelSize(side, side)
      let canvas = PixelSize(90, 160)
      let pose = Pose(
        Placement(source: source, orientation: .up, canvas: canvas), of: source, degrees: 30)
      let part = pose.visiblePart(of: source, on: canvas, grid: PixelSize(2, 2))
      #expect(part.map { $0.width <= 1 << 31 && $0.height <= 1 << 31 } ?? true, "\(side)")
    }
  }

  @Test("Halfway through a quarter turn, computed by hand")
  func halfway() {
    let source = PixelSize(160, 80)
    let canvas = PixelSize(80, 160)
    let after = Placement(source: source, orientation: .up, canvas: canvas)
    let before = Placement(source: source, orientation: .right, canvas: canvas)
    // 160x80 that filled 80x160 rotated ends in 80x40. Halfway it is 120x60, rotated 45 degrees
    // clockwise about the centre of the canvas.
    let pose = Pose(from: before, to: after, of: source, clockwiseDegrees: -90, fraction: 0.5)
    #expect(abs(pose.degrees) == 45)
    let side = Point(x: 160, y: 40).applying(pose.transform(of: source))
    let reach = 60 * 0.5.squareRoot()
    #expect(abs(side.x - (40 + reach)) < 1e-9 && abs(side.y - (80 + reach)) < 1e-9)
  }

  @Test("Any angle: the nearest quarter turn and the remainder; the size is unchanged")
  func angles() {
    let placement = Self.placement(.up, PixelSize(160, 90))
    let rows: [(Double, ImageOrientation, Double)] = [
      (0, .up, 0), (10, .up, 10), (-44, .up, -44), (80, .right, -10), (100, .right, 10),
      (-90, .left, 0), (180, .down, 0), (-175, .down, 5), (359, .up, -1), (7200 + 91, .right, 1),
      (.nan, .up, 0), (.infinity, .up, 0),
    ]
    for (degrees, orientation, left) in rows {
      let pose = Pose(placement, of: Self.source, degrees: degrees)
      #expect(pose.orientation == orientation, "\(degrees)")
      #expect(abs(pose.degrees - left) < 1e-9, "\(degrees)")
      let t = pose.transform(of: Self.source)
      #expect(abs(t.determinant - 1) < 1e-9)
      let centre = Point(x: 80, y: 45).applying(t)
      #expect(abs(centre.x - 80) < 1e-9 && abs(centre.y - 45) < 1e-9)
    }
  }

  @Test("The visible part contains every stored pixel on the canvas, and is small")
  func visible() throws {
    let huge = PixelSize(4000, 20)
    let canvas = PixelSize(90, 160)
    for orientation in ImageOrientation.allCases {
      let placement = Placement(
        source: huge, orientation: orientation, fit: .fill, canvas: canvas)
      for degrees in stride(from: 0.0, to: 90, by: 15) {
        let pose = Pose(placement, of: huge, degrees: degrees)
        let part = try #require(
          pose.visiblePart(of: huge, on: canvas, grid: PixelSize(2, 2)))
        let transform = pose.transform(of: huge)
        for x in stride(from: 0, to: 4000, by: 3) {
          for y in 0..<20 {
            let place = Point(x: Double(x) + 0.5, y: Double(y) + 0.5).applying(transform)
            guard place.x >= 0, place.x < 90, place.y >= 0, place.y < 160 else { continue }
            #expect(
              x >= part.x && x < part.x + part.width && y >= part.y && y < part.y + part.height)
          }
        }
        #expect(part.width < 120 && part.x.isMultiple(of: 2))
      }
    }
    let away = Pose(
      orientation: .up, size: Size(width: 10, height: 10), degrees: 5,
      centre: Point(x: 1000, y: 0))
    #expect(away.visiblePart(of: huge, on: canvas, grid: PixelSize(2, 2)) == nil)
  }
}
