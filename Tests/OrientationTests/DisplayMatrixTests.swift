import UprightOrientation
import Testing
import UprightTestSupport

@Suite("Display matrix")
struct DisplayMatrixTests {
  @Test("Each of the eight, with and without translation, at any positive scale")
  func eight() throws {
    for orientation in ImageOrientation.allCases {
      var matrix = DisplayMatrix(orientation)
      #expect(matrix.orientation == orientation)
      #expect(matrix.clockwiseDegrees == Double(orientation.clockwiseDegrees))
      #expect(matrix.isMirrored == orientation.isMirrored)
      let placed = try #require(DisplayMatrix(orientation, size: PixelSize(568, 320)))
      #expect(placed.orientation == orientation)
      let affine = AffineMatrix(orientation, size: PixelSize(568, 320))
      #expect(Double(placed.x) / 65536 == affine.tx && Double(placed.y) / 65536 == affine.ty)
      for (across, down) in [(2, 1), (1, 3), (1, 1)] as [(Int32, Int32)] {
        var scaled = matrix
        (scaled.a, scaled.b) = (matrix.a * across, matrix.b * across)
        (scaled.c, scaled.d) = (matrix.c * down, matrix.d * down)
        #expect(scaled.orientation == orientation)
        #expect(scaled.sampleAspectRatio == Rational(Int(across), Int(down)))
      }
      (matrix.x, matrix.y) = (.min, .max)
      #expect(matrix.orientation == orientation)
    }
  }

  @Test("An iPhone's matrix: 90 clockwise with tx = 320")
  func iPhone() {
    let matrix = DisplayMatrix([0, 65536, 0, -65536, 0, 0, 20_971_520, 0, 1 << 30])
    #expect(matrix?.orientation == .right)
    #expect(matrix == DisplayMatrix(.right, size: PixelSize(568, 320)))
    #expect(matrix?.values == [0, 65536, 0, -65536, 0, 0, 20_971_520, 0, 1 << 30])
    #expect(matrix?.description == "[0 65536 0 | -65536 0 0 | 20971520 0 1073741824]")
    #expect(DisplayMatrix(.right) == DisplayMatrix(a: 0, b: 65536, c: -65536, d: 0))
    #expect(DisplayMatrix(.up) == .identity)
  }

  @Test("Invalid matrices have no orientation")
  func refusals() {
    #expect(DisplayMatrix([]) == nil)
    #expect(DisplayMatrix([Int32](repeating: 0, count: 8)) == nil)
    let zero = DisplayMatrix(a: 0, b: 0, c: 0, d: 0)
    #expect(zero.isSingular && zero.orientation == nil && zero.clockwiseDegrees == nil)
    #expect(zero.sampleAspectRatio == .one)
    var perspective = DisplayMatrix.identity
    perspective.u = 1
    #expect(perspective.orientation == nil && perspective.turn == nil)
    var negative = DisplayMatrix.identity
    negative.w = -1
    #expect(negative.orientation == nil)
    var careless = DisplayMatrix(.left)
    careless.w = 0
    #expect(careless.orientation == .left)
    let shear = DisplayMatrix(a: 65536, b: 0, c: 100, d: 65536)
    #expect(shear.orientation == nil && shear.clockwiseDegrees == 0)
    #expect(DisplayMatrix(.right, size: PixelSize(568, 32768)) == nil)
    #expect(DisplayMatrix(.right, size: PixelSize(32767, 32767)) != nil)
    #expect(DisplayMatrix(.right, size: PixelSize(-1, 2)) == nil)
  }

