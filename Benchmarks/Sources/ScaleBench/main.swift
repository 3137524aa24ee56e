// A quarter turn with a change of size in one pass, compared with libavfilter's two filters in either order,
// all measured in turn in one run on one thread. Each row also has its PSNR against the same filter kernel in
// double precision.
//
//   swift run -c release ScaleBench [--rounds N] [--frame FILE] [--cold yes] [--json FILE]
//
// FILE is one 1920x1080 yuv420p frame. Without it, waves, edges and noise are used.
import CFilterGraph
import Foundation
import UprightOrientation
import UprightKernels

let source = (width: 1920, height: 1080)
let target = (width: 720, height: 1280)

/// An implementation that rotates the frame upright and rescales it.
protocol Side {
  var name: String { get }
  var filter: ResampleFilter { get }
  func run()
  /// Returns a plane of the last output, and the bytes from row to row.
  func output(_ plane: Int) -> (UnsafePointer<UInt8>, Int)
}

func planeSize(_ size: (width: Int, height: Int), _ plane: Int) -> (width: Int, height: Int) {
  plane == 0 ? size : (size.width / 2, size.height / 2)
}

struct GraphSide: Side {
  let name: String
  let filter: ResampleFilter
  private let graph: OpaquePointer

  init(_ filters: String, _ filter: ResampleFilter, _ frame: SensorFrame) {
    name = filters
    self.filter = filter
    guard let graph = filter_graph_open(filters, Int32(source.width), Int32(source.height)) else {
      fail("libavfilter rejects \(filters)")
    }
    self.graph = graph
    for plane in 0..<3 {
      var stride: Int32 = 0
      guard let start = filter_graph_input(graph, Int32(plane), &stride) else {
        fail("\(filters) has no input plane \(plane)")
      }
      frame.copy(plane, to: start, stride: Int(stride))
    }
  }

  func run() { if filter_graph_run(graph) < 0 { fail("\(name) failed") } }

  func output(_ plane: Int) -> (UnsafePointer<UInt8>, Int) {
    var stride: Int32 = 0
    guard let start = filter_graph_output(graph, Int32(plane), &stride) else {
      fail("\(name) has no output plane \(plane)")
    }
    return (start, Int(stride))
  }
}

final class FusedSide: Side {
  let name: String
  let filter: ResampleFilter
  private let passes: [Resampler]
  private let inputs: [UnsafeMutablePointer<UInt8>]
  private let outputs: [UnsafeMutablePointer<UInt8>]

  init(
    _ filter: ResampleFilter, _ frame: SensorFrame, level: Level? = nil
  ) throws {
    name = "one pass, \(filter.rawValue)" + (level.map { ", \($0.name)" } ?? "")
    self.filter = filter
    passes = try (0..<3).map { plane in
      let (from, to) = (planeSize(source, plane), planeSize(target, plane))
      return try Resampler(
        source: (SampleGrid(from.width), SampleGrid(from.height)),
        destination: (SampleGrid(to.width), SampleGrid(to.height)), orientation: .right,
        filter: filter, cpuMask: level?.mask ?? .all)
    }
    func plane(_ size: (width: Int, height: Int)) -> UnsafeMutablePointer<UInt8> {
      let bytes = Self.stride(size.width) * size.height
      let start = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
      return start.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
    }
    inputs = (0..<3).map { plane(planeSize(source, $0)) }
    outputs = (0..<3).map { plane(planeSize(target, $0)) }
    for index in 0..<3 {
      frame.copy(
        index, to: inputs[index], stride: Self.stride(planeSize(source, index).width))
    }
  }

  private static func stride(_ width: Int) -> Int { (width + 63) / 64 * 64 }

  func run() {
    for plane in 0..<3 {
      let (from, to) = (planeSize(source, plane), planeSize(target, plane))
      do {
        try passes[plane].resample(
          PlaneView(
            inputs[plane], stride: Self.stride(from.width), width: from.width,
            height: from.height),
          into: MutablePlaneView(
            outputs[plane], stride: Self.stride(to.width), width: to.width, height: to.height))
      } catch { fail("\(error)") }
    }
  }

