import Foundation
import UprightOrientation
import UprightKernels
import Testing
import UprightTestSupport

@testable import UprightMediaIO
@testable import UprightMedia

/// Compares the output frame with the transform in the report. Every canvas pixel must have the scene's
/// value at the source position that the transform gives.
@Suite struct FrameOrienterTests {
  /// A scene without edges, so that the choice of resampler makes little difference. Returns its value at a
  /// position of the stored frame for a component, in 0...1.
  private static func scene(_ component: Int, _ x: Double, _ y: Double) -> Double {
    switch component {
    case 0: 0.5 + 0.25 * sin(x / 13 + 0.3) + 0.15 * cos(y / 9)
    case 1: 0.5 + 0.35 * sin(x / 17) * cos(y / 14 + 1)
    default: 0.5 + 0.3 * cos(x / 15 - y / 19)
    }
  }

  /// The positions of a component's samples: the distance between them and the position of the first, in
  /// luma pixels.
  private struct Grid {
    var step: (x: Double, y: Double)
    var first: (x: Double, y: Double)

    init(_ format: PixelFormat, component: Int, siting: ChromaPosition = .left) {
      let shift = component == 0 ? (x: 0, y: 0) : format.chromaShift
      step = (Double(1 << shift.x), Double(1 << shift.y))
      first = (
        shift.x == 0 ? 0.5 : 0.5 + Double(siting.x) / 256,
        shift.y == 0 ? 0.5 : 0.5 + Double(siting.y) / 256
      )
    }

    func place(_ x: Int, _ y: Int) -> (x: Double, y: Double) {
      (first.x + Double(x) * step.x, first.y + Double(y) * step.y)
    }
  }

  /// Reads and writes samples of the planar and semi-planar formats under test.
  private struct Samples {
    let format: PixelFormat
    let name: String

    private func location(
      _ frame: borrowing VideoFrame, _ component: Int, _ x: Int, _ y: Int
    ) -> UnsafeMutablePointer<UInt8>? {
      let isPaired = name == "nv12" && component > 0
      guard let plane = frame.plane(isPaired ? 1 : component) else { return nil }
      let bytes = format.bitDepth > 8 ? 2 : 1
      return plane.start + y * plane.stride + (isPaired ? 2 * x + component - 1 : x * bytes)
    }

    func read(_ frame: borrowing VideoFrame, _ component: Int, _ x: Int, _ y: Int) -> Int {
      guard let start = location(frame, component, x, y) else { return -1 }
      return format.bitDepth > 8 ? Int(start[0]) | Int(start[1]) << 8 : Int(start[0])
    }

    func write(_ value: Int, _ frame: borrowing VideoFrame, _ component: Int, _ x: Int, _ y: Int) {
      guard let start = location(frame, component, x, y) else { return }
      start[0] = UInt8(truncatingIfNeeded: value)
      if format.bitDepth > 8 { start[1] = UInt8(truncatingIfNeeded: value >> 8) }
    }

    func size(_ frame: borrowing VideoFrame, _ component: Int) -> PixelSize {
      let shift = component == 0 ? (x: 0, y: 0) : format.chromaShift
      return PixelSize(-(-frame.size.width >> shift.x), -(-frame.size.height >> shift.y))
    }

    var components: Int { format.name.hasPrefix("gray") ? 1 : 3 }
    var top: Double { Double((1 << format.bitDepth) - 1) }
  }

  private static func picture(_ samples: Samples, _ size: PixelSize) throws -> VideoFrame {
    var frame = try FramePool(size: size, format: samples.format).frame()
    frame.pts = 7
    frame.timeBase = Rational(1, 25)
    for component in 0..<samples.components {
      let grid = Grid(samples.format, component: component)
      let plane = samples.size(frame, component)
      for y in 0..<plane.height {
        for x in 0..<plane.width {
          let place = grid.place(x, y)
          let value = scene(component, place.x, place.y) * samples.top
          samples.write(Int(value.rounded()), frame, component, x, y)
        }
      }
    }
    return frame
  }

