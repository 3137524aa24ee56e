import Foundation
import UprightOrientation
import UprightKernels
import Testing
import UprightTestSupport

/// A geometry, small enough for a debug build.
struct Rescaling: CustomTestStringConvertible, Sendable {
  var width: Int
  var height: Int
  var toWidth: Int
  var toHeight: Int
  var testDescription: String { "\(width)x\(height) -> \(toWidth)x\(toHeight)" }

  /// The destination's size is along the source's rows and columns, for every orientation.
  static let all = [
    Self(width: 96, height: 54, toWidth: 64, toHeight: 36),
    Self(width: 97, height: 51, toWidth: 33, toHeight: 70),
    Self(width: 33, height: 17, toWidth: 50, toHeight: 3),
    Self(width: 7, height: 5, toWidth: 9, toHeight: 33),
    Self(width: 1, height: 1, toWidth: 3, toHeight: 2),
    Self(width: 530, height: 20, toWidth: 34, toHeight: 9),
    Self(width: 12, height: 160, toWidth: 90, toHeight: 10),
    Self(width: 40, height: 40, toWidth: 40, toHeight: 40),
    // More than a run of columns and a band of rows.
    Self(width: 410, height: 70, toWidth: 210, toHeight: 66),
  ]
}

/// The components and the format of a sample.
struct SampleKind: CustomTestStringConvertible, Sendable {
  var components = 1
  var size = 1
  var depth = 8
  var shift = 0
  var top: Int { (1 << depth) - 1 }
  var element: Resampler.Element {
    .init(components: components, size: size, depth: depth, shift: shift)
  }
  var testDescription: String { "\(components) of \(depth) bits above \(shift)" }

  static let all = [
    Self(), Self(components: 2), Self(components: 4), Self(size: 2, depth: 10),
    Self(size: 2, depth: 10, shift: 6), Self(components: 2, size: 2, depth: 10, shift: 6),
    Self(components: 2, size: 2, depth: 12), Self(components: 2, size: 2, depth: 12, shift: 4),
  ]

  /// One component of it, in the low bits.
  var alone: Self { Self(size: size, depth: depth) }
  /// With all bits of a sample's bytes, whatever they mean.
  var asStored: Self { Self(components: components, size: size, depth: 8 * size) }
}

extension PaddedPlane {
  func set(_ value: Int, _ x: Int, _ y: Int, _ component: Int, _ kind: SampleKind) {
    let at = base + y * stride + (x * kind.components + component) * kind.size
    let stored = value << kind.shift
    at[0] = UInt8(truncatingIfNeeded: stored)
    if kind.size == 2 { at[1] = UInt8(truncatingIfNeeded: stored >> 8) }
  }

  func get(_ x: Int, _ y: Int, _ component: Int, _ kind: SampleKind) -> Int {
    let at = base + y * stride + (x * kind.components + component) * kind.size
    return (kind.size == 2 ? Int(at[0]) | Int(at[1]) << 8 : Int(at[0])) >> kind.shift
  }

  convenience init(_ width: Int, _ height: Int, _ kind: SampleKind, bottomUp: Bool = false) {
    self.init(
      width: width, height: height, elementSize: kind.components * kind.size, bottomUp: bottomUp)
  }

  func fill(_ kind: SampleKind, _ value: (Int, Int, Int) -> Int) {
    for y in 0..<height {
      for x in 0..<width {
        for component in 0..<kind.components {
          set(value(x, y, component), x, y, component, kind)
        }
      }
    }
  }
}

@Suite struct ResamplerTests {
  private static func resampler(
    _ test: Rescaling, _ orientation: ImageOrientation, _ filter: ResampleFilter,
    _ kind: SampleKind, _ level: CPUFeatures = .all
  ) throws -> Resampler {
    let (width, height) =
      orientation.transposes ? (test.toHeight, test.toWidth) : (test.toWidth, test.toHeight)
    return try Resampler(
      source: (SampleGrid(test.width), SampleGrid(test.height)),
      destination: (SampleGrid(width), SampleGrid(height)), orientation: orientation,
      filter: filter, element: kind.element, cpuMask: level)
  }

  private static func target(
    _ test: Rescaling, _ orientation: ImageOrientation, _ kind: SampleKind, bottomUp: Bool = false
  ) -> PaddedPlane {
    orientation.transposes
      ? PaddedPlane(test.toHeight, test.toWidth, kind, bottomUp: bottomUp)
      : PaddedPlane(test.toWidth, test.toHeight, kind, bottomUp: bottomUp)
  }

