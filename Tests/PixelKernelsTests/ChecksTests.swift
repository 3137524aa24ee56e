import UprightOrientation
import UprightKernels
import Testing

@Suite struct ChecksTests {
  let kernels = PixelKernels.best

  /// Returns the code of the error that `body` throws. Checks that nothing was written to the destination.
  private func code(
    _ source: (Int, Int, stride: Int), _ destination: (Int, Int, stride: Int),
    _ orientation: ImageOrientation = .up, elementSize: Int = 1
  ) -> PixelKernelsError.Code? {
    let from = PaddedPlane(width: 64, height: 64, elementSize: 4, bottomUp: false)
    let to = PaddedPlane(width: 64, height: 64, elementSize: 4, bottomUp: false)
    let untouched = PaddedPlane(like: to)
    do {
      try kernels.turn(
        PlaneView(from.base, stride: source.stride, width: source.0, height: source.1),
        by: orientation,
        into: MutablePlaneView(
          to.base, stride: destination.stride, width: destination.0, height: destination.1),
        elementSize: elementSize)
      return nil
    } catch {
      #expect(to.firstDifference(from: untouched) == nil)
      #expect(!error.message.isEmpty)
      return error.code
    }
  }

  @Test func sizesMustMatch() {
    #expect(code((8, 4, stride: 64), (8, 4, stride: 64)) == nil)
    #expect(code((8, 4, stride: 64), (4, 8, stride: 64)) == .size)
    #expect(code((8, 4, stride: 64), (4, 8, stride: 64), .right) == nil)
    #expect(code((8, 4, stride: 64), (8, 4, stride: 64), .right) == .size)
    #expect(code((8, 4, stride: 64), (8, 5, stride: 64), .down) == .size)
  }

  @Test func elementSizesAreOneToFour() {
    for size in [Int.min, -1, 0, 5, 8, Int.max] {
      #expect(code((8, 4, stride: 64), (8, 4, stride: 64), elementSize: size) == .elementSize)
    }
  }

  @Test func rowsMustBeApart() {
    #expect(code((8, 4, stride: 7), (8, 4, stride: 64)) == .layout)
    #expect(code((8, 4, stride: 64), (8, 4, stride: 15), elementSize: 2) == .layout)
    #expect(code((8, 4, stride: 64), (8, 4, stride: 0)) == .layout)
    #expect(code((8, 1, stride: 0), (8, 1, stride: 0)) == nil)
  }

  @Test func sizesMustBeAddressable() {
    #expect(code((-1, 4, stride: 64), (-1, 4, stride: 64)) == .layout)
    #expect(code((Int.max, 4, stride: 64), (Int.max, 4, stride: 64), elementSize: 4) == .layout)
    #expect(code((8, Int.max, stride: 64), (8, Int.max, stride: 64)) == .layout)
    #expect(code((8, 1, stride: .min), (8, 1, stride: 64)) == .layout)
  }

  @Test func nothingToDoIsNoError() {
    for orientation in ImageOrientation.allCases {
      #expect(code((0, 0, stride: 0), (0, 0, stride: 0), orientation) == nil)
      let turned = orientation.transposes ? (5, 0, stride: 64) : (0, 5, stride: 64)
      #expect(code((0, 5, stride: 64), turned, orientation) == nil)
    }
  }

  @Test func pairsAreChecked() {
    let plane = PaddedPlane(width: 16, height: 4, elementSize: 4, bottomUp: false)
    let others = (0..<2).map { _ in PaddedPlane(like: plane) }
    func view(_ plane: PaddedPlane, _ width: Int) -> MutablePlaneView {
      MutablePlaneView(plane.base, stride: 100, width: width, height: 2)
    }
    func interleaving(_ widths: [Int], _ size: Int) -> PixelKernelsError.Code? {
      do {
        try kernels.interleave(
          PlaneView(view(plane, widths[0])), PlaneView(view(others[0], widths[1])),
          into: view(others[1], widths[2]), componentSize: size)
        return nil
      } catch { return error.code }
    }
    func deinterleaving(_ widths: [Int], _ size: Int) -> PixelKernelsError.Code? {
      do {
        try kernels.deinterleave(
          PlaneView(view(plane, widths[0])), into: view(others[0], widths[1]),
          view(others[1], widths[2]), componentSize: size)
        return nil
      } catch { return error.code }
    }
    for call in [interleaving, deinterleaving] {
      #expect(call([8, 8, 8], 1) == nil)
      #expect(call([8, 8, 8], 3) == .elementSize)
      #expect(call([8, 8, 9], 1) == .size)
      #expect(call([8, 9, 8], 2) == .size)
      #expect(call([60, 60, 60], 1) == .layout)
    }
  }

  @Test func masksAreNested() {
    #expect(CPUFeatures.available.isSubset(of: .all))
    #expect(
      CPUFeatures.available.contains(.sse2) || CPUFeatures.available == .none
        || CPUFeatures.available == .neon)
    #expect(
      CPUFeatures.available.contains(.sse2) || !CPUFeatures.available.contains(.avx2))
  }
}
