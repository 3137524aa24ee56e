import UprightOrientation
import UprightKernels
import Testing
import UprightFrames

extension PixelLayout {
  /// Grey samples of 16 bits, which can be turned but not rescaled.
  static let deepGrey = PixelLayout(
    planes: [.init(elementSize: 2)], components: [.init(plane: 0, depth: 16)])
}

/// Frames in memory: each sample's value is its place, so that a test can say where it must be.
struct TestFrame {
  let layout: PixelLayout
  let size: PixelSize
  var planes: [[UInt8]]
  let strides: [Int]

  init(_ layout: PixelLayout, _ size: PixelSize, padding: Int = 0) {
    self.layout = layout
    self.size = size
    strides = layout.planes.map { layout.size(of: $0, in: size).width * $0.elementSize + padding }
    planes = zip(layout.planes, strides).map { plane, stride in
      [UInt8](repeating: 0, count: layout.size(of: plane, in: size).height * stride)
    }
  }

  /// Fills each component with `value(component, x, y)`, `x` and `y` counted in its plane.
  mutating func fill(_ value: (Int, Int, Int) -> Int) {
    for (index, component) in layout.components.enumerated() {
      let plane = layout.planes[component.plane]
      let extent = layout.size(of: plane, in: size)
      for y in 0..<extent.height {
        for x in 0..<extent.width {
          let sample = value(index, x, y) << component.shift
          let at = y * strides[component.plane] + x * plane.elementSize + component.offset
          planes[component.plane][at] = UInt8(truncatingIfNeeded: sample)
          if layout.sampleBytes == 2 {
            planes[component.plane][at + 1] = UInt8(truncatingIfNeeded: sample >> 8)
          }
        }
      }
    }
  }

  func sample(_ index: Int, _ x: Int, _ y: Int) -> Int {
    let component = layout.components[index]
    let at =
      y * strides[component.plane] + x * layout.planes[component.plane].elementSize
      + component.offset
    let low = Int(planes[component.plane][at])
    let value =
      layout.sampleBytes == 2 ? low | Int(planes[component.plane][at + 1]) << 8 : low
    return value >> component.shift
  }

  /// The extent of a component's plane.
  func extent(_ index: Int) -> PixelSize {
    layout.size(of: layout.planes[layout.components[index].plane], in: size)
  }

  mutating func withPlanes<R>(_ body: (MutablePlaneSet) throws -> R) rethrows -> R {
    var set = MutablePlaneSet(layout, size: size)
    return try withPointers(0, &set, body)
  }

  private mutating func withPointers<R>(
    _ index: Int, _ set: inout MutablePlaneSet, _ body: (MutablePlaneSet) throws -> R
  ) rethrows -> R {
    guard index < planes.count else { return try body(set) }
    let stride = strides[index]
    var plane = planes[index]
    defer { planes[index] = plane }
    return try plane.withUnsafeMutableBytes { bytes in
      if let base = bytes.baseAddress { set.append(base, stride: stride) }
      return try withPointers(index + 1, &set, body)
    }
  }
}

@Suite struct FrameAdapterTests {
  private static let rate = Rational(1, 25)

  private static func sensor() -> AdapterOptions {
    var options = AdapterOptions()
    options.frames = .sensor(Camera())
    options.size = PixelSize(96, 128)
    return options
  }

  private func draw(
    _ adapter: FrameAdapter, _ source: inout TestFrame, at frame: Int
  ) throws -> (FrameLayout, TestFrame) {
    let format = FrameFormat(source.layout, source.size)
    let layout = try adapter.layout(of: format, at: MediaTime(Int64(frame), Self.rate))
    var target = TestFrame(layout.target.layout, layout.target.size, padding: 16)
    try source.withPlanes { from in
      try target.withPlanes { to in try adapter.draw(PlaneSet(from), layout, into: to) }
    }
    return (layout, target)
  }