  /// Bit for bit, padding included, with strides of both signs, and bits set that a sample doesn't use.
  @Test(arguments: Rescaling.all, SampleKind.all)
  func levelsAgreeWithTheReference(test: Rescaling, kind: SampleKind) throws {
    var random = SeededGenerator()
    for level in levels {
      for filter in ResampleFilter.allCases {
        for orientation in ImageOrientation.allCases {
          let bottomUp = random.below(2) == 1
          let source = PaddedPlane(test.width, test.height, kind, bottomUp: random.below(2) == 1)
          let isExtreme = random.below(3) == 0
          let stored = random.below(3) == 0 ? kind.asStored : kind
          source.fill(stored) { _, _, _ in
            isExtreme ? random.below(2) * stored.top : random.below(stored.top + 1)
          }
          let expected = Self.target(test, orientation, kind, bottomUp: bottomUp)
          let actual = PaddedPlane(like: expected)
          try Self.resampler(test, orientation, filter, kind, .none)
            .resample(source.view, into: expected.mutableView)
          try Self.resampler(test, orientation, filter, kind, level)
            .resample(source.view, into: actual.mutableView)
          if let difference = actual.firstDifference(from: expected) {
            Issue.record("\(filter) \(orientation) seed \(seed): \(difference)")
            return
          }
        }
      }
    }
  }

  /// Sample for sample, at every level.
  @Test(arguments: Rescaling.all, [SampleKind.all[0], SampleKind.all[SampleKind.all.count - 1]])
  func partsAreThoseOfTheWhole(test: Rescaling, kind: SampleKind) throws {
    var random = SeededGenerator()
    let source = PaddedPlane(test.width, test.height, kind)
    source.fill(kind) { _, _, _ in random.below(kind.top + 1) }
    for orientation in ImageOrientation.allCases {
      let level = levels[random.below(levels.count)]
      let whole = Self.target(test, orientation, kind)
      try Self.resampler(test, orientation, .bicubic, kind, level)
        .resample(source.view, into: whole.mutableView)
      func part(of count: Int) -> Range<Int> {
        let first = random.below(count)
        return first..<first + 1 + random.below(count - first)
      }
      let (columns, rows) = (part(of: whole.width), part(of: whole.height))
      let drawn = PaddedPlane(columns.count, rows.count, kind)
      try Resampler(
        source: (SampleGrid(test.width), SampleGrid(test.height)),
        destination: (
          SampleGrid(whole.width, part: columns), SampleGrid(whole.height, part: rows)
        ), orientation: orientation, filter: .bicubic, element: kind.element, cpuMask: level
      ).resample(source.view, into: drawn.mutableView)
      for y in rows {
        for x in columns {
          for component in 0..<kind.components {
            let found = drawn.get(x - columns.lowerBound, y - rows.lowerBound, component, kind)
            guard found == whole.get(x, y, component, kind) else {
              Issue.record("\(orientation) \(columns) \(rows) at \(x), \(y), seed \(seed)")
              return
            }
          }
        }
      }
    }
  }

  /// Interleaved or not, in the high bits or the low ones: the same values.
  @Test(arguments: Rescaling.all, SampleKind.all)
  func everyComponentIsResampledAlone(test: Rescaling, kind: SampleKind) throws {
    var random = SeededGenerator()
    let source = PaddedPlane(test.width, test.height, kind)
    source.fill(kind) { _, _, _ in random.below(kind.top + 1) }
    for orientation in [ImageOrientation.right, .upMirrored] {
      let actual = Self.target(test, orientation, kind)
      try Self.resampler(test, orientation, .bicubic, kind)
        .resample(source.view, into: actual.mutableView)
      for component in 0..<kind.components {
        let one = PaddedPlane(test.width, test.height, kind.alone)
        one.fill(kind.alone) { x, y, _ in source.get(x, y, component, kind) }
        let expected = Self.target(test, orientation, kind.alone)
        try Self.resampler(test, orientation, .bicubic, kind.alone)
          .resample(one.view, into: expected.mutableView)
        let found = PaddedPlane(like: expected)
        found.fill(kind.alone) { x, y, _ in actual.get(x, y, component, kind) }
        #expect(found.firstDifference(from: expected) == nil, "\(orientation) seed \(seed)")
      }
    }
  }