  /// Returns the PSNR of one component inside the placement's rectangle, compared with the transformed
  /// scene.
  private static func ratio(
    _ samples: Samples, _ frame: borrowing VideoFrame, _ component: Int, _ placement: Placement
  ) -> Double {
    let t = placement.transform
    let determinant = t.a * t.d - t.b * t.c
    let grid = Grid(samples.format, component: component)
    let size = samples.size(frame, component)
    let rect = placement.canvasRect
    var sum = 0.0
    var count = 0
    for y in 0..<size.height {
      for x in 0..<size.width {
        let place = grid.place(x, y)
        guard place.x > Double(rect.x), place.x < Double(rect.x + rect.width),
          place.y > Double(rect.y), place.y < Double(rect.y + rect.height)
        else { continue }
        let (dx, dy) = (place.x - t.tx, place.y - t.ty)
        let from = ((t.d * dx - t.c * dy) / determinant, (t.a * dy - t.b * dx) / determinant)
        let expected = scene(component, from.0, from.1) * samples.top
        let difference = Double(samples.read(frame, component, x, y)) - expected
        sum += difference * difference
        count += 1
      }
    }
    return 10 * log10(samples.top * samples.top / max(sum / Double(max(count, 1)), 1e-9))
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let format: String
    let source: PixelSize
    let canvas: PixelSize
    var testDescription: String { "\(format) \(source) on \(canvas)" }
  }

  @Test(
    "All eight orientations with all fits: the frame matches the transform",
    arguments: [
      Case(format: "yuv420p", source: PixelSize(96, 64), canvas: PixelSize(72, 60)),
      Case(format: "yuv420p", source: PixelSize(96, 64), canvas: PixelSize(60, 104)),
      Case(format: "yuv420p", source: PixelSize(50, 70), canvas: PixelSize(90, 50)),
      Case(format: "yuv420p10le", source: PixelSize(70, 50), canvas: PixelSize(56, 40)),
      Case(format: "yuv444p", source: PixelSize(64, 48), canvas: PixelSize(45, 63)),
      Case(format: "nv12", source: PixelSize(64, 48), canvas: PixelSize(80, 80)),
      Case(format: "gray", source: PixelSize(61, 47), canvas: PixelSize(53, 39)),
      Case(format: "yuv422p", source: PixelSize(64, 48), canvas: PixelSize(48, 40)),
    ])
  func transform(_ test: Case) throws {
    let format = try #require(PixelFormat(name: test.format))
    let samples = Samples(format: format, name: test.format)
    let source = try Self.picture(samples, test.source)
    var lowest = Double.infinity
    for orientation in ImageOrientation.allCases {
      for fit in Fit.allCases {
        for anchor in [Anchor.center, .bottomTrailing] {
          let orienter = FrameOrienter(format: format, layout: .init(fit: fit, anchor: anchor))
          let placement = orienter.placement(
            of: test.source, sampleAspectRatio: .one, turn: orientation, canvas: test.canvas)
          let picture = try orienter.orient(source, by: placement)
          let size = picture.size
          #expect(size == test.canvas)
          let name = "\(orientation.name) \(fit) \(anchor)"
          for component in 0..<samples.components {
            let ratio = Self.ratio(samples, picture, component, placement)
            lowest = min(lowest, ratio)
            #expect(ratio > 35, "\(name), component \(component): \(ratio) dB")
          }
          if fit != .blur { Self.checkMargins(samples, picture, placement, name) }
        }
      }
    }
    figure("orienter \(test.testDescription): lowest \(lowest) dB")
  }

  @Test(
    "A blurred background drawn around the frame is that part of one on the whole canvas",
    arguments: [
      Case(format: "yuv420p", source: PixelSize(9, 16), canvas: PixelSize(320, 180)),
      Case(format: "yuv420p", source: PixelSize(16, 9), canvas: PixelSize(180, 320)),
      Case(format: "nv12", source: PixelSize(4, 3), canvas: PixelSize(320, 180)),
      Case(format: "yuv420p10le", source: PixelSize(9, 16), canvas: PixelSize(428, 240)),
      Case(format: "gray", source: PixelSize(1, 2), canvas: PixelSize(107, 61)),
    ])
  func backdrop(_ test: Case) throws {
    let format = try #require(PixelFormat(name: test.format))
    let samples = Samples(format: format, name: test.format)
    let canvas = test.canvas
    let rect = Placement(
      source: test.source, orientation: .up, canvas: canvas, alignment: format.alignment
    ).canvasRect
    let source = try Self.picture(samples, canvas)
    let pool = try FramePool(size: canvas, format: format)
    let whole = try pool.frame()
    let around = try pool.frame()
    /// A sample of a plane, and whether it is inside the frame's rectangle.
    var places: [(component: Int, x: Int, y: Int, isInside: Bool)] = []
    for component in 0..<samples.components {
      let size = samples.size(whole, component)
      let shift = component == 0 ? (x: 0, y: 0) : format.chromaShift
      for y in 0..<size.height {
        for x in 0..<size.width {
          let (left, top) = ((x << shift.x) - rect.x, (y << shift.y) - rect.y)
          let isInside = left >= 0 && left < rect.width && top >= 0 && top < rect.height
          places.append((component, x, y, isInside))
        }
      }
    }
    for (component, x, y, _) in places { samples.write(1, around, component, x, y) }
    let nowhere = PixelRect(x: 0, y: 0, width: 0, height: 0)
    try Backdrop(format: format).draw(
      rect, of: source, turned: .up, pixel: .one, in: canvas.margins(around: nowhere), of: whole)
    try Backdrop(format: format).draw(
      rect, of: source, turned: .up, pixel: .one, in: canvas.margins(around: rect), of: around)
    var (furthest, touched, margin) = (0, 0, 0)
    var range = (least: Int.max, most: 0)
    for (component, x, y, isInside) in places {
      let drawn = samples.read(around, component, x, y)
      if isInside {
        if drawn != 1 { touched += 1 }
        continue
      }
      let expected = samples.read(whole, component, x, y)
      furthest = max(furthest, abs(drawn - expected))
      if component == 0 { range = (min(range.least, expected), max(range.most, expected)) }
      margin += 1
    }
    #expect(touched == 0 && margin > 1000)
    #expect(furthest == 0, "\(furthest) levels")
    #expect(range.most - range.least > Int(samples.top) / 20, "\(range)")
  }