  @Test(
    "A frame is turned into the caller's buffer, sample by sample",
    arguments: [
      PixelLayout.i420(), .nv12, .i420(depth: 10), .p010, .i444(), .gray, .rgba,
    ])
  func turns(layout: PixelLayout) throws {
    let adapter = try FrameAdapter(Self.sensor())
    var source = TestFrame(layout, PixelSize(128, 96))
    let most = (1 << layout.bitDepth) - 1
    source.fill { ($0 * 61 + $1 * 3 + $2 * 7) & most }
    let (answer, target) = try draw(adapter, &source, at: 0)
    #expect(answer.turn == .right && answer.placement.isExact)
    #expect(target.size == PixelSize(96, 128))
    for index in layout.components.indices {
      let (from, to) = (source.extent(index), target.extent(index))
      #expect(to == from.transposed)
      for y in 0..<to.height {
        for x in 0..<to.width {
          // 90 degrees clockwise: the top row becomes the right column.
          #expect(target.sample(index, x, y) == source.sample(index, y, from.height - 1 - x))
        }
      }
    }
  }

  @Test("Without options, a frame is turned by its signal, and the canvas with it")
  func defaults() throws {
    let adapter = try FrameAdapter()
    let size = PixelSize(1920, 1080)
    let cases: [(Int, ImageOrientation?, PixelSize)] = [
      (0, nil, size), (1, .right, size.transposed), (2, .right, size.transposed), (3, .up, size),
    ]
    for (frame, signal, canvas) in cases {
      let layout = try adapter.layout(
        of: FrameFormat(.nv12, size), at: MediaTime(Int64(frame), Self.rate),
        signal: signal.map { DisplayTurn($0) })
      #expect(layout.target.size == canvas && layout.placement.isExact)
      #expect(layout.turn == signal ?? .up)
      // The signals are the policy's events.
      #expect(layout.format.appOrientation.isLandscape == canvas.isLandscape)
    }
    var options = AdapterOptions()
    options.size = PixelSize(360, 640)
    let sized = try FrameAdapter(options)
    let layout = try sized.layout(of: FrameFormat(.nv12, size), at: MediaTime(0, Self.rate))
    #expect(layout.target.size == PixelSize(640, 360))
  }

  @Test("A canvas can be the upright frame itself, of any size, with square pixels")
  func ownCanvas() throws {
    var options = AdapterOptions()
    options.canvas = .frame
    let adapter = try FrameAdapter(options)
    for (frame, signal, size) in [
      (0, ImageOrientation.up, PixelSize(13, 7)), (1, .right, PixelSize(7, 13)),
      (2, .downMirrored, PixelSize(13, 7)), (3, .rightMirrored, PixelSize(7, 13)),
    ] {
      let layout = try adapter.layout(
        of: FrameFormat(.i420(), PixelSize(13, 7)), at: MediaTime(Int64(frame), Self.rate),
        signal: DisplayTurn(signal))
      #expect(layout.turn == signal && layout.target.size == size)
      #expect(layout.format.encodeResolution == size)
      #expect(layout.placement.isExact && layout.placement.coversCanvas)
    }
    var wide = FrameFormat(.i420(), PixelSize(720, 576))
    wide.sampleAspectRatio = Rational(64, 45)
    let layout = try adapter.layout(
      of: wide, at: MediaTime(4, Self.rate), signal: DisplayTurn(.left))
    #expect(layout.target.size == PixelSize(576, 1024) && layout.placement.coversCanvas)
  }

