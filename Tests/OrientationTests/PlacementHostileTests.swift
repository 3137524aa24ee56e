import UprightOrientation
import Testing
import UprightTestSupport

@Suite("Placement: hostile input")
struct PlacementHostileTests {
  @Test("Nothing traps, and the rectangles satisfy their documented properties")
  func random() {
    var generator = SeededGenerator()
    let seed = generator.seed
    for round in 0..<20_000 {
      let input = Input(&generator)
      let failures = input.broken()
      if !failures.isEmpty {
        Issue.record("seed \(seed), round \(round): \(failures) for \(input)")
        return
      }
    }
  }

  @Test("Without area the placement is empty")
  func empty() {
    for side in [0, -1, Int.min] {
      for (source, canvas) in [
        (PixelSize(side, 10), PixelSize(10, 10)), (PixelSize(10, 10), PixelSize(10, side)),
      ] {
        for fit in Fit.allCases {
          let placement = Placement(source: source, orientation: .right, fit: fit, canvas: canvas)
          #expect(placement.isEmpty && placement.transform == .identity)
          #expect(placement.sourceRect.size == PixelSize(0, 0))
        }
      }
    }
  }

  @Test("The largest values")
  func largest() {
    for fit in Fit.allCases {
      for orientation in ImageOrientation.allCases {
        for sar in [Rational(.max, 1), Rational(1, .max), Rational(.min, 3), .one] {
          let placement = Placement(
            source: PixelSize(.max, .max), crop: PixelRect(x: 1, y: 1, width: .max, height: .max),
            sampleAspectRatio: sar, orientation: orientation, fit: fit, anchor: .bottomTrailing,
            canvas: PixelSize(.max, 1), alignment: PixelSize(.max, .min))
          #expect(placement.transform.isFinite && !placement.isEmpty)
        }
      }
    }
  }
}

/// One random placement and its violations.
private struct Input {
  var source: PixelSize
  var crop: PixelRect?
  var sar: Rational
  var orientation: ImageOrientation
  var fit: Fit
  var anchor: Anchor
  var canvas: PixelSize
  var alignment: PixelSize

  init(_ generator: inout SeededGenerator) {
    /// Small, likely and absurdly large numbers.
    func side(_ generator: inout SeededGenerator) -> Int {
      let bits = Int.random(in: 1...31, using: &generator)
      return Int.random(in: 1...(1 << bits), using: &generator)
    }
    source = PixelSize(side(&generator), side(&generator))
    canvas = PixelSize(side(&generator), side(&generator))
    sar =
      Bool.random(using: &generator)
      ? .one : Rational(side(&generator) - 1, side(&generator) - 1)
    orientation = ImageOrientation.allCases.randomElement(using: &generator) ?? .up
    fit = Fit.allCases.randomElement(using: &generator) ?? .fit
    anchor = Anchor.allCases.randomElement(using: &generator) ?? .center
    let grids = [1, 1, 2, 2, 2, 4, 16, 1 << 20]
    alignment = PixelSize(
      grids.randomElement(using: &generator) ?? 2, grids.randomElement(using: &generator) ?? 2)
    if Bool.random(using: &generator) {
      crop = PixelRect(
        x: side(&generator) - 4, y: side(&generator) - 4, width: side(&generator) - 1,
        height: side(&generator) - 1)
    }
  }

  func broken() -> [String] {
    let placement = Placement(
      source: source, crop: crop, sampleAspectRatio: sar, orientation: orientation, fit: fit,
      anchor: anchor, canvas: canvas, alignment: alignment)
    let (from, to) = (placement.sourceRect, placement.canvasRect)
    var wrong: [String] = []
    for (start, length, limit, step, isSource) in [
      (from.x, from.width, source.width, alignment.width, true),
      (from.y, from.height, source.height, alignment.height, true),
      (to.x, to.width, canvas.width, alignment.width, false),
      (to.y, to.height, canvas.height, alignment.height, false),
    ] {
      if start < 0 || length < 1 || start + length > limit { wrong.append("outside: \(placement)") }
      if !start.isMultiple(of: step) { wrong.append("corner off the grid: \(placement)") }
      let isWhole = isSource ? length == limit : start + length == limit
      if !length.isMultiple(of: step) && !isWhole { wrong.append("off the grid: \(placement)") }
    }
    if ![.fit, .blur].contains(fit) && to != PixelRect(canvas) {
      wrong.append("canvas not covered: \(placement)")
    }
    if fit != .fill && crop == nil && from != PixelRect(source) { wrong.append("cropped") }
    wrong += landing(placement) + shape(placement)
    return wrong
  }

  /// Checks that the transform maps one rectangle to the other, mirrored if the orientation is.
  private func landing(_ placement: Placement) -> [String] {
    let landed = Rect(placement.sourceRect).applying(placement.transform)
    let target = Rect(placement.canvasRect)
    // For a far corner of a huge frame, a large coordinate and a large translation cancel.
    let across = (Double(canvas.width) + abs(placement.transform.tx)) * 1e-12
    let down = (Double(canvas.height) + abs(placement.transform.ty)) * 1e-12
    guard
      abs(landed.origin.x - target.origin.x) <= across,
      abs(landed.origin.y - target.origin.y) <= down,
      abs(landed.size.width - target.size.width) <= across,
      abs(landed.size.height - target.size.height) <= down,
      (placement.transform.determinant < 0) == orientation.isMirrored
    else { return ["maps to \(landed), not to \(target)"] }
    if placement.isExact {
      let t = placement.transform
      for number in [t.a, t.b, t.c, t.d, t.tx, t.ty] where number != number.rounded() {
        return ["exact, but \(t)"]
      }
    }
    return []
  }

  /// Checks that the aspect ratio is kept within one grid step, or two steps if that is at most a
  /// fiftieth.
  private func shape(_ placement: Placement) -> [String] {
    guard fit != .stretch else { return [] }
    let pixel = sar.asSampleAspectRatio.doubleValue
    let (from, to) = (placement.sourceRect, placement.canvasRect)
    let laid = orientation.applied(to: to.size)
    let grid = alignment
    // The stored rectangle's sides at the scale of the other side.
    let scaled =
      (fit == .fit || fit == .blur)
      ? [
        (
          Double(laid.width), Double(laid.height) * Double(from.width) * pixel / Double(from.height)
        ),
        (
          Double(laid.height),
          Double(laid.width) * Double(from.height) / (Double(from.width) * pixel)
        ),
      ]
      : [
        (
          Double(from.width),
          Double(from.height) * Double(laid.width) / (Double(laid.height) * pixel)
        ),
        (
          Double(from.height), Double(from.width) * pixel * Double(laid.height) / Double(laid.width)
        ),
      ]
    let steps = (fit == .fit || fit == .blur) ? orientation.applied(to: grid) : grid
    let limits = (fit == .fit || fit == .blur) ? orientation.applied(to: canvas) : from.size
    let isKept = zip(scaled, [(steps.width, limits.width), (steps.height, limits.height)])
      .contains { pair, bounds in
        let error = abs(pair.0 - pair.1)
        let step = Double(bounds.0)
        return error <= step * 1.0001 || (error <= 2 * step && error * 50 <= pair.1)
          || pair.0 == Double(bounds.1) && pair.1 >= pair.0 * 0.9999
      }
    return isKept ? [] : ["aspect ratio not kept: \(scaled), \(placement)"]
  }
}