  @Test(
    "Any angle, in every pixel format of the encoders: the frame matches the pose",
    arguments: [
      "yuv420p", "yuv422p", "yuv444p", "gray", "nv12", "yuv420p10le", "yuv422p10le",
      "yuv444p10le", "gray10le", "yuv420p12le",
    ])
  func anyAngle(_ name: String) throws {
    let format = try #require(PixelFormat(name: name))
    let samples = Samples(format: format, name: name)
    let size = PixelSize(96, 64)
    let source = try Self.picture(samples, size)
    var lowest = Double.infinity
    for (orientation, degrees) in [
      (ImageOrientation.up, 45.0), (.right, 7), (.down, -31), (.leftMirrored, 44), (.up, 130),
    ] {
      let canvas = PixelSize(80, 100)
      let orienter = FrameOrienter(format: format, layout: .init())
      let placement = orienter.placement(
        of: size, sampleAspectRatio: .one, turn: orientation, canvas: canvas)
      let pose = Pose(placement, of: size, degrees: degrees)
      let picture = try orienter.orient(source, in: pose, on: canvas, resting: placement)
      let back = try pose.transform(of: size).inverted()
      for component in 0..<samples.components {
        let grid = Grid(format, component: component)
        let plane = samples.size(picture, component)
        let background = component == 0 ? (samples.top + 1) / 16 : (samples.top + 1) / 2
        // A chroma sample covers two pixels. Blending has the same reach.
        let reach = 3 * max(grid.step.x, grid.step.y)
        var (sum, count, strays) = (0.0, 0, 0)
        for y in 0..<plane.height {
          for x in 0..<plane.width {
            let place = grid.place(x, y)
            let from = Point(x: place.x, y: place.y).applying(back)
            let depth = min(from.x, 96 - from.x, from.y, 64 - from.y)
            let value = Double(samples.read(picture, component, x, y))
            if depth > reach {
              let difference = value - Self.scene(component, from.x, from.y) * samples.top
              sum += difference * difference
              count += 1
            } else if depth < -reach, abs(value - background) > 0 {
              strays += 1
            }
          }
        }
        let ratio = 10 * log10(samples.top * samples.top / max(sum / Double(count), 1e-9))
        lowest = min(lowest, ratio)
        #expect(count > 300)
        #expect(ratio > 38, "\(orientation.name) \(degrees), component \(component): \(ratio) dB")
        #expect(strays == 0, "\(orientation.name) \(degrees), component \(component)")
      }
    }
    figure("poses in \(name): lowest \(lowest) dB")
  }

  /// Checks that all pixels outside the rectangle are black.
  private static func checkMargins(
    _ samples: Samples, _ picture: borrowing VideoFrame, _ placement: Placement, _ name: String
  ) {
    let r = placement.canvasRect
    let black = Int(16 * (samples.top + 1) / 256)
    var wrong = 0
    for y in 0..<picture.size.height {
      for x in 0..<picture.size.width
      where x < r.x || x >= r.x + r.width || y < r.y || y >= r.y + r.height {
        if samples.read(picture, 0, x, y) != black { wrong += 1 }
      }
    }
    #expect(wrong == 0, "\(name): \(wrong) pixels beside the frame are not black")
  }

  /// Returns the stored position of the upright frame's sample at (x, y), for each of the eight
  /// orientations.
  private static func stored(
    _ orientation: ImageOrientation, _ x: Int, _ y: Int, _ size: PixelSize
  ) -> (Int, Int) {
    let (w, h) = (size.width, size.height)
    return switch orientation {
    case .up: (x, y)
    case .upMirrored: (w - 1 - x, y)
    case .down: (w - 1 - x, h - 1 - y)
    case .downMirrored: (x, h - 1 - y)
    case .leftMirrored: (y, x)
    case .right: (y, h - 1 - x)
    case .rightMirrored: (w - 1 - y, h - 1 - x)
    case .left: (w - 1 - y, x)
    }
  }