  /// What is stored outside a sample's bits isn't seen in the result, whose unused bits are 0.
  @Test(arguments: SampleKind.all.filter { $0.shift > 0 })
  func unusedBitsAreIgnored(kind: SampleKind) throws {
    let test = Rescaling.all[0]
    var random = SeededGenerator()
    let clean = PaddedPlane(test.width, test.height, kind)
    let dirty = PaddedPlane(test.width, test.height, kind)
    clean.fill(kind) { _, _, _ in random.below(kind.top + 1) }
    dirty.fill(kind.asStored) { x, y, component in
      clean.get(x, y, component, kind) << kind.shift | random.below(1 << kind.shift)
    }
    for level in [.none] + levels {
      let expected = Self.target(test, .right, kind)
      let actual = PaddedPlane(like: expected)
      let resampler = try Self.resampler(test, .right, .lanczos, kind, level)
      try resampler.resample(clean.view, into: expected.mutableView)
      try resampler.resample(dirty.view, into: actual.mutableView)
      #expect(actual.firstDifference(from: expected) == nil, "seed \(seed)")
      for y in 0..<actual.height {
        for x in 0..<actual.width {
          for component in 0..<kind.components {
            #expect(actual.get(x, y, component, kind.asStored) % (1 << kind.shift) == 0)
          }
        }
      }
    }
  }

  @Test(arguments: SampleKind.all)
  func flatPicturesStayFlat(kind: SampleKind) throws {
    let bytes = [0, 1, 16, 100, 127, 128, 129, 200, 235, 254, 255]
    let values = kind.depth == 8 ? bytes : bytes.map { $0 * kind.top / 255 }
    for test in Rescaling.all {
      for filter in ResampleFilter.allCases {
        let resampler = try Self.resampler(test, .right, filter, kind)
        for value in values {
          let source = PaddedPlane(test.width, test.height, kind)
          source.fill(kind) { _, _, _ in value }
          let actual = Self.target(test, .right, kind)
          let expected = PaddedPlane(like: actual)
          expected.fill(kind) { _, _, _ in value }
          try resampler.resample(source.view, into: actual.mutableView)
          let difference = actual.firstDifference(from: expected)
          #expect(difference == nil, "\(test.testDescription) \(filter) \(value)")
        }
      }
    }
  }

  /// Rotating first and then rescaling gives the same frame, within the rounding between the filters.
  @Test(arguments: Rescaling.all)
  func theTurnComesFirst(test: Rescaling) throws {
    let kind = SampleKind()
    let source = PaddedPlane(test.width, test.height, kind)
    source.fill(kind) { x, y, _ in
      128 + Int(60 * sin(Double(x) / 5) + 50 * cos(Double(y) / 4 + Double(x) / 9))
    }
    for orientation in ImageOrientation.allCases {
      let turned =
        orientation.transposes
        ? PaddedPlane(test.height, test.width, kind) : PaddedPlane(test.width, test.height, kind)
      Naive.turn(source, by: orientation, into: turned)
      let actual = Self.target(test, orientation, kind)
      let expected = PaddedPlane(like: actual)
      try Self.resampler(test, orientation, .bicubic, kind)
        .resample(source.view, into: actual.mutableView)
      try Resampler(
        source: (SampleGrid(turned.width), SampleGrid(turned.height)),
        destination: (SampleGrid(actual.width), SampleGrid(actual.height)), orientation: .up,
        filter: .bicubic
      ).resample(turned.view, into: expected.mutableView)
      var worst = 0
      for y in 0..<actual.height {
        for x in 0..<actual.width {
          worst = max(worst, abs(actual.get(x, y, 0, kind) - expected.get(x, y, 0, kind)))
        }
      }
      #expect(worst <= 1, "\(orientation)")
    }
  }

  /// A ramp, sampled at the positions of the destination's samples.
  @Test(
    "chroma is at the position that its siting gives",
    arguments: [(0.0, 0.0), (-0.25, -0.25), (-0.25, 0.0), (0.0, -0.25), (0.25, 0.25)])
  func siting(from: Double, to: Double) throws {
    let kind = SampleKind(size: 2, depth: 12)
    for (width, toWidth) in [(60, 40), (60, 91), (41, 27)] {
      for filter in [ResampleFilter.bicubic, .bilinear, .lanczos] {
        for isMirrored in [false, true] {
          let length = width == 41 ? 40.5 : Double(width)
          let source = PaddedPlane(width, 4, kind)
          source.fill(kind) { x, _, _ in 100 + 50 * x }
          let actual = PaddedPlane(toWidth, 4, kind)
          try Resampler(
            source: (SampleGrid(width, length: length, shift: from), SampleGrid(4)),
            destination: (SampleGrid(toWidth, shift: to), SampleGrid(4)),
            orientation: isMirrored ? .upMirrored : .up, filter: filter,
            element: .init(size: 2, depth: 12)
          ).resample(source.view, into: actual.mutableView)
          // Away from the edges, where there is no ramp.
          for x in toWidth / 4..<toWidth * 3 / 4 {
            let place = (Double(x) + 0.5 + to) / Double(toWidth)
            let sample = (isMirrored ? 1 - place : place) * length - 0.5 - from
            let difference = Double(actual.get(x, 1, 0, kind)) - (100 + 50 * sample)
            // A tenth of a sample: no widened kernel keeps a ramp exactly straight.
            #expect(abs(difference) <= 5, "\(filter) \(width) x \(x): \(difference)")
          }
        }
      }
    }
  }

