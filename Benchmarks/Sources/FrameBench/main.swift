// Frames in, frames out: what `FrameAdapter` (a policy's decision, a layout, checks) costs beyond the kernels
// that it runs, and how often a frame asks for memory.
//
//   swift run -c release FrameBench [--json FILE] [--rounds N]
import CAllocationCount
import Foundation
import UprightFrames

/// One row: medians of the rounds, and of the ratio within each.
struct Measurement: Codable {
  var layout: String
  var operation: String
  /// Milliseconds per frame.
  var adapter: Double
  /// Milliseconds per frame of the kernels alone, called plane by plane.
  var kernels: Double
  var ofKernels: Double
  var allocationsPerFrame: Double
}

/// A frame in memory of its own.
final class Frame {
  let format: FrameFormat
  let planes: MutablePlaneSet
  private let memory: [UnsafeMutableRawPointer]

  init(_ format: FrameFormat) {
    self.format = format
    var starts: [(start: UnsafeMutableRawPointer, stride: Int)] = []
    for plane in format.layout.planes {
      let size = format.layout.size(of: plane, in: format.size)
      let stride = (size.width * plane.elementSize + 63) / 64 * 64
      let bytes = UnsafeMutableRawPointer.allocate(
        byteCount: stride * size.height, alignment: 64)
      bytes.initializeMemory(as: UInt8.self, repeating: 1, count: stride * size.height)
      starts.append((bytes, stride))
    }
    memory = starts.map(\.start)
    let (layout, size) = (format.layout, format.size)
    let set =
      switch starts.count {
      case 1: MutablePlaneSet(layout, size: size, starts[0])
      case 2: MutablePlaneSet(layout, size: size, starts[0], starts[1])
      default: MutablePlaneSet(layout, size: size, starts[0], starts[1], starts[2])
      }
    guard let set else { fatalError("planes") }
    planes = set
  }

  deinit { for plane in memory { plane.deallocate() } }
}

/// Returns what the adapter must do with the samples, and nothing else: a call of a kernel for each plane.
func kernelCalls(
  _ answer: FrameLayout, _ source: Frame, _ target: Frame
) throws -> () throws -> Void {
  let kernels = PixelKernels.best
  let layout = source.format.layout
  let (from, to) = (PlaneSet(source.planes), target.planes)
  guard !answer.placement.isExact else {
    return {
      for (index, plane) in layout.planes.enumerated() {
        try kernels.turn(
          from[index], by: answer.turn, into: to[index], elementSize: plane.elementSize)
      }
    }
  }
  var passes: [Resampler] = []
  for (index, plane) in layout.planes.enumerated() {
    // Planes that are alike share one, and its working memory.
    if let same = layout.planes[..<index].firstIndex(of: plane) {
      passes.append(passes[same])
      continue
    }
    let turned = answer.target.layout.planes[index]
    passes.append(
      try Resampler(
        source: grids(source.format, plane), destination: grids(answer.target, turned),
        orientation: answer.turn, filter: .bicubic,
        element: .init(
          components: plane.elementSize / layout.sampleBytes, size: layout.sampleBytes,
          depth: layout.bitDepth, shift: layout.components[0].shift)))
  }
  return {
    for (index, pass) in passes.enumerated() { try pass.resample(from[index], into: to[index]) }
  }
}

/// Where the samples of a plane are in a frame.
func grids(
  _ format: FrameFormat, _ plane: PixelLayout.Plane
) -> (x: SampleGrid, y: SampleGrid) {
  let count = format.layout.size(of: plane, in: format.size)
  let place = format.layout.transform(of: plane, siting: format.chroma)
  return (
    SampleGrid(count.width, shift: place.tx / place.a),
    SampleGrid(count.height, shift: place.ty / place.d)
  )
}

func milliseconds(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
  let start = threadNanoseconds()
  for _ in 0..<count { try body() }
  return Double(threadNanoseconds() - start) / 1e6 / Double(count)
}

