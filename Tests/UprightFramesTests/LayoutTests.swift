import UprightOrientation
import UprightKernels
import Testing
import UprightFrames

/// Layouts, colours and chroma positions of the caller's own.
@Suite struct LayoutTests {
  /// NV12 with Cr before Cb.
  private static let nv21 = PixelLayout(
    planes: [.init(elementSize: 1), .init(elementSize: 2, shiftX: 1, shiftY: 1)],
    components: [
      PixelLayout.Component(plane: 0), PixelLayout.Component(plane: 1, offset: 1),
      PixelLayout.Component(plane: 1),
    ])

  /// Red, green and blue in planes of their own, 10 bits, with the high byte first.
  private static let bigEndianRGB = PixelLayout(
    planes: Array(repeating: .init(elementSize: 2), count: 3),
    components: (0..<3).map { PixelLayout.Component(plane: $0, depth: 10) }, isRGB: true,
    isBigEndian: true)

  private static let time = MediaTime(0, Rational(1, 25))

  /// Returns a frame of 96x128 that is all background, because the camera is off.
  private func background(
    _ layout: PixelLayout, _ colour: RGBColour, _ coding: ColourCoding = .bt601
  ) throws -> TestFrame {
    var options = AdapterOptions()
    options.frames = .sensor(Camera())
    options.size = PixelSize(96, 128)
    options.background = colour
    options.policy = try PolicyDocument(
      json: #"{"controllers": {"a": {"captureEnabledIn": ["landscapeLeft"]}}}"#.utf8)
    let adapter = try FrameAdapter(options)
    var source = TestFrame(layout, PixelSize(128, 96))
    var format = FrameFormat(layout, source.size)
    format.colour = coding
    let answer = try adapter.layout(of: format, at: Self.time)
    #expect(!answer.isCaptureEnabled && answer.target.colour == coding)
    var target = TestFrame(answer.target.layout, answer.target.size)
    try source.withPlanes { from in
      try target.withPlanes { to in try adapter.draw(PlaneSet(from), answer, into: to) }
    }
    return target
  }

  @Test("The background has its colour in every layout")
  func backgrounds() throws {
    let red = RGBColour(red: 255, green: 0, blue: 0)
    let bgra = try background(.bgra, red)
    #expect(Array(bgra.planes[0][0..<4]) == [0, 0, 255, 255])
    #expect(bgra.layout.hasAlpha && bgra.layout.isRGB)

    let limited = try background(Self.nv21, red, .bt709)
    #expect(limited.planes[0].allSatisfy { $0 == 63 })
    // Cr, then Cb.
    #expect(Array(limited.planes[1][0..<2]) == [240, 102])
    let coding = ColourCoding(
      redWeight: ColourCoding.bt709.redWeight, blueWeight: ColourCoding.bt709.blueWeight,
      isFullRange: true)
    #expect(coding.isFullRange && !ColourCoding.bt709.isFullRange)
    let full = try background(Self.nv21, red, coding)
    #expect(full.planes[0].allSatisfy { $0 == 54 })
    #expect(Array(full.planes[1][0..<2]) == [255, 99])

    let planar = try background(Self.bigEndianRGB, red)
    #expect(planar.layout.isBigEndian && !planar.layout.hasAlpha)
    #expect(planar.planes.map { Array($0[0..<2]) } == [[3, 255], [0, 0], [0, 0]])
  }

  @Test("The position of chroma is turned with the frame")
  func chroma() throws {
    var options = AdapterOptions()
    options.frames = .sensor(Camera())
    let adapter = try FrameAdapter(options)
    var format = FrameFormat(.i420(), PixelSize(1280, 720))
    format.chroma = .topLeft
    let layout = try adapter.layout(of: format, at: Self.time)
    // 90 degrees clockwise: the top left becomes the top right.
    #expect(layout.turn == .right && layout.target.chroma == ChromaPosition(x: 256, y: 0))
  }

  @Test("A layout that can't be rescaled is refused before it is drawn")
  func unavailable() throws {
    var options = AdapterOptions()
    options.size = PixelSize(96, 128)
    let adapter = try FrameAdapter(options)
    let error = #expect(throws: UprightError.self) {
      try adapter.layout(of: FrameFormat(.deepGrey, PixelSize(192, 256)), at: Self.time)
    }
    #expect(error?.code == .unavailable)
  }

  @Test("A pass draws the same samples with every CPU level")
  func levels() throws {
    var source = TestFrame(.nv12, PixelSize(64, 48))
    source.fill { ($0 * 61 + $1 * 3 + $2 * 7) & 255 }
    var targets = [TestFrame](repeating: TestFrame(.nv12, PixelSize(36, 48)), count: 2)
    for (index, pass) in [FramePass(), FramePass(cpuMask: .none)].enumerated() {
      let isDrawn = try source.withPlanes { from in
        try targets[index].withPlanes { to in
          try pass.draw(PlaneSet(from), turned: .right, onto: to)
        }
      }
      #expect(isDrawn)
    }
    #expect(targets[0].planes == targets[1].planes)
    #expect(targets[0].planes[0].contains { $0 != 0 })
  }

  @Test("A part is drawn as if the whole frame were")
  func part() throws {
    var source = TestFrame(.nv12, PixelSize(64, 48))
    source.fill { ($0 * 61 + $1 * 3 + $2 * 7) & 255 }
    let frame = PixelSize(36, 48)
    var (whole, part) = (TestFrame(.nv12, frame), TestFrame(.nv12, PixelSize(16, 24)))
    let isDrawn = try source.withPlanes { from in
      let isWhole = try whole.withPlanes {
        try FramePass().draw(PlaneSet(from), turned: .right, onto: $0)
      }
      return try part.withPlanes {
        try FramePass().draw(
          PlaneSet(from), turned: .right, onto: $0, part: FramePart(x: 8, y: 12, frame: frame))
      } && isWhole
    }
    #expect(isDrawn)
    for y in 0..<24 {
      for x in 0..<16 { #expect(part.sample(0, x, y) == whole.sample(0, x + 8, y + 12)) }
    }
    for y in 0..<12 {
      for x in 0..<8 { #expect(part.sample(2, x, y) == whole.sample(2, x + 4, y + 6)) }
    }
  }

  @Test("A pass that can't rescale a layout says so, and writes nothing")
  func notDrawn() throws {
    var source = TestFrame(.deepGrey, PixelSize(64, 48))
    source.fill { _, _, _ in 200 }
    var target = TestFrame(.deepGrey, PixelSize(32, 24))
    let isDrawn = try source.withPlanes { from in
      try target.withPlanes { to in
        try FramePass().draw(PlaneSet(from), turned: .up, onto: to)
      }
    }
    #expect(!isDrawn && target.planes[0].allSatisfy { $0 == 0 })
  }
}
