import UprightOrientation
import Testing
import UprightTestSupport

@Suite("Orientation signals: SEI, CVO, projection roll, rotate tag")
struct SignalConversionTests {
  @Test("All eight orientations round-trip through every signal, or are rejected")
  func roundTrips() {
    for orientation in ImageOrientation.allCases {
      #expect(DisplayTurn(orientation).orientation == orientation)
      #expect(SEIDisplayOrientation(orientation).orientation == orientation)
      for isBack in [false, true] {
        let cvo = CVO(orientation, isBackCamera: isBack)
        #expect(cvo.orientation == orientation)
        for granularity in CVO.Granularity.allCases {
          #expect(cvo.byte(granularity).map { CVO(byte: $0, granularity: granularity) } == cvo)
        }
        #expect(cvo.byte(.twoBits) == cvo.byte(.sixBits))
      }
      #expect(
        ProjectionRoll(orientation)?.orientation == (orientation.isMirrored ? nil : orientation))
      #expect(RotateTag(orientation)?.orientation == (orientation.isMirrored ? nil : orientation))
    }
  }

  @Test("SEI: flips first, then rotates anticlockwise; both flips are half a turn")
  func sei() {
    let rows: [(Bool, Bool, UInt16, ImageOrientation?)] = [
      (false, false, 0, .up), (false, false, 0x4000, .left), (false, false, 0x8000, .down),
      (false, false, 0xC000, .right), (true, false, 0, .upMirrored),
      (false, true, 0, .downMirrored),
      (true, true, 0, .down), (true, true, 0x4000, .right), (true, false, 0x4000, .leftMirrored),
      (true, false, 0xC000, .rightMirrored), (false, true, 0x4000, .rightMirrored),
      (false, false, 1, nil), (true, false, 0x3FFF, nil),
    ]
    for (horizontal, vertical, rotation, expected) in rows {
      let sei = SEIDisplayOrientation(
        horizontalFlip: horizontal, verticalFlip: vertical, anticlockwiseRotation: rotation)
      #expect(sei.orientation == expected, "\(sei)")
      #expect(sei.turn.isExact == (expected != nil))
    }
    let nearly = SEIDisplayOrientation(
      horizontalFlip: true, verticalFlip: false, anticlockwiseRotation: 0x3FFF)
    #expect(nearly.turn.nearest == .leftMirrored)
    let degrees: Double = 270 + 360.0 / 65536
    #expect(nearly.turn.clockwiseDegrees == degrees)
  }

  @Test("SEI: every combination of flips and angle equals its parts applied in order")
  func seiExhaustive() {
    for bits in 0..<4 {
      for quarter in 0..<4 {
        let sei = SEIDisplayOrientation(
          horizontalFlip: bits & 1 != 0, verticalFlip: bits & 2 != 0,
          anticlockwiseRotation: UInt16(quarter) << 14)
        var expected = ImageOrientation.up
        if sei.horizontalFlip { expected = expected.then(.upMirrored) }
        if sei.verticalFlip { expected = expected.then(.downMirrored) }
        for _ in 0..<quarter { expected = expected.then(.left) }
        #expect(sei.orientation == expected)
      }
    }
  }

  @Test(
    "Vectors: sei_display_orientation")
  func seiVectors() throws {
    for entry in try Fixtures.vectors("sei_display_orientation")["cases"].array {
      if entry["id"].string == "streampack_formula" {
        for pair in entry["cases"].array {
          let angle = try #require(pair["angle"].int)
          let orientation = try #require(
            ImageOrientation(flippedHorizontally: false, clockwiseDegrees: -angle))
          let sei = SEIDisplayOrientation(orientation)
          #expect(Int(sei.anticlockwiseRotation) == pair["u16"].int)
        }
        continue
      }
      // 06 2f 03, then cancel, hor_flip, ver_flip and 16 bits of angle.
      let hex = try #require(entry["nal_hex"].string)
      let payload = try #require(UInt32(hex.dropFirst(6).prefix(6), radix: 16))
      let sei = SEIDisplayOrientation(
        horizontalFlip: payload >> 22 & 1 == 1, verticalFlip: payload >> 21 & 1 == 1,
        anticlockwiseRotation: UInt16(payload >> 5 & 0xFFFF))
      let orientation = try #require(sei.orientation)
      if let angle = entry["anticlockwise_deg"].int {
        #expect(Int(sei.anticlockwiseRotation) == entry["anticlockwise_u16"].int)
        #expect(sei.horizontalFlip == entry["hor_flip"].bool)
        #expect(sei.verticalFlip == entry["ver_flip"].bool)
        #expect(
          orientation
            == ImageOrientation(
              flippedHorizontally: sei.horizontalFlip, clockwiseDegrees: -angle))
      } else {
        let matrix = DisplayMatrix(orientation)
        #expect(
          [matrix.a, matrix.b, matrix.c, matrix.d].map(Int.init)
            == entry["ffmpeg_frame_matrix_abcd"].ints)
      }
    }
  }

  @Test("CVO: all 256 bytes in both forms")
  func cvo() {
    for byte in UInt8.min...UInt8.max {
      let two = CVO(byte: byte)
      #expect(two.byte(.twoBits) == byte & 0x0F)
      #expect(two.isBackCamera == (byte & 8 != 0))
      #expect(two.isFlipped == (byte & 4 != 0))
      #expect(two.turn.clockwiseDegrees == Double(byte & 3) * 90)
      let six = CVO(byte: byte, granularity: .sixBits)
      #expect(six.byte(.sixBits) == byte)
      #expect(six.byte(.twoBits) == (byte < 16 ? byte : nil))
      let value = Int(byte & 3) << 4 | Int(byte >> 4)
      #expect(six.turn.clockwiseDegrees == Double(value) * 360 / 64)
      #expect((six.orientation != nil) == (byte < 16))
    }
    #expect(CVO(byte: 0b0000_0101).orientation == .rightMirrored)
    #expect(CVO(isFlipped: false, rotation: 64 + 17).rotation == 17)
    #expect(CVO(isFlipped: false, rotation: 23).turn.nearest == .right)
    #expect(CVO(isFlipped: false, rotation: 63).turn.nearest == .up)
  }

  @Test("Vectors: cvo_libwebrtc")
  func cvoVectors() throws {
    // sender_rules (which frames carry the byte) apply to an RTP sender, not to this library. Their
    // values are those of encode_* and decode_*.
    for entry in try Fixtures.vectors("cvo_libwebrtc")["cases"].array {
      let byte = UInt8(try #require(entry["cvo_byte"].int))
      let degrees = try #require(entry["rotation_cw"].int)
      switch entry["dir"].string {
      case "encode":
        let orientation = try #require(
          ImageOrientation(flippedHorizontally: false, clockwiseDegrees: degrees))
        #expect(CVO(orientation).byte() == byte)
      case "decode":
        // libwebrtc ignores C and F. The rotation after the flip is the same number.
        #expect(CVO(byte: byte).orientation?.clockwiseDegrees == degrees)
      default:
        Issue.record("case \(entry["id"]) is not used")
      }
    }
  }

  @Test("Projection roll: counter-clockwise positive")
  func roll() {
    let rows: [(Double, ImageOrientation?)] = [
      (0, .up), (-0.0, .up), (90, .left), (-90, .right), (180, .down), (-180, .down), (270, .right),
      (450, .left), (45, nil), (1e-9, nil), (.nan, nil), (.infinity, nil),
    ]
    for (degrees, expected) in rows {
      #expect(ProjectionRoll(degrees: degrees).orientation == expected, "\(degrees)")
    }
    #expect(ProjectionRoll(.right)?.degrees == -90)
    #expect(ProjectionRoll(degrees: 80).turn?.nearest == .left)
    #expect(ProjectionRoll(degrees: .nan).turn == nil)
  }

  @Test("Vectors: matroska_rotation")
  func rollVectors() throws {
    for entry in try Fixtures.vectors("matroska_rotation")["cases"].array {
      guard let roll = entry["roll"].double else {
        // name_090, name_270: a track name of HTC phones that only Media3 reads.
        #expect(entry["track_name"].string != nil)
        continue
      }
      // yaw_180_roll_0: FFmpeg converts a yaw to a mirror. Only the roll rotates a flat frame.
      guard entry["yaw"].int == 0 else { continue }
      let orientation = try #require(ProjectionRoll(degrees: roll).orientation)
      let matrix = DisplayMatrix(orientation)
      let expected =
        entry["ffmpeg_matrix_abcd"].isNull
        ? [65536, 0, 0, 65536] : entry["ffmpeg_matrix_abcd"].ints
      #expect([matrix.a, matrix.b, matrix.c, matrix.d].map(Int.init) == expected)
      // roll_-90: Media3 reads the roll as clockwise, contrary to the specification.
      if entry["id"].string != "roll_-90" {
        #expect(orientation.clockwiseDegrees == entry["media3_rotation_cw"].int)
      }
    }
  }

  @Test("Rotate tag: clockwise, any integer")
  func rotateTag() {
    let rows: [(Int, ImageOrientation?)] = [
      (0, .up), (90, .right), (180, .down), (270, .left), (360, .up), (450, .right), (-90, .left),
      (-450, .left), (1, nil), (Int.max, nil), (Int.min, nil),
    ]
    for (degrees, expected) in rows {
      #expect(RotateTag(degrees: degrees).orientation == expected, "\(degrees)")
    }
    #expect(RotateTag(degrees: 91).turn.nearest == .right)
    #expect(RotateTag(.left)?.degrees == 270)
  }

  @Test("A rotation by any number is reduced to 0 ..< 360, or rejected")
  func turns() {
    for degrees in [-1e-300, -0.0, 360, -360, 1e300, -Double.greatestFiniteMagnitude, 359.999] {
      let turn = DisplayTurn(clockwiseDegrees: degrees)
      #expect(turn.map { (0..<360).contains($0.clockwiseDegrees) } == true, "\(degrees)")
    }
    #expect(DisplayTurn(clockwiseDegrees: 45)?.nearest == .right)
    #expect(DisplayTurn(clockwiseDegrees: 44.9)?.nearest == .up)
    #expect(DisplayTurn(clockwiseDegrees: 315)?.nearest == .up)
    #expect(DisplayTurn(clockwiseDegrees: 314.9)?.nearest == .left)
    #expect(DisplayTurn(clockwiseDegrees: .nan) == nil)
    #expect(DisplayTurn(clockwiseDegrees: -.infinity) == nil)
  }
}
