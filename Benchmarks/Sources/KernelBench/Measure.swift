import Foundation
import UprightKernels

/// The medians of one case, in seconds per frame.
struct Measurement: Codable {
  var size: String
  var layout: String
  var operation: String
  /// Whether the frames came from and went to memory instead of the cache.
  var cold: Bool
  var bytes: Int
  var upright: Double
  var libyuv: Double
  var memcpy: Double
  var ofLibyuv: Double
  var ofMemcpy: Double
}

/// Runs the three sides in turn, `rounds` times, so that other load on the machine affects all of them. Warm:
/// one pair of frames, run once before the clock starts. Cold: as many pairs as make `coldBytes`, each used
/// once before the first is used again.
func measure(
  _ operation: Operation, width: Int, height: Int, cold: Bool, rounds: Int, align: Int,
  coldBytes: Int, kernels: PixelKernels
) -> Measurement {
  let turned = operation.transposes ? (height, width) : (width, height)
  func pair() -> (Frame, Frame) {
    (
      Frame(operation.layout, width, height, align: align),
      Frame(operation.layout, turned.0, turned.1, align: align)
    )
  }
  var pairs = [pair()]
  let bytes = pairs[0].0.bytes
  if cold { while pairs.count * 2 * bytes < coldBytes { pairs.append(pair()) } }

  let sides: [(Frame, Frame) -> Void] = [
    { operation.upright($0, $1, kernels) },
    { operation.libyuv($0, $1) },
    { operation.copy($0, $1) },
  ]
  var times: [[Double]] = [[], [], []]
  var next = 0
  for round in 0..<rounds {
    for turn in sides.indices {
      // A different side goes first each round.
      let side = (turn + round) % sides.count
      if !cold {
        sides[side](pairs[0].0, pairs[0].1)
        sides[side](pairs[0].0, pairs[0].1)
      }
      let count = cold ? 2 : 5
      let start = threadSeconds()
      for _ in 0..<count {
        sides[side](pairs[next].0, pairs[next].1)
        next = (next + 1) % pairs.count
      }
      times[side].append((threadSeconds() - start) / Double(count))
    }
  }
  let medians = times.map { $0.sorted()[$0.count / 2] }
  return Measurement(
    size: "\(width)x\(height)", layout: operation.layout.rawValue, operation: operation.name,
    cold: cold, bytes: bytes, upright: medians[0], libyuv: medians[1], memcpy: medians[2],
    ofLibyuv: medians[0] / medians[1], ofMemcpy: medians[0] / medians[2])
}

/// Returns the CPU time of this thread, which other load on the machine doesn't change.
private func threadSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