  @Test("Sizes and elements that can't be resampled are refused")
  func refused() {
    func code(
      _ from: SampleGrid, _ to: SampleGrid, components: Int = 1, size: Int = 1, depth: Int = 8,
      shift: Int = 0
    ) -> PixelKernelsError.Code? {
      do throws(PixelKernelsError) {
        _ = try Resampler(
          source: (from, SampleGrid(8)), destination: (to, SampleGrid(8)), orientation: .up,
          filter: .bicubic,
          element: .init(components: components, size: size, depth: depth, shift: shift))
        return nil
      } catch { return error.code }
    }
    #expect(code(SampleGrid(8), SampleGrid(9)) == nil)
    #expect(code(SampleGrid(0), SampleGrid(9)) == .size)
    #expect(code(SampleGrid(8), SampleGrid(-1)) == .size)
    #expect(code(SampleGrid(8), SampleGrid(70000)) == .size)
    #expect(code(SampleGrid(8, length: .nan), SampleGrid(9)) == .size)
    for part in [-1..<4, 5..<10, 3..<3] {
      #expect(code(SampleGrid(8), SampleGrid(9, part: part)) == .size)
    }
    #expect(code(SampleGrid(8, shift: .infinity), SampleGrid(9)) == .size)
    #expect(code(SampleGrid(160), SampleGrid(10)) == nil)
    #expect(code(SampleGrid(6000), SampleGrid(10)) == .size)
    #expect(code(SampleGrid(8), SampleGrid(9), components: 3) == .elementSize)
    #expect(code(SampleGrid(8), SampleGrid(9), depth: 10) == .elementSize)
    #expect(code(SampleGrid(8), SampleGrid(9), size: 2, depth: 14) == .elementSize)
    #expect(code(SampleGrid(8), SampleGrid(9), size: 2, depth: 10) == nil)
    #expect(code(SampleGrid(8), SampleGrid(9), components: 4, size: 2, depth: 10) == .elementSize)
    #expect(code(SampleGrid(8), SampleGrid(9), size: 2, depth: 12, shift: 4) == nil)
    for shift in [Int.min, -1, 5, Int.max] {
      #expect(code(SampleGrid(8), SampleGrid(9), size: 2, depth: 12, shift: shift) == .elementSize)
    }
    #expect(code(SampleGrid(8), SampleGrid(9), shift: 1) == .elementSize)
  }

  @Test func planesOfOtherSizesAreRefused() throws {
    let kind = SampleKind()
    let resampler = try Resampler(
      source: (SampleGrid(8), SampleGrid(6)), destination: (SampleGrid(4), SampleGrid(5)),
      orientation: .right, filter: .area)
    let (source, target) = (PaddedPlane(8, 6, kind), PaddedPlane(4, 5, kind))
    try resampler.resample(source.view, into: target.mutableView)
    #expect(throws: PixelKernelsError.self) {
      try resampler.resample(source.view, into: PaddedPlane(5, 4, kind).mutableView)
    }
    #expect(throws: PixelKernelsError.self) {
      try resampler.resample(PaddedPlane(6, 8, kind).view, into: target.mutableView)
    }
  }

  /// A plane at either end of guarded memory, with its rows in either order.
  @Test(arguments: SampleKind.all)
  func resamplingStaysInside(kind: SampleKind) throws {
    let element = kind.components * kind.size
    for test in Rescaling.all where test.width <= 100 {
      let from = try GuardedMemory(bytes: test.width * test.height * element)
      let to = try GuardedMemory(bytes: test.toWidth * test.toHeight * element)
      for orientation in ImageOrientation.allCases {
        for level in [.none] + levels {
          let resampler = try Self.resampler(test, orientation, .bicubic, kind, level)
          let (width, height) =
            orientation.transposes ? (test.toHeight, test.toWidth) : (test.toWidth, test.toHeight)
          let (stride, toStride) = (test.width * element, width * element)
          for atEnd in [false, true] {
            let start = atEnd ? from.end - test.height * stride : from.start
            let place = atEnd ? to.end - height * toStride : to.start
            try resampler.resample(
              PlaneView(start, stride: stride, width: test.width, height: test.height),
              into: MutablePlaneView(place, stride: toStride, width: width, height: height))
            try resampler.resample(
              PlaneView(
                start + (test.height - 1) * stride, stride: -stride, width: test.width,
                height: test.height),
              into: MutablePlaneView(
                place + (height - 1) * toStride, stride: -toStride, width: width, height: height))
          }
        }
      }
    }
  }
}
