// The time of Upright, libyuv and memcpy for the same bytes, measured in turn in one run.
//
//   swift run -c release KernelBench [--json FILE] [--rounds N] [--align BYTES] [--mask BITS] [--only TEXT]
//
// `--mask` is a CPU mask as in `CPUFeatures` (0: the reference). Strides are multiples of `--align` bytes.
import Foundation
import UprightKernels

func run() {
  var options: [String: String] = [:]
  var arguments = CommandLine.arguments.dropFirst()
  while let name = arguments.popFirst() {
    guard ["--json", "--rounds", "--align", "--mask", "--only"].contains(name),
      let value = arguments.popFirst()
    else {
      print("usage: KernelBench [--json FILE] [--rounds N] [--align N] [--mask N] [--only TEXT]")
      exit(2)
    }
    options[name] = value
  }
  let rounds = max(1, options["--rounds"].flatMap(Int.init) ?? 101)
  let align = max(1, options["--align"].flatMap(Int.init) ?? 64)
  let mask = options["--mask"].flatMap(UInt32.init).map(CPUFeatures.init(rawValue:)) ?? .all
  let kernels = PixelKernels(cpuMask: mask)

  func column(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
  func number(_ value: Double) -> String { column(String(format: "%.3f", value), 9) }

  print("size      case                  cache upright  libyuv   memcpy   /libyuv  /memcpy  (ms)")
  var results: [Measurement] = []
  for (width, height) in [(1280, 720), (1920, 1080), (3840, 2160)] {
    for operation in Operation.all {
      for cold in [false, true] {
        let name =
          column("\(width)x\(height)", 10)
          + column("\(operation.layout.rawValue) \(operation.name)", 22)
          + column(cold ? "cold" : "warm", 6)
        if let only = options["--only"], !name.contains(only) { continue }
        let result = measure(
          operation, width: width, height: height, cold: cold, rounds: rounds, align: align,
          coldBytes: 256 << 20, kernels: kernels)
        print(
          name + number(result.upright * 1e3) + number(result.libyuv * 1e3)
            + number(result.memcpy * 1e3) + number(result.ofLibyuv) + number(result.ofMemcpy))
        results.append(result)
      }
    }
  }

  if let path = options["--json"] {
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try encoder.encode(results).write(to: URL(fileURLWithPath: path))
    } catch {
      fail(error)
    }
  }
}

run()