  @Test(
    "Without scaling, samples are moved and not changed, also with odd sizes",
    arguments: [
      "yuv420p", "yuv444p", "nv12", "gray", "yuv420p10le", "yuv444p10le", "gray10le",
    ])
  func exact(_ name: String) throws {
    let format = try #require(PixelFormat(name: name))
    let samples = Samples(format: format, name: name)
    var random = SeededGenerator()
    for size in [PixelSize(32, 18), PixelSize(37, 23), PixelSize(1, 1), PixelSize(2, 67)] {
      let source = try FramePool(size: size, format: format).frame()
      for component in 0..<samples.components {
        let plane = samples.size(source, component)
        for y in 0..<plane.height {
          for x in 0..<plane.width {
            samples.write(
              Int.random(in: 0...Int(samples.top), using: &random), source, component, x, y)
          }
        }
      }
      for orientation in ImageOrientation.allCases {
        let canvas = orientation.applied(to: size)
        let orienter = FrameOrienter(format: format, layout: .init())
        let placement = orienter.placement(
          of: size, sampleAspectRatio: .one, turn: orientation, canvas: canvas)
        let picture = try orienter.orient(source, by: placement)
        var wrong: String?
        for component in 0..<samples.components where wrong == nil {
          let plane = samples.size(source, component)
          let upright = orientation.applied(to: plane)
          for y in 0..<upright.height {
            for x in 0..<upright.width {
              let from = Self.stored(orientation, x, y, plane)
              let expected = samples.read(source, component, from.0, from.1)
              let actual = samples.read(picture, component, x, y)
              if expected != actual && wrong == nil {
                wrong =
                  "component \(component), x \(x), y \(y): expected \(expected), got \(actual)"
              }
            }
          }
        }
        #expect(wrong == nil, "\(name) \(size) \(orientation.name), seed \(random.seed)")
      }
    }
  }

  @Test("Times and properties are copied, pixels become square, the source is unchanged")
  func properties() throws {
    let format = PixelFormat.yuv420p
    let samples = Samples(format: format, name: "yuv420p")
    var source = try Self.picture(samples, PixelSize(64, 48))
    source.sampleAspectRatio = Rational(4, 3)
    source.duration = 3
    source.forcesKeyframe = true
    let before = samples.read(source, 0, 5, 7)
    let orienter = FrameOrienter(
      format: format, layout: .init(background: RGBColour(red: 255, green: 255, blue: 255)))
    let placement = orienter.placement(
      of: PixelSize(64, 48), sampleAspectRatio: Rational(4, 3), turn: .right,
      canvas: PixelSize(64, 64))
    let picture = try orienter.orient(source, by: placement)
    let (pts, duration, base) = (picture.pts, picture.duration, picture.timeBase)
    #expect(pts == 7 && duration == 3 && base == Rational(1, 25))
    let (shape, isForced) = (picture.sampleAspectRatio, picture.forcesKeyframe)
    #expect(shape == .one && !isForced)
    let after = samples.read(source, 0, 5, 7)
    #expect(before == after)
    // 64x48 pixels with an aspect ratio of 4:3 are 16:9. Upright it is 9:16: 36 of the canvas's 64 columns.
    #expect(placement.canvasRect == PixelRect(x: 14, y: 0, width: 36, height: 64))
  }

  @Test("Every pixel of a reused buffer is overwritten")
  func pooled() throws {
    let format = PixelFormat.yuv420p
    let samples = Samples(format: format, name: "yuv420p")
    let orienter = FrameOrienter(format: format, layout: .init())
    let source = try Self.picture(samples, PixelSize(64, 48))
    func run(_ orientation: ImageOrientation) throws -> (PixelSize, Int) {
      let placement = orienter.placement(
        of: PixelSize(64, 48), sampleAspectRatio: .one, turn: orientation, canvas: PixelSize(64, 48)
      )
      let picture = try orienter.orient(source, by: placement)
      let ratio = Self.ratio(samples, picture, 0, placement)
      #expect(ratio > 35)
      Self.checkMargins(samples, picture, placement, orientation.name)
      return (picture.size, samples.read(picture, 0, 0, 0))
    }
    // Alternates between orientations, so that letterbox bars cover what was the frame before.
    for orientation in [ImageOrientation.up, .right, .down, .left, .up, .leftMirrored] {
      _ = try run(orientation)
    }
  }
}