  @Test("What the options and frames of C can't be, those of Swift can't either")
  func checks() throws {
    func code(
      _ size: PixelSize = PixelSize(64, 48), _ edit: (inout AdapterOptions) -> Void = { _ in }
    ) -> UprightError.Code? {
      var options = AdapterOptions()
      edit(&options)
      do {
        _ = try FrameAdapter(options).layout(
          of: FrameFormat(.nv12, size), at: MediaTime(0, Self.rate))
        return nil
      } catch { return error.code }
    }
    #expect(code() == nil)
    for size in [PixelSize(0, 0), PixelSize(719, 1279), PixelSize(1_000_000, 2)] {
      #expect(code { $0.size = size } == .usage)
    }
    for ease in [Double.nan, -1, 61] { #expect(code { $0.focusEase = ease } == .usage) }
    #expect(code { $0.frames = .sensor(Camera(sensorOrientation: 45)) } == .usage)
    for size in [PixelSize(0, 0), PixelSize(-2, 100), PixelSize(.max, .max)] {
      #expect(code(size) == .usage)
    }
  }

  @Test("Layouts that no frame has are refused, and have no planes")
  func invalidLayouts() throws {
    let byte = PixelLayout.Plane(elementSize: 1)
    let layouts = [
      PixelLayout(planes: Array(repeating: byte, count: 5), components: [.init(plane: 0)]),
      PixelLayout(planes: [], components: []),
      PixelLayout(planes: [byte], components: [.init(plane: 1)]),
      PixelLayout(planes: [byte], components: [.init(plane: 0, offset: 1)]),
      PixelLayout(planes: [byte], components: [.init(plane: 0, depth: 10)]),
      PixelLayout(planes: [.init(elementSize: 8)], components: [.init(plane: 0)]),
      PixelLayout(planes: [.init(elementSize: 1, shiftX: -1)], components: [.init(plane: 0)]),
    ]
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    defer { memory.deallocate() }
    let plane = (start: memory, stride: 1)
    for layout in layouts {
      #expect(!layout.isValid)
      let error = #expect(throws: UprightError.self) {
        try FrameAdapter().layout(
          of: FrameFormat(layout, PixelSize(1, 1)), at: MediaTime(0, Self.rate))
      }
      #expect(error?.code == .usage)
      let planes = MutablePlaneSet(
        layout, size: PixelSize(1, 1), plane, plane, plane, plane, plane)
      #expect(planes == nil)
    }
    for layout in [PixelLayout.i420(), .i422(depth: 10), .p010, .rgba, .gray] {
      #expect(layout.isValid && layout.transposed.isValid)
    }
  }

  @Test("A format before the first frame changes nothing; a frame that stays as it is says so")
  func peeking() throws {
    let adapter = try FrameAdapter(Self.sensor())
    let format = FrameFormat(.nv12, PixelSize(128, 96))
    try adapter.inbox.post([.at(0, .device(.landscapeLeft))])
    let peeked = try adapter.peek(of: format, at: MediaTime(0, Self.rate))
    #expect(peeked.target.size == PixelSize(96, 128) && !peeked.isIdentity)
    let layout = try adapter.layout(of: format, at: MediaTime(0, Self.rate))
    #expect(layout.target.size == PixelSize(128, 96) && layout.isIdentity)
    #expect(adapter.takeDecisions().count == 1)
  }

  @Test("An inbox can be made before its adapter, which an actor isolates")
  func ownInbox() throws {
    let inbox = EventInbox()
    try inbox.post([.now(.device(.landscapeLeft))])
    let adapter = try FrameAdapter(Self.sensor(), inbox: inbox)
    let layout = try adapter.layout(
      of: FrameFormat(.gray, PixelSize(128, 96)), at: MediaTime(0, Self.rate))
    #expect(layout.target.size == PixelSize(128, 96))
  }

  @Test(
    "A frame without a sensible time is refused, and the next one is turned",
    arguments: [Int64.max, .min, Int64(2e9) * 25])
  func wildTime(ticks: Int64) throws {
    let adapter = try FrameAdapter(Self.sensor())
    let format = FrameFormat(.gray, PixelSize(128, 96))
    func size(_ ticks: Int64) throws -> PixelSize {
      try adapter.layout(of: format, at: MediaTime(ticks, Self.rate)).target.size
    }
    #expect(try size(0) == PixelSize(96, 128))
    let error = #expect(throws: UprightError.self) { try size(ticks) }
    #expect(error?.code == .badData)
    try adapter.inbox.post([.now(.device(.landscapeLeft))])
    #expect(try size(1) == PixelSize(128, 96))
  }

