import UprightOrientation
import UprightKernels
import Testing
import UprightFrames

/// Upright frames in the pixel format that the host asks for.
@Suite struct FramePixelsTests {
  private static let size = PixelSize(48, 32)
  private static let nv21 = PixelLayout(
    planes: PixelLayout.nv12.planes,
    components: [.init(plane: 0), .init(plane: 1, offset: 1), .init(plane: 1)])
  private static let gbrp = PixelLayout(
    planes: Array(repeating: .init(elementSize: 1), count: 3),
    components: [2, 0, 1].map { .init(plane: $0) }, isRGB: true)

  /// Every value of every component is there.
  private static func value(_ component: Int, _ x: Int, _ y: Int) -> Int {
    (x * 11 + y * 29 + component * 83) & 255
  }

  private static func filled(_ layout: PixelLayout) -> TestFrame {
    var frame = TestFrame(layout, size, padding: 3)
    frame.fill(value)
    return frame
  }

  private func drawn(
    _ source: TestFrame, as pixels: FramePixels, signal: ImageOrientation = .up,
    _ colour: ColourCoding = .bt601, size: PixelSize? = nil
  ) throws -> TestFrame {
    var options = AdapterOptions()
    options.size = size
    if size != nil { options.canvas = .landscape }
    let adapter = try FrameAdapter(options, pixels: pixels)
    var format = FrameFormat(source.layout, source.size)
    format.colour = colour
    var (source, target) = (source, TestFrame(.gray, PixelSize(1, 1)))
    // Twice: what is kept from the first frame is used for the second.
    for frame in 0..<2 {
      let layout = try adapter.layout(
        of: format, at: MediaTime(Int64(frame), Rational(1, 25)), signal: DisplayTurn(signal))
      target = TestFrame(layout.target.layout, layout.target.size, padding: 5)
      try source.withPlanes { planes in
        try target.withPlanes { try adapter.draw(PlaneSet(planes), layout, into: $0) }
      }
    }
    return target
  }

  /// Red, green and blue of a pixel, by the standard's equations (ISO/IEC 23091-2, 8.3).
  private func rgb(_ frame: TestFrame, _ x: Int, _ y: Int, _ colour: ColourCoding) -> [Double] {
    let plane = frame.layout.planes[frame.layout.components.last?.plane ?? 0]
    let (offset, luma, chroma) = colour.isFullRange ? (0.0, 255.0, 255.0) : (16, 219, 224)
    let grey = (Double(frame.sample(0, x, y)) - offset) / luma
    func difference(_ index: Int) -> Double {
      guard frame.layout.components.count > 2 else { return 0 }
      return (Double(frame.sample(index, x >> plane.shiftX, y >> plane.shiftY)) - 128) / chroma
    }
    let blue = grey + 2 * (1 - colour.blueWeight) * difference(1)
    let red = grey + 2 * (1 - colour.redWeight) * difference(2)
    let green =
      (grey - colour.redWeight * red - colour.blueWeight * blue)
      / (1 - colour.redWeight - colour.blueWeight)
    return [red, green, blue].map { max(0, min(255, $0 * 255)) }
  }

  @Test("RGB of every layout of 8 bits is that of the standard's equations")
  func colours() throws {
    let full = ColourCoding(redWeight: 0.2126, blueWeight: 0.0722, isFullRange: true)
    for layout in [PixelLayout.i420(), .i422(), .i444(), .nv12, Self.nv21, .gray] {
      let source = Self.filled(layout)
      for colour in [ColourCoding.bt601, .bt709, .bt2020, full] {
        let result = try drawn(source, as: .rgb24, colour)
        #expect(result.layout == .rgb24 && result.size == Self.size)
        var worst = 0.0
        for y in 0..<Self.size.height {
          for x in 0..<Self.size.width {
            for (index, wanted) in rgb(source, x, y, colour).enumerated() {
              worst = max(worst, (wanted - Double(result.sample(index, x, y))).magnitude)
            }
          }
        }
        #expect(worst < 0.6, "\(layout.planes.count) planes, \(colour)")
      }
    }
  }