  func output(_ plane: Int) -> (UnsafePointer<UInt8>, Int) {
    (UnsafePointer(outputs[plane]), Self.stride(planeSize(target, plane).width))
  }
}

/// A CPU level with kernels that resample, and the mask that leaves out those above it.
struct Level {
  let name: String
  let mask: CPUFeatures

  static let all = [
    Self(name: "SSE4.1", mask: [.sse2, .sse4]), Self(name: "AVX2", mask: [.sse2, .sse4, .avx2]),
    Self(name: "AVX-512", mask: [.sse2, .sse4, .avx2, .avx512]), Self(name: "NEON", mask: .neon),
  ]

  var isHere: Bool { mask.isSubset(of: .available) }
}

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("ScaleBench: \(message)\n".utf8))
  exit(1)
}

func run() throws {
  var options: [String: String] = [:]
  var arguments = CommandLine.arguments.dropFirst()
  while let name = arguments.popFirst(), let value = arguments.popFirst() { options[name] = value }
  let rounds = max(1, options["--rounds"].flatMap(Int.init) ?? 101)
  let frame = try SensorFrame(options["--frame"])
  let accurate = "accurate_rnd+full_chroma_int"
  for level in Level.all where !level.isHere { print("not on this machine: \(level.name)") }
  let levels = try Level.all.filter(\.isHere).map { level -> any Side in
    try FusedSide(.bicubic, frame, level: level)
  }
  let sides: [any Side] =
    levels + [
      GraphSide("transpose=clock,scale=720:1280", .bicubic, frame),
      GraphSide("scale=1280:720:flags=bicubic,transpose=clock", .bicubic, frame),
      GraphSide("scale=1280:720:flags=area,transpose=clock", .area, frame),
      GraphSide("scale=1280:720:flags=bicubic+\(accurate),transpose=clock", .bicubic, frame),
      try FusedSide(.bicubic, frame), try FusedSide(.area, frame),
    ]
  // Cold: one frame at a time between the other sides. Warm: after two of the same.
  let (warmUp, count) = options["--cold"] == nil ? (2, 5) : (0, 1)
  var times = sides.map { _ in [Double]() }
  for round in 0..<rounds {
    for turn in sides.indices {
      let side = (turn + round) % sides.count
      for _ in 0..<warmUp { sides[side].run() }
      let start = cpuSeconds()
      for _ in 0..<count { sides[side].run() }
      times[side].append((cpuSeconds() - start) / Double(count))
    }
  }
  let medians = times.map { $0.sorted()[$0.count / 2] * 1e3 }
  // The usual order, then the best one for each filter.
  let graphs = medians[levels.count...].prefix(3).map(\.self)
  let best: [ResampleFilter: Double] = [.bicubic: graphs[1], .area: graphs[2]]
  let references = Dictionary(
    uniqueKeysWithValues: [ResampleFilter.bicubic, .area].map { ($0, frame.reference($0)) })
  print("ms      / transpose,scale   / best order, same filter   PSNR Y, Cb, Cr")
  var results: [Result] = []
  for (index, side) in sides.enumerated() {
    let ratios = (0..<3).map { plane in
      psnr(
        side.output(plane), references[side.filter, default: []][plane], planeSize(target, plane))
    }
    print(
      String(
        format: "%6.3f   %5.3f   %5.3f   %6.2f %6.2f %6.2f   %@", medians[index],
        medians[index] / graphs[0], medians[index] / best[side.filter, default: .nan], ratios[0],
        ratios[1],
        ratios[2], side.name))
    results.append(
      Result(
        name: side.name, filter: side.filter.rawValue, ms: medians[index],
        ofTransposeScale: medians[index] / graphs[0],
        ofBestOrder: medians[index] / best[side.filter, default: .nan], psnr: ratios,
        ssim: ssim(
          side.output(0), references[side.filter, default: []][0], planeSize(target, 0))))
  }
  if let path = options["--json"] { try write(results, to: path) }
}

func cpuSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

try run()