  @Test(
    "A frame is rescaled in the same pass",
    arguments: [
      PixelLayout.i420(), .nv12, .i420(depth: 10), .p010, .i444(depth: 12), .gray, .rgba, .bgra,
    ])
  func scales(layout: PixelLayout) throws {
    let adapter = try FrameAdapter(Self.sensor())
    var source = TestFrame(layout, PixelSize(256, 192))
    // A ramp is a ramp at any size, away from the edges.
    let unit = 1 << (layout.bitDepth - 8)
    source.fill { index, x, y in
      let shift = index == 0 ? 0 : layout.planes[layout.components[index].plane].shiftX
      return (20 + (x << shift) / 2 + (y << shift) / 4) * unit
    }
    let (answer, target) = try draw(adapter, &source, at: 0)
    #expect(!answer.placement.isExact && answer.placement.coversCanvas)
    for (index, component) in layout.components.enumerated() {
      let plane = layout.planes[component.plane]
      for (x, y) in [(20, 20), (48, 64), (70, 100)] {
        let expected = 20 + Double(2 * y) / 2 + Double(191 - 2 * x) / 4
        let sample = target.sample(index, x >> plane.shiftX, y >> plane.shiftY)
        let value = Double(sample) / Double(unit)
        #expect(abs(value - expected) <= 1.5, "\(index), \(x) \(y): \(value), not \(expected)")
      }
    }
  }

  @Test(
    "A quarter turn of 4:2:2 asks for no memory from frame to frame", arguments: [8, 10],
    [PixelSize(96, 128), PixelSize(72, 96)])
  func turnsSubsampledRows(depth: Int, size: PixelSize) throws {
    var options = Self.sensor()
    options.size = size
    let adapter = try FrameAdapter(options)
    var source = TestFrame(.i422(depth: depth), PixelSize(128, 96))
    // The layouts are kept, so that an array of the second one can't have the address of the first one's.
    let answers = try (0..<3).map { try draw(adapter, &source, at: $0).0 }
    let places = answers.map { $0.target.layout.planes.withUnsafeBufferPointer(\.baseAddress) }
    #expect(answers[0].turn == .right && answers[0].target.layout.planes[1].shiftX == 0)
    #expect(places[1] == places[0] && places[2] == places[0])
    // `draw` turns the layout again.
    let again = source.layout.turned(.right).planes.withUnsafeBufferPointer(\.baseAddress)
    #expect(again == places[0])
  }

  @Test("A quarter turn of a layout swaps the subsampling of the two axes; two restore it")
  func transposes() {
    for layout in [PixelLayout.i420(), .i422(), .i422(depth: 10), .nv12, .rgba, .gray] {
      let turned = layout.transposed
      #expect(turned.planes.map(\.shiftX) == layout.planes.map(\.shiftY))
      #expect(turned.planes.map(\.shiftY) == layout.planes.map(\.shiftX))
      #expect(turned.planes.map(\.elementSize) == layout.planes.map(\.elementSize))
      #expect(turned.components == layout.components && turned.transposed == layout)
      #expect((turned == layout) == layout.planes.allSatisfy { $0.shiftX == $0.shiftY })
    }
  }

  @Test("A crop of 4:2:2 is between chroma samples, before the turn and after it")
  func crops() throws {
    var options = Self.sensor()
    options.fit = .fill
    options.size = PixelSize(90, 130)
    let adapter = try FrameAdapter(options)
    let layout = try adapter.layout(
      of: FrameFormat(.i422(), PixelSize(131, 97)), at: MediaTime(0, Self.rate))
    #expect(layout.target.layout == PixelLayout.i422().transposed)
    for edge in [layout.placement.sourceRect.x, layout.placement.sourceRect.y] {
      #expect(edge % 2 == 0)
    }
    #expect(layout.placement.coversCanvas)
  }