  @Test("The bytes of RGB are moved", arguments: [PixelLayout.rgba, .bgra, gbrp])
  func arrangement(_ layout: PixelLayout) throws {
    let source = Self.filled(layout)
    let result = try drawn(source, as: .rgb24)
    for index in 0..<3 {
      let isSame = (0..<Self.size.height).allSatisfy { y in
        (0..<Self.size.width).allSatisfy {
          result.sample(index, $0, y) == source.sample(index, $0, y)
        }
      }
      #expect(isSame, "component \(index)")
    }
  }

  @Test("Chroma is joined and divided exactly, turned or not")
  func chroma() throws {
    let planar = Self.filled(.i420())
    for signal in ImageOrientation.allCases {
      let expected = try drawn(planar, as: .native, signal: signal)
      for layout in [PixelLayout.i420(), .nv12, Self.nv21] {
        for (pixels, result) in [(FramePixels.nv12, PixelLayout.nv12), (.yuv420p, .i420())] {
          let found = try drawn(Self.filled(layout), as: pixels, signal: signal)
          #expect(found.layout == result && found.size == expected.size)
          for index in 0..<3 {
            let extent = found.extent(index)
            let isSame = (0..<extent.height).allSatisfy { y in
              (0..<extent.width).allSatisfy {
                found.sample(index, $0, y) == expected.sample(index, $0, y)
              }
            }
            #expect(isSame, "\(signal), component \(index)")
          }
        }
      }
    }
  }

  @Test("4:2:2 and 4:4:4 become 4:2:0: luma is moved, chroma is filtered")
  func subsampling() throws {
    for layout in [PixelLayout.i422(), .i444(), .yuy2] {
      for signal in [ImageOrientation.up, .right] {
        var source = TestFrame(layout, Self.size)
        // Chroma is a slope, whose filtered samples are known.
        source.fill { component, x, y in component == 0 ? Self.value(0, x, y) : 40 + 2 * y }
        let result = try drawn(source, as: .yuv420p, signal: signal)
        #expect(result.layout == .i420())
        if layout != .yuy2 {
          let luma = try drawn(source, as: .native, signal: signal)
          let isSame = (0..<result.size.height).allSatisfy { y in
            (0..<result.size.width).allSatisfy { result.sample(0, $0, y) == luma.sample(0, $0, y) }
          }
          #expect(isSame, "luma")
        }
        // Row 8 of chroma, or column, is between rows 16 and 17 of the source.
        let middle =
          signal == .up
          ? result.sample(1, 12, 8) : result.sample(1, result.extent(1).width - 1 - 8, 12)
        #expect((72...75).contains(middle), "\(middle)")
      }
    }
  }

  @Test("A frame is rescaled, and its background is converted with it")
  func rescaled() throws {
    let result = try drawn(
      Self.filled(.nv12), as: .rgb24, size: PixelSize(64, 36))
    #expect(result.layout == .rgb24 && result.size == PixelSize(64, 36))
    // 48x32 in 64x36 has black at both sides.
    #expect((0..<3).allSatisfy { result.sample($0, 0, 18) == 0 })
  }

  @Test("What can't be made of a layout is refused before it is drawn")
  func refusals() throws {
    for (layout, pixels) in [
      (PixelLayout.p010, FramePixels.rgb24), (.i420(depth: 10), .yuv420p), (.rgba, .nv12),
      (.gray, .yuv420p), (.rgb24, .nv12),
    ] {
      let adapter = try FrameAdapter(pixels: pixels)
      let error = #expect(throws: UprightError.self) {
        try adapter.layout(of: FrameFormat(layout, Self.size), at: MediaTime(0, Rational(1, 25)))
      }
      #expect(error?.code == .unavailable && error?.location == "pixels")
    }
    let adapter = try FrameAdapter(pixels: .nv12)
    let time = MediaTime(0, Rational(1, 25))
    #expect(try adapter.layout(of: FrameFormat(.nv12, Self.size), at: time).isIdentity)
    #expect(try !adapter.layout(of: FrameFormat(.i420(), Self.size), at: time).isIdentity)
  }
}