/// The thread's own time: what else the machine does is not counted.
func threadNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// The times of one adapter and of the kernels, with frames in one place in memory.
struct Trial {
  let operation: String
  var adapter: [Double] = []
  var kernels: [Double] = []
  let allocationsPerFrame: Double
  /// Kept, so that the frames of the next trial are somewhere else.
  let frames: [Frame]

  init(_ layout: PixelLayout, to size: PixelSize, rounds: Int) throws {
    var options = AdapterOptions()
    options.frames = .sensor(Camera())
    options.size = size
    let adapter = try FrameAdapter(options)
    let source = Frame(FrameFormat(layout, PixelSize(1920, 1080)))
    var frame: Int64 = 0
    let answer = try adapter.layout(of: source.format, at: MediaTime(0, Rational(1, 30)))
    let target = Frame(answer.target)
    let plain = try kernelCalls(answer, source, target)
    func adapted() throws {
      frame += 1
      let layout = try adapter.layout(of: source.format, at: MediaTime(frame, Rational(1, 30)))
      try adapter.draw(PlaneSet(source.planes), layout, into: target.planes)
    }
    try adapted()
    try plain()
    for round in 0..<rounds {
      // Each goes first in every other round.
      if round % 2 == 0 { self.adapter.append(try milliseconds(5, adapted)) }
      kernels.append(try milliseconds(5, plain))
      if round % 2 == 1 { self.adapter.append(try milliseconds(5, adapted)) }
    }
    let before = allocation_count()
    for _ in 0..<100 { try adapted() }
    allocationsPerFrame = Double(allocation_count() - before) / 100
    operation = answer.placement.isExact ? "turn" : "turn to \(answer.target.size)"
    frames = [source, target]
  }
}

/// Where frames are in memory changes the time of a kernel by some percent, so there are several trials.
func measure(
  _ name: String, _ layout: PixelLayout, to size: PixelSize, rounds: Int
) throws -> Measurement {
  let trials = try (0..<5).map { _ in try Trial(layout, to: size, rounds: rounds) }
  let (ours, kernels) = (trials.flatMap(\.adapter), trials.flatMap(\.kernels))
  return Measurement(
    layout: name, operation: trials[0].operation, adapter: median(ours), kernels: median(kernels),
    ofKernels: median(zip(ours, kernels).map { $0 / $1 }),
    allocationsPerFrame: trials.map(\.allocationsPerFrame).max() ?? 0)
}

var path: String?
var rounds = 61
var arguments = CommandLine.arguments.dropFirst()
while let name = arguments.popFirst() {
  switch (name, arguments.popFirst()) {
  case ("--json", let value?): path = value
  case ("--rounds", let value?): rounds = max(1, Int(value) ?? rounds)
  default:
    print("usage: FrameBench [--json FILE] [--rounds N]")
    exit(2)
  }
}
let layouts: [(String, PixelLayout)] = [
  ("i420", .i420()), ("nv12", .nv12), ("i420 10 bits", .i420(depth: 10)), ("p010", .p010),
  ("i422", .i422()), ("i422 10 bits", .i422(depth: 10)),
]
print("1080p             operation         adapter  kernels  ratio  allocations  (ms a frame)")
var rows: [Measurement] = []
for (name, layout) in layouts {
  for size in [PixelSize(1080, 1920), PixelSize(720, 1280)] {
    let row = try measure(name, layout, to: size, rounds: rounds)
    print(
      row.layout.padding(toLength: 18, withPad: " ", startingAt: 0)
        + row.operation.padding(toLength: 18, withPad: " ", startingAt: 0)
        + String(
          format: "%-9.3f%-9.3f%-7.3f%.2f", row.adapter, row.kernels, row.ofKernels,
          row.allocationsPerFrame))
    rows.append(row)
  }
}
if let path {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
  try encoder.encode(rows).write(to: URL(fileURLWithPath: path))
}
