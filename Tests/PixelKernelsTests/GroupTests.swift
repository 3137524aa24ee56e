import UprightOrientation
import UprightKernels
import Testing
import UprightTestSupport

@Suite struct GroupTests {
  /// Returns the orientation that has the effect of `first` and then `second`, computed from element
  /// positions only.
  static func composition(
    _ first: ImageOrientation, _ second: ImageOrientation
  ) -> ImageOrientation? {
    let (width, height) = (3, 2)
    let (midWidth, midHeight) = first.transposes ? (height, width) : (width, height)
    return ImageOrientation.allCases.first { candidate in
      (0..<width).allSatisfy { x in
        (0..<height).allSatisfy { y in
          let middle = Naive.place(x, y, width, height, first)
          return Naive.place(middle.x, middle.y, midWidth, midHeight, second)
            == Naive.place(x, y, width, height, candidate)
        }
      }
    }
  }

  /// Two rotations in a row give the same bytes as their composition in the group.
  @Test(arguments: ImageOrientation.allCases, ImageOrientation.allCases)
  func turnsCompose(first: ImageOrientation, second: ImageOrientation) throws {
    let together = try #require(Self.composition(first, second))
    var random = SeededGenerator()
    let (width, height) = (67, 41)
    for elementSize in 1...4 {
      let source = PaddedPlane(
        width: width, height: height, elementSize: elementSize, bottomUp: false)
      source.fill(.random, &random)
      let middle = try turned(source, by: first)
      let twice = try turned(middle, by: second)
      let once = try turned(source, by: together)
      if let difference = twice.firstDifference(from: once) {
        Issue.record(
          "\(first) then \(second) is not \(together), \(elementSize) bytes: \(difference)")
      }
    }
  }

  private func turned(_ source: PaddedPlane, by orientation: ImageOrientation) throws -> PaddedPlane
  {
    let transposes = orientation.transposes
    let destination = PaddedPlane(
      width: transposes ? source.height : source.width,
      height: transposes ? source.width : source.height, elementSize: source.elementSize,
      bottomUp: false)
    try PixelKernels.best.turn(
      source.view, by: orientation, into: destination.mutableView,
      elementSize: source.elementSize)
    return destination
  }
}
