import UprightOrientation
import Testing
import UprightTestSupport

@Suite("Image orientation: the dihedral group of the square")
struct ImageOrientationTests {
  let all = ImageOrientation.allCases
  let grid = PixelGrid(numbered: PixelSize(3, 2))

  @Test("Flip, rotation, axes and EXIF value of each orientation")
  func table() {
    let rows: [(ImageOrientation, Int, Bool, Int)] = [
      (.up, 1, false, 0), (.upMirrored, 2, true, 0), (.down, 3, false, 180),
      (.downMirrored, 4, true, 180), (.leftMirrored, 5, true, 270), (.right, 6, false, 90),
      (.rightMirrored, 7, true, 90), (.left, 8, false, 270),
    ]
    for (orientation, exif, isMirrored, degrees) in rows {
      #expect(orientation.exif == exif)
      #expect(ImageOrientation(exif: exif) == orientation)
      #expect(orientation.isMirrored == isMirrored)
      #expect(orientation.clockwiseDegrees == degrees)
      #expect(orientation.quarterTurns * 90 == degrees)
      #expect(orientation.swapsAxes == (exif >= 5))
      #expect(
        orientation.applied(to: PixelSize(3, 2)) == (exif >= 5 ? PixelSize(2, 3) : PixelSize(3, 2)))
      for turns in -3...3 {
        #expect(
          ImageOrientation(
            flippedHorizontally: isMirrored, clockwiseDegrees: degrees + 360 * turns) == orientation
        )
      }
    }
    for degrees in [1, 45, 89, -91, Int.max, Int.min] {
      #expect(ImageOrientation(flippedHorizontally: false, clockwiseDegrees: degrees) == nil)
    }
  }

  @Test("The flip comes first, then the rotation")
  func decomposition() {
    for orientation in all {
      let flipped = orientation.isMirrored ? grid.uprighted(.upMirrored) : grid
      let turns = [ImageOrientation.up, .right, .down, .left]
      #expect(flipped.uprighted(turns[orientation.quarterTurns]) == grid.uprighted(orientation))
    }
  }

  @Test("All 64 products equal moving the pixels twice")
  func products() {
    for a in all {
      for b in all {
        #expect(grid.uprighted(a).uprighted(b) == grid.uprighted(a.then(b)), "\(a) then \(b)")
        #expect(
          a.then(b).applied(to: PixelSize(5, 3)) == b.applied(to: a.applied(to: PixelSize(5, 3))))
      }
    }
  }

  @Test("Identity, inverses, associativity; not commutative")
  func laws() {
    for a in all {
      #expect(a.then(.up) == a && ImageOrientation.up.then(a) == a)
      #expect(a.then(a.inverse) == .up && a.inverse.then(a) == .up)
      for b in all {
        #expect(a.then(b).inverse == b.inverse.then(a.inverse))
        for c in all { #expect(a.then(b).then(c) == a.then(b.then(c))) }
      }
      #expect(Set(all.map { a.then($0) }).count == 8)
    }
    #expect(
      ImageOrientation.right.then(.upMirrored) != ImageOrientation.upMirrored.then(.right))
  }

  @Test(
    "The transform moves a real image's pixels", arguments: ImageOrientation.allCases,
    [PixelSize(3, 2), PixelSize(2, 5), PixelSize(4, 4), PixelSize(1, 7)])
  func transform(orientation: ImageOrientation, size: PixelSize) {
    let grid = PixelGrid(numbered: size)
    let transform = AffineMatrix(orientation, size: size)
    let moved = grid.moved(
      by: transform, area: PixelRect(size), canvas: orientation.applied(to: size))
    #expect(moved == grid.uprighted(orientation))
  }

  @Test("Transforms compose like the group, with integer values")
  func transformsCompose() throws {
    let size = PixelSize(1920, 1080)
    for a in all {
      let first = AffineMatrix(a, size: size)
      #expect(try first.inverted() == AffineMatrix(a.inverse, size: a.applied(to: size)))
      for b in all {
        let second = AffineMatrix(b, size: a.applied(to: size))
        #expect(first.concatenating(second) == AffineMatrix(a.then(b), size: size))
      }
    }
    #expect(AffineMatrix(.right, size: size).description == "[0, 1, -1, 0, 1080, 0]")
    #expect(AffineMatrix(.leftMirrored, size: size).description == "[0, 1, 1, 0, 0, 0]")
  }

  @Test(
    "Vectors: exif_heif_orientation")
  func exifVectors() throws {
    for entry in try Fixtures.vectors("exif_heif_orientation")["cases"].array {
      let exif = try #require(entry["orientation"].int)
      let orientation = ImageOrientation(exif: exif)
      if entry["error"].string != nil {
        #expect(orientation == nil)
        continue
      }
      let known = try #require(orientation)
      switch entry["kind"].string {
      case "exif_to_display_matrix":
        let matrix = DisplayMatrix(known)
        #expect(
          [matrix.a, matrix.b, matrix.c, matrix.d].map(Int.init) == entry["matrix_abcd"].ints)
        #expect(matrix.orientation == known)
        #expect(known.swapsAxes == entry["swaps_dimensions"].bool)
      case "exif_to_irot_imir":
        let expected = HEIFOrientation(
          irot: entry["irot_angle_ccw90"].int, imir: entry["imir_axis"].int)
        #expect(HEIFOrientation(known) == expected)
        #expect(expected.orientation == known)
      default:
        Issue.record("case \(entry["id"]) is not used")
      }
    }
  }

  @Test("HEIF: every pair of properties has one orientation, out-of-range values have none")
  func heif() {
    for irot in 0...3 {
      for imir in [nil, 0, 1] as [Int?] {
        let heif = HEIFOrientation(irot: irot, imir: imir)
        #expect(heif.orientation.map { HEIFOrientation($0).orientation } == heif.orientation)
        #expect(heif.orientation?.isMirrored == (imir != nil))
      }
    }
    #expect(HEIFOrientation(irot: 4).orientation == nil)
    #expect(HEIFOrientation(irot: -1).orientation == nil)
    #expect(HEIFOrientation(imir: 2).orientation == nil)
  }

  @Test(
    "Vectors: qt_color_matrix_expectations")
  func qtVectors() throws {
    let quadrants = ["FF0000", "00FF00", "0000FF", "FFFF00"]
    let picture = PixelGrid(numbered: PixelSize(2, 2))
    for entry in try Fixtures.vectors("qt_color_matrix_expectations")["cases"].array {
      let orientation = try #require(
        ImageOrientation(
          flippedHorizontally: entry["mirrored"].bool == true,
          clockwiseDegrees: entry["rotation_cw"].int ?? -1))
      let upright = picture.uprighted(orientation)
      #expect(quadrants[upright[0, 0]] == entry["upper_left"].string)
      let displayed = orientation.applied(to: PixelSize(960, 540))
      #expect([displayed.width, displayed.height] == entry["displayed"].ints)
    }
  }

  @Test(
    "Vectors: chromium_video_transformation (rotates first, then mirrors)")
  func chromiumVectors() throws {
    func orientation(_ degrees: Int?, _ mirrored: Bool?) -> ImageOrientation? {
      ImageOrientation(flippedHorizontally: false, clockwiseDegrees: degrees ?? 1)?
        .then(mirrored == true ? .upMirrored : .up)
    }
    for entry in try Fixtures.vectors("chromium_video_transformation")["cases"].array {
      let expected = orientation(entry["rotation_cw"].int, entry["mirrored"].bool)
      switch entry["kind"].string {
      case "matrix_to_transformation":
        let abcd = entry["matrix_abcd"].ints.map { Int32($0) }
        let matrix = DisplayMatrix(a: abcd[0], b: abcd[1], c: abcd[2], d: abcd[3])
        #expect(matrix.orientation == expected)
      case "transformation_to_matrix_roundtrip":
        #expect(expected.map { DisplayMatrix($0).orientation } == expected)
      case "angle":
        let text = entry["angle"].string.flatMap(Double.init)
        let angle = try #require(text ?? entry["angle"].double)
        #expect(DisplayTurn(clockwiseDegrees: angle)?.nearest == expected, "\(angle)")
      case "add":
        func element(_ key: String) throws -> ImageOrientation {
          try #require(orientation(entry[key][0].int, entry[key][1].bool))
        }
        #expect(try element("base").then(element("delta")) == element("expect"))
      default:
        Issue.record("case \(entry["id"]) is not used")
      }
    }
  }
}
