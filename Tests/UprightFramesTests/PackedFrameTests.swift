import UprightOrientation
import UprightKernels
import Testing
import UprightFrames

/// Packed 4:2:2 of cameras: what is made of it is what is made of the same samples in three planes.
@Suite struct PackedFrameTests {
  private static func value(_ component: Int, _ x: Int, _ y: Int) -> Int {
    (x * 3 + y * 7 + component * 31) & 255
  }

  /// A packed frame, in bytes as they follow each other.
  private static func packed(_ layout: PixelLayout, _ size: PixelSize) -> TestFrame {
    var frame = TestFrame(layout, size, padding: 6)
    let chroma = layout == .yuy2 ? [1, 2] : [2, 1]
    for y in 0..<size.height {
      for x in 0..<(size.width + 1) / 2 {
        let at = y * frame.strides[0] + 4 * x
        let samples = [
          value(0, 2 * x, y), value(chroma[0], x, y), value(0, 2 * x + 1, y),
          value(chroma[1], x, y),
        ]
        for (offset, sample) in samples.enumerated() {
          frame.planes[0][at + offset] = UInt8(sample)
        }
      }
    }
    return frame
  }

  private static func planar(_ size: PixelSize) -> TestFrame {
    var frame = TestFrame(.i422(), size)
    frame.fill(value)
    return frame
  }

  /// Draws a frame with a signal, and returns what is drawn.
  private func drawn(
    _ source: TestFrame, _ signal: ImageOrientation, _ size: PixelSize?
  ) throws -> TestFrame {
    var options = AdapterOptions()
    options.size = size
    if size != nil { options.canvas = .landscape }
    let adapter = try FrameAdapter(options)
    let layout = try adapter.layout(
      of: FrameFormat(source.layout, source.size), at: MediaTime(0, Rational(1, 25)),
      signal: DisplayTurn(signal))
    #expect(layout.turn == signal && !layout.isIdentity || source.layout == .i422())
    var source = source
    var target = TestFrame(layout.target.layout, layout.target.size)
    try source.withPlanes { planes in
      try target.withPlanes { try adapter.draw(PlaneSet(planes), layout, into: $0) }
    }
    return target
  }

  @Test("Each turn of YUY2 and YVYU, rescaled or not, has the samples of 4:2:2 in planes")
  func turns() throws {
    for size in [PixelSize(96, 64), PixelSize(97, 33), PixelSize(1, 1)] {
      let planar = Self.planar(size)
      for layout in [PixelLayout.yuy2, .yvyu] {
        let packed = Self.packed(layout, size)
        for signal in ImageOrientation.allCases {
          for canvas in [nil, PixelSize(64, 36)] {
            let expected = try drawn(planar, signal, canvas)
            let found = try drawn(packed, signal, canvas)
            #expect(found.layout == expected.layout && found.size == expected.size)
            let isSame = found.planes == expected.planes
            #expect(isSame, "\(size) \(signal) \(canvas.map { "\($0)" } ?? "as it is")")
          }
        }
      }
    }
  }

  @Test("Frames of another size are unpacked as well")
  func sizes() throws {
    let adapter = try FrameAdapter()
    for size in [PixelSize(32, 8), PixelSize(8, 32), PixelSize(32, 8)] {
      var source = Self.packed(.yuy2, size)
      let layout = try adapter.layout(
        of: FrameFormat(.yuy2, size), at: MediaTime(0, Rational(1, 25)))
      var target = TestFrame(layout.target.layout, layout.target.size)
      try source.withPlanes { planes in
        try target.withPlanes { try adapter.draw(PlaneSet(planes), layout, into: $0) }
      }
      let isSame = target.planes == Self.planar(size).planes
      #expect(isSame, "\(size)")
    }
  }

  @Test("Packed samples aren't moved as they are")
  func moves() throws {
    var source = Self.packed(.yuy2, PixelSize(8, 4))
    var target = source
    let error = #expect(throws: PixelKernelsError.self) {
      try source.withPlanes { planes in
        try target.withPlanes { try FramePass().move(PlaneSet(planes), by: .down, onto: $0) }
      }
    }
    #expect(error?.code == .layout)
    #expect(PixelLayout.yuy2.isPacked && PixelLayout.yvyu.isPacked && !PixelLayout.i422().isPacked)
    #expect(PixelLayout.yuy2.unpacked == .i422() && PixelLayout.rgba.unpacked == .rgba)
  }
}
