import UprightOrientation
import Testing
import UprightTestSupport

private typealias Transform = UprightOrientation.AffineMatrix

extension UprightOrientation.AffineMatrix {
  fileprivate init?(_ values: [Double]) {
    guard values.count == 6 else { return nil }
    self.init(
      a: values[0], b: values[1], c: values[2], d: values[3], tx: values[4], ty: values[5])
  }

  fileprivate var values: [Double] { [a, b, c, d, tx, ty] }
}

private func isClose(_ one: [Double], _ other: [Double], within tolerance: Double) -> Bool {
  one.count == other.count && zip(one, other).allSatisfy { abs($0 - $1) <= tolerance }
}

@Suite("Affine core")
struct AffineMatrixTests {
  @Test("The view transform has exactly UIKit's numbers")
  func interfaces() {
    let rows: [(InterfaceOrientation, String)] = [
      (.portrait, "[1, 0, 0, 1, 0, 0]"), (.landscapeLeft, "[0, -1, 1, 0, 0, 0]"),
      (.landscapeRight, "[0, 1, -1, 0, 0, 0]"), (.portraitUpsideDown, "[-1, 0, 0, -1, 0, 0]"),
      (.unknown, "[1, 0, 0, 1, 0, 0]"),
    ]
    for (interface, text) in rows { #expect(Transform(interface).description == text) }
  }

  @Test("Quarter turns are exact for every way of creating them")
  func quarterTurns() {
    for turns in -9...9 {
      let exact = Transform(quarterTurnsClockwise: turns)
      #expect(Transform(rotationAngle: Double(turns) * .pi / 2) == exact)
      #expect(Transform(rotationAngle: Double(turns * 90) * .pi / 180) == exact)
      #expect(Transform.identity.rotated(by: Double(turns) / 2 * .pi) == exact)
      #expect(Set(exact.values.map(abs)).isSubset(of: [0, 1]))
    }
    #expect(Transform(rotationAngle: .pi / 4).b == (0.5).squareRoot().nextDown)
    #expect(Transform(rotationAngle: 1e-9).b == 1e-9)
    #expect(Transform(rotationAngle: 1e300).isFinite)
  }

  @Test("Description: whole numbers without a fraction, never -0")
  func descriptions() {
    let transform = Transform(a: -0.0, b: 0.5, c: -1, d: 1e20, tx: 1.0 / 3, ty: 320)
    #expect(transform.description == "[0, 0.5, -1, 1e+20, 0.3333333333333333, 320]")
  }

  @Test("a.concatenating(b) applies a, then b; translatedBy, scaledBy and rotated prepend")
  func order() {
    let move = Transform(translationX: 10, y: 20)
    let double = Transform(scaleX: 2, y: 3)
    let point = Point(x: 1, y: 1)
    #expect(point.applying(move.concatenating(double)) == Point(x: 22, y: 63))
    #expect(point.applying(double.concatenating(move)) == Point(x: 12, y: 23))
    #expect(move.scaledBy(x: 2, y: 3) == double.concatenating(move))
    #expect(double.translatedBy(x: 10, y: 20) == move.concatenating(double))
    #expect(
      move.rotated(by: .pi / 2) == Transform(quarterTurnsClockwise: 1).concatenating(move))
    // Clockwise with y down: the x axis maps to the y axis.
    #expect(
      Point(x: 1, y: 0).applying(.init(quarterTurnsClockwise: 1)) == Point(x: 0, y: 1))
  }

  @Test("Inverses, and errors if there is none")
  func inverses() throws {
    let transform = Transform(a: 2, b: 1, c: -1, d: 4, tx: 7, ty: -3)
    let back = try transform.inverted()
    #expect(isClose(transform.concatenating(back).values, Transform.identity.values, within: 1e-15))
    let bad: [Transform] = [
      .init(scaleX: 0, y: 1), .init(a: 2, b: 1, c: 2, d: 1, tx: 0, ty: 0),
      .init(a: .nan, b: 0, c: 0, d: 1, tx: 0, ty: 0),
      .init(a: .infinity, b: 0, c: 0, d: 1, tx: 0, ty: 0),
      .init(a: 1, b: 0, c: 0, d: 1, tx: .infinity, ty: 0),
      .init(scaleX: 1e-200, y: 1e-200), .init(scaleX: 1e200, y: 1e200),
      .init(a: 1e-160, b: 0, c: 0, d: 1e-160, tx: 1e200, ty: 0),
    ]
    for transform in bad {
      #expect(throws: SingularMatrix.self) { try transform.inverted() }
    }
    #expect(SingularMatrix(.init(scaleX: 0, y: 1)).description.contains("[0, 0, 0, 1, 0, 0]"))
  }

  @Test("A transformed rect is the bounding box")
  func rects() {
    let rect = Rect(x: 0, y: 0, width: 200, height: 100)
    #expect(
      rect.applying(.init(quarterTurnsClockwise: 1)) == Rect(x: -100, y: 0, width: 100, height: 200)
    )
    #expect(
      rect.applying(.init(scaleX: -1, y: 0.5)) == Rect(x: -200, y: 0, width: 200, height: 50))
    let turned = rect.applying(.init(rotationAngle: .pi / 4))
    #expect(abs(turned.size.width - 300 * 0.5.squareRoot()) < 1e-9)
    #expect(
      Size(width: 3, height: 4).applying(.init(a: 1, b: 2, c: 3, d: 4, tx: 99, ty: 99))
        == Size(width: 15, height: 22))
  }

  // MARK: Peer vectors

  /// Runs the steps of a vector. `prepend` selects the side on which translate, scale and rotate
  /// are applied.
  private func run(_ steps: [JSON], prepend: Bool) throws -> Transform {
    var transform = Transform.identity
    for step in steps {
      let numbers = step.array.dropFirst().compactMap(\.double)
      let change: Transform
      switch step[0].string {
      case "matrix":
        transform = try #require(Transform(numbers))
        continue
      case "prepend":
        transform = try #require(Transform(step[1].doubles)).concatenating(transform)
        continue
      case "append":
        transform = transform.concatenating(try #require(Transform(step[1].doubles)))
        continue
      case "translate" where prepend:
        transform = transform.translatedBy(x: numbers[0], y: numbers[1])
        continue
      case "scale" where prepend:
        transform = transform.scaledBy(x: numbers[0], y: numbers[1])
        continue
      case "rotate_rad" where prepend:
        transform = transform.rotated(by: numbers[0])
        continue
      case "rotate_deg" where prepend:
        transform = transform.rotated(by: numbers[0] * .pi / 180)
        continue
      case "translate": change = .init(translationX: numbers[0], y: numbers[1])
      case "scale": change = .init(scaleX: numbers[0], y: numbers[1])
      case "rotate_deg": change = .init(rotationAngle: numbers[0] * .pi / 180)
      case "shear": change = .init(a: 1, b: numbers[1], c: numbers[0], d: 1, tx: 0, ty: 0)
      default:
        Issue.record("unknown step \(step)")
        continue
      }
      transform =
        prepend ? change.concatenating(transform) : transform.concatenating(change)
    }
    return transform
  }

  private func point(_ json: JSON) -> Point { Point(x: json.doubles[0], y: json.doubles[1]) }

  @Test(
    "Vectors: affine_swift_corelibs (append)")
  func corelibs() throws {
    let file = try Fixtures.vectors("affine_swift_corelibs")
    #expect(Transform(file["codable"]["matrix"].doubles)?.values == [1, 2, 3, 4, 5, 6])
    for entry in file["cases"].array {
      let transform = try run(entry["steps"].array, prepend: false)
      let from = point(entry["vector"])
      let to = from.applying(transform)
      let size = Size(width: from.x, height: from.y).applying(transform)
      #expect(isClose([to.x, to.y], entry["point"].doubles, within: 1e-12), "\(entry["id"])")
      #expect(isClose([size.width, size.height], entry["size"].doubles, within: 1e-12))
    }
  }

  @Test("Vectors: affine_gnustep (prepend)")
  func gnustep() throws {
    for entry in try Fixtures.vectors("affine_gnustep")["cases"].array {
      let transform = try run(entry["steps"].array, prepend: true)
      if !entry["expect_matrix"].isNull {
        #expect(isClose(transform.values, entry["expect_matrix"].doubles, within: 1e-5))
      }
      if !entry["expect_point"].isNull {
        let to = point(entry["point"]).applying(transform)
        #expect([to.x, to.y] == entry["expect_point"].doubles, "\(entry["id"])")
      }
      if !entry["expect_size"].isNull {
        let size = entry["size"].doubles
        let to = Size(width: size[0], height: size[1]).applying(transform)
        #expect([to.width, to.height] == entry["expect_size"].doubles)
      }
    }
  }

  @Test("Vectors: affine_webkit (prepend)")
  func webkit() throws {
    for entry in try Fixtures.vectors("affine_webkit")["cases"].array {
      if !entry["steps"].isNull {
        let transform = try run(entry["steps"].array, prepend: true)
        #expect(transform.values == entry["expect_matrix"].doubles, "\(entry["id"])")
        continue
      }
      let transform = Transform(entry["matrix"].doubles) ?? .identity
      switch entry["id"].string {
      case "map_between_rects":
        // WebKit translates and then scales about the origin, so its matrix maps the first rect to
        // the second only if both start at 0. The two steps themselves agree.
        #expect(
          Transform.identity.translatedBy(x: 60, y: 60).scaledBy(x: 2, y: 0.5).values
            == entry["expect_matrix"].doubles)
      case "mapRect_d2":
        let rect = entry["rect"].doubles
        let to = Rect(x: rect[0], y: rect[1], width: rect[2], height: rect[3]).applying(transform)
        #expect(
          [to.origin.x, to.origin.y, to.size.width, to.size.height] == entry["expect_rect"].doubles)
      case "mapSize_a.5_d2":
        let size = entry["size"].doubles
        let to = Size(width: size[0], height: size[1]).applying(transform)
        #expect([to.width, to.height] == entry["expect_size"].doubles)
      case "mapQuad_a.5_d2":
        for (from, expected) in zip(entry["quad"].array, entry["expect_quad"].array) {
          #expect(point(from).applying(transform) == point(expected))
        }
      case "predicates_flipY":
        #expect(transform.isIdentity == entry["is_identity"].bool)
        #expect(transform.determinant == -1)
      default:
        Issue.record("case \(entry["id"]) is not used")
      }
    }
  }

  @Test(
    "Vectors: affine_closure_blink (prepend)")
  func closureAndBlink() throws {
    let words = ["NaN": Double.nan, "Infinity": .infinity]
    for entry in try Fixtures.vectors("affine_closure_blink")["cases"].array {
      if !entry["steps"].isNull {
        let transform = try run(entry["steps"].array, prepend: true)
        if !entry["expect_matrix"].isNull {
          #expect(
            isClose(transform.values, entry["expect_matrix"].doubles, within: 1e-12),
            "\(entry["id"])")
        }
        for (from, expected) in zip(entry["points"].array, entry["expect_points"].array) {
          let to = point(from).applying(transform)
          #expect(isClose([to.x, to.y], expected.doubles, within: 1e-6))
        }
        if let determinant = entry["determinant"].double {
          #expect(abs(transform.determinant - determinant) < 1e-12)
        }
      } else if let invertible = entry["invertible"].bool {
        let values = entry["matrix"].array.compactMap { $0.double ?? words[$0.string ?? ""] }
        let transform = try #require(Transform(values))
        #expect(((try? transform.inverted()) != nil) == invertible, "\(values)")
      } else if !entry["a"].isNull {
        let a = try #require(Transform(entry["a"].doubles))
        let b = try #require(Transform(entry["b"].doubles))
        // Blink's a*b applies b first.
        #expect(b.concatenating(a).values == entry["expect_a_times_b"].doubles)
        #expect(a.concatenating(b).values == entry["expect_b_times_a"].doubles)
      } else {
        // blink_huge: Blink clamps mapped values. Here mapping is plain arithmetic, as in
        // CoreGraphics, and only inversion guarantees finite numbers or an error.
        #expect(entry["id"].string == "blink_huge")
        for huge in [Double.greatestFiniteMagnitude, -Double.greatestFiniteMagnitude, 1, -1] {
          let transform = Transform(a: huge, b: huge, c: huge, d: huge, tx: huge, ty: huge)
          #expect(throws: SingularMatrix.self) { try transform.inverted() }
        }
      }
    }
  }
}
