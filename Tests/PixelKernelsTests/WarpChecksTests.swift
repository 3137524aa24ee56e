import UprightOrientation
import UprightKernels
import Testing
import UprightTestSupport

@Suite struct WarpChecksTests {
  let kernels = PixelKernels.best
  let source = PaddedPlane(width: 20, height: 12, elementSize: 4, bottomUp: false)
  let destination = PaddedPlane(width: 40, height: 30, elementSize: 4, bottomUp: false)

  init() { source.fill(.positions, &random) }
  private var random = SeededGenerator()

  /// Returns the code of the error that warping by `transform` throws. Returns `nil` if it throws none.
  private func code(
    _ transform: AffineMatrix, components: Int = 1, componentSize: Int = 1
  ) -> PixelKernelsError.Code? {
    do {
      try kernels.warp(
        source.view, by: transform, into: destination.mutableView, components: components,
        componentSize: componentSize)
      return nil
    } catch { return error.code }
  }

  private var isUntouched: Bool {
    destination.firstDifference(from: PaddedPlane(like: destination)) == nil
  }

  @Test func transformsMustHaveAnInverse() {
    for number in [Double.nan, .infinity, -.infinity, .signalingNaN] {
      for place in [
        \AffineMatrix.a, \AffineMatrix.b, \AffineMatrix.c, \AffineMatrix.d,
        \AffineMatrix.tx, \AffineMatrix.ty,
      ] {
        var transform = AffineMatrix.identity
        transform[keyPath: place] = number
        #expect(code(transform) == .transform)
      }
    }
    #expect(code(AffineMatrix(scaleX: 0, y: 1)) == .transform)
    #expect(code(AffineMatrix(a: 1, b: 2, c: 2, d: 4, tx: 0, ty: 0)) == .transform)
    #expect(code(AffineMatrix(scaleX: 1e300, y: 1e300)) == .transform)
    #expect(code(AffineMatrix(scaleX: 1e-300, y: 1e300)) == .transform)
    #expect(code(AffineMatrix(scaleX: 1, y: 1.0 / 257)) == .transform)
    #expect(isUntouched)
    #expect(code(AffineMatrix(scaleX: 1, y: 1.0 / 256)) == nil)
  }

  @Test func farAwayIsNothingToDraw() {
    for far in [1e5, 1e9, 1e11, 1e18, 1e19, 1e300, .greatestFiniteMagnitude] {
      for (x, y) in [(far, 0), (-far, 0), (0, far), (0, -far), (far, -far)] {
        for transform in [
          AffineMatrix(translationX: x, y: y),
          AffineMatrix(rotationAngle: 0.3).concatenating(
            AffineMatrix(translationX: x, y: y)),
        ] {
          let code = code(transform)
          #expect(code == nil || far > 1e300)
        }
      }
    }
    #expect(isUntouched)
  }

  /// One element enlarged over everything: its value, at any scale.
  @Test(arguments: [1e4, 1e9, 1e20, 1e100])
  func enlargesWithoutEnd(scale: Double) throws {
    #expect(code(AffineMatrix(scaleX: scale, y: scale)) == nil)
    let expected = source.component(0, 0, size: 1)
    for y in 0..<destination.height {
      for x in 0..<destination.width {
        let actual = destination.component(x, y, size: 1)
        try #require(actual == expected, "x \(x) y \(y), scale \(scale)")
      }
    }
  }

  @Test func elementsAndSizesAreChecked() {
    for (components, size) in [(0, 1), (3, 1), (1, 0), (1, 3), (Int.max, 2), (-1, 1)] {
      #expect(code(.identity, components: components, componentSize: size) == .elementSize)
    }
    func warping(_ width: Int, _ height: Int, stride: Int) -> PixelKernelsError.Code? {
      do {
        try kernels.warp(
          source.view, by: .identity,
          into: MutablePlaneView(destination.base, stride: stride, width: width, height: height),
          components: 1, componentSize: 1)
        return nil
      } catch { return error.code }
    }
    #expect(warping(16_777_217, 1, stride: 0) == .size)
    #expect(warping(1, 16_777_217, stride: 1) == .size)
    #expect(warping(-1, 1, stride: 0) == .layout)
    #expect(warping(8, 2, stride: 7) == .layout)
    #expect(isUntouched)
    #expect(warping(0, 5, stride: 8) == nil)
    #expect(warping(5, 0, stride: 8) == nil)
    #expect(isUntouched)
  }

  @Test func blendsAreChecked() {
    func blending(weight: Int, width: Int = 20, size: Int = 1) -> PixelKernelsError.Code? {
      do {
        try kernels.blend(
          source.view,
          PlaneView(destination.base, stride: destination.stride, width: width, height: 12),
          weight: weight,
          into: MutablePlaneView(
            destination.base, stride: destination.stride, width: width, height: 12),
          componentSize: size)
        return nil
      } catch { return error.code }
    }
    func compositing(width: Int, components: Int = 1) -> PixelKernelsError.Code? {
      do {
        try kernels.composite(
          source.view,
          alpha: PlaneView(source.base, stride: source.stride, width: width, height: 12),
          into: MutablePlaneView(
            destination.base, stride: destination.stride, width: 20, height: 12),
          components: components, componentSize: 1)
        return nil
      } catch { return error.code }
    }
    for weight in [-1, 257, .max, .min] { #expect(blending(weight: weight) == .weight) }
    #expect(blending(weight: 1, width: 19) == .size)
    #expect(blending(weight: 1, size: 3) == .elementSize)
    #expect(compositing(width: 19) == .size)
    #expect(compositing(width: 20, components: 3) == .elementSize)
    #expect(isUntouched)
    #expect(blending(weight: 256) == nil)
    #expect(compositing(width: 20) == nil)
  }
}