  @Test("Any angle, with and without a flip, and the nearest quarter")
  func angles() throws {
    for degrees in stride(from: 0.0, to: 360, by: 7.5) {
      for isMirrored in [false, true] {
        let affine = AffineMatrix(scaleX: isMirrored ? -1 : 1, y: 1)
          .concatenating(AffineMatrix(rotationAngle: degrees * .pi / 180))
        func fixed(_ value: Double) -> Int32 { Int32((value * 65536).rounded()) }
        let matrix = DisplayMatrix(
          a: fixed(affine.a), b: fixed(affine.b), c: fixed(affine.c), d: fixed(affine.d))
        let turn = try #require(matrix.turn)
        #expect(turn.isMirrored == isMirrored)
        #expect(abs(turn.clockwiseDegrees - degrees) < 0.01, "\(degrees)")
        #expect((matrix.orientation != nil) == (degrees.truncatingRemainder(dividingBy: 90) == 0))
        #expect(
          turn.nearest == DisplayTurn(isMirrored: isMirrored, clockwiseDegrees: degrees)?.nearest)
        #expect(matrix.sampleAspectRatio == .one)
      }
    }
  }

  @Test("The extremes of Int32 don't trap or overflow")
  func extremes() {
    let values: [Int32] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    for a in values {
      for b in values {
        for c in values {
          for d in values {
            let matrix = DisplayMatrix(a: a, b: b, c: c, d: d, x: .min, y: .max)
            let exact = Double(a) * Double(d) - Double(b) * Double(c)
            if abs(exact) > 1e3 { #expect((matrix.determinant < 0) == (exact < 0)) }
            if let degrees = matrix.clockwiseDegrees { #expect((0..<360).contains(degrees)) }
            #expect(matrix.sampleAspectRatio.numerator >= 0)
            _ = matrix.orientation
          }
        }
      }
    }
  }

  @Test(
    "Vectors: ffmpeg_display_matrix")
  func ffmpegVectors() throws {
    for entry in try Fixtures.vectors("ffmpeg_display_matrix")["cases"].array {
      switch entry["id"].string {
      case "set90", "set-45", "set-45+hflip", "set-45+hflip+vflip", "fate-mov-displaymatrix":
        let matrix = try #require(DisplayMatrix(entry["matrix"].ints.map { Int32($0) }))
        let turn = try #require(matrix.turn)
        // FFmpeg counts counter-clockwise and uses the x axis only, which a flip has reversed.
        let expected = -turn.clockwiseDegrees - (turn.isMirrored ? 180 : 0)
        let difference = try #require(entry["rotation_get"].double) - expected
        #expect(abs(difference.remainder(dividingBy: 360)) < 0.001)
        #expect(turn.isMirrored == (entry["id"].string == "set-45+hflip"))
        if entry["id"].string == "fate-mov-displaymatrix" {
          #expect(matrix.orientation == .right)
          // FFmpeg's 1:2 is along the rotated frame's axes; along the stored axes it is 2:1.
          #expect(matrix.sampleAspectRatio.inverted == Rational(1, 2))
          #expect(matrix.x == 720 * 65536)
        }
      case "fate-autorotate":
        let coded = entry["coded"].ints
        let upright = ImageOrientation.right.applied(to: PixelSize(coded[0], coded[1]))
        #expect([upright.width, upright.height] == entry["transcode_out"].ints)
      case "fate-filter-meta-4560-rotate0":
        // rotate=0 on remux replaces the matrix. The pipeline decides the precedence of signals;
        // the tag itself is no rotation.
        #expect(RotateTag(degrees: 0).orientation == .up)
      default:
        Issue.record("case \(entry["id"]) is not used")
      }
    }
  }

  @Test(
    "Vectors: mp4_tkhd_rotation_peers")
  func tkhdVectors() throws {
    let words: [String: ImageOrientation] = [
      "identity": .up, "rot90cw": .right, "rot180": .down, "rot270cw": .left, "hflip": .upMirrored,
      "vflip": .downMirrored, "transpose": .leftMirrored, "transverse": .rightMirrored,
    ]
    for entry in try Fixtures.vectors("mp4_tkhd_rotation_peers")["cases"].array {
      let abcd = entry["matrix_abcd"].ints.map { Int32($0) * 65536 }
      let matrix = DisplayMatrix(a: abcd[0], b: abcd[1], c: abcd[2], d: abcd[3])
      if entry["id"].string == "all_zero" {
        #expect(matrix.orientation == nil)
        continue
      }
      let orientation = try #require(matrix.orientation)
      if entry["id"].string == "scaled_2x" {
        // Media3 and mp4parse only recognise unscaled matrices and return 0; FFmpeg returns -90.
        #expect(orientation == .right && matrix.sampleAspectRatio == Rational(2, 1))
        continue
      }
      #expect(orientation == words[entry["transform"].string ?? ""])
      // Media3 and Chromium rotate first and mirror afterwards.
      for (peer, key) in [("media3", "mirror"), ("chromium", "mirrored")] {
        let turn = ImageOrientation(
          flippedHorizontally: false, clockwiseDegrees: entry[peer]["rotation_cw"].int ?? 1)
        let mirror: ImageOrientation = entry[peer][key].bool == true ? .upMirrored : .up
        #expect(turn?.then(mirror) == orientation)
      }
      // mp4parse, mediainfo and ffprobe don't report mirroring.
      if !orientation.isMirrored {
        #expect(entry["mp4parse_rust_rotation"].int == orientation.clockwiseDegrees)
        #expect(entry["mediainfo_rotation"].int == orientation.clockwiseDegrees)
        let ffprobe = entry["ffprobe_rotation"].int ?? 0
        #expect((ffprobe + orientation.clockwiseDegrees).isMultiple(of: 360))
      }
    }
  }
}