  @Test("Events turn the stream at their frame, and the format says so")
  func events() throws {
    let adapter = try FrameAdapter(Self.sensor())
    try adapter.inbox.post([.at(0.4, .device(.landscapeLeft))])
    var source = TestFrame(.i420(), PixelSize(128, 96))
    var sizes: [PixelSize] = []
    for frame in 0..<30 {
      sizes.append(try draw(adapter, &source, at: frame).0.target.size)
      if frame == 19 { try adapter.inbox.post([.now(.device(.portrait))]) }
    }
    #expect(sizes.firstIndex(of: PixelSize(128, 96)) == 10)
    #expect(sizes.lastIndex(of: PixelSize(128, 96)) == 19)
    #expect(sizes[20...].allSatisfy { $0 == PixelSize(96, 128) })
    let decisions = adapter.takeDecisions()
    #expect(decisions.map(\.at) == [0.4, 0.8])
    #expect(adapter.takeDecisions().isEmpty)
  }

  @Test("What the frame doesn't cover is the background; a camera that is off is all background")
  func background() throws {
    var options = Self.sensor()
    options.canvas = .portrait
    options.background = RGBColour(red: 255, green: 255, blue: 255)
    let adapter = try FrameAdapter(options)
    var source = TestFrame(.i420(), PixelSize(128, 96))
    source.fill { _, _, _ in 100 }
    try adapter.inbox.post([.now(.device(.landscapeLeft))])
    let (layout, target) = try draw(adapter, &source, at: 0)
    let rect = layout.placement.canvasRect
    #expect(rect.y > 0 && rect.height < 128)
    #expect(target.sample(0, 48, 0) == 235 && target.sample(1, 24, 0) == 128)
    #expect(target.sample(0, 48, 64) == 100)
    #expect(target.sample(0, 48, rect.y) == 100 && target.sample(0, 48, rect.y - 1) == 235)
  }

  @Test("Invalid calls are errors, and nothing is drawn")
  func mistakes() throws {
    var options = Self.sensor()
    options.fit = .blur
    #expect(throws: UprightError.self) { try FrameAdapter(options) }
    let adapter = try FrameAdapter(Self.sensor())
    #expect(throws: UprightError.self) {
      try adapter.inbox.post([.at(.nan, .lock(true))])
    }
    #expect(throws: UprightError.self) {
      try adapter.inbox.post(
        [StreamEvent](repeating: .at(1, .lock(true)), count: EventInbox.capacity + 1))
    }
    // 16 bits can be turned, not rescaled.
    let deep = PixelLayout.deepGrey
    #expect(throws: UprightError.self) {
      try adapter.layout(of: FrameFormat(deep, PixelSize(256, 192)), at: MediaTime(0, Self.rate))
    }
    var source = TestFrame(.i420(), PixelSize(128, 96))
    let layout = try adapter.layout(
      of: FrameFormat(.i420(), PixelSize(128, 96)), at: MediaTime(0, Self.rate))
    var small = TestFrame(.i420(), PixelSize(64, 64))
    #expect(throws: UprightError.self) {
      try source.withPlanes { from in
        try small.withPlanes { to in try adapter.draw(PlaneSet(from), layout, into: to) }
      }
    }
  }

  @Test("Rows stored bottom-up are read as they are shown")
  func bottomUp() throws {
    let adapter = try FrameAdapter(Self.sensor())
    var source = TestFrame(.gray, PixelSize(128, 96))
    source.fill { ($1 * 3 + $2 * 7) & 255 }
    var rows = TestFrame(.gray, PixelSize(128, 96))
    for y in 0..<96 {
      for x in 0..<128 { rows.planes[0][(95 - y) * 128 + x] = source.planes[0][y * 128 + x] }
    }
    let layout = try adapter.layout(
      of: FrameFormat(.gray, PixelSize(128, 96)), at: MediaTime(0, Self.rate))
    var (upright, flipped) = (
      TestFrame(.gray, PixelSize(96, 128)), TestFrame(.gray, PixelSize(96, 128))
    )
    try source.withPlanes { from in
      try upright.withPlanes { try adapter.draw(PlaneSet(from), layout, into: $0) }
    }
    try rows.planes[0].withUnsafeBytes { bytes in
      let last = try #require(bytes.baseAddress) + 95 * 128
      let from = try #require(PlaneSet(.gray, size: PixelSize(128, 96), (last, -128)))
      try flipped.withPlanes { try adapter.draw(from, layout, into: $0) }
    }
    #expect(flipped.planes == upright.planes)
  }
}
