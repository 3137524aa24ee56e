import Foundation
import UprightKernels

/// One yuv420p frame of the source's size.
struct SensorFrame {
  private let bytes: [UInt8]

  init(_ path: String?) throws {
    if let path {
      bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      if bytes.count < source.width * source.height * 3 / 2 { fail("\(path) is too short") }
      return
    }
    var noise: UInt32 = 1
    bytes = (0..<3).flatMap { plane -> [UInt8] in
      let size = planeSize(source, plane)
      return (0..<size.width * size.height).map { index in
        let (x, y) = (Double(index % size.width), Double(index / size.width))
        noise = noise &* 1_664_525 &+ 1_013_904_223
        let wave = 60 * sin(x / 31) * cos(y / 47) + 20 * sin((x + 2 * y) / 5)
        let edge = (index % size.width / 90 + index / size.width / 70) % 2 == 0 ? 25.0 : -25
        return UInt8(max(0, min(255, 125 + wave + edge + Double(noise >> 29))))
      }
    }
  }

  private func offset(_ plane: Int) -> Int {
    let luma = source.width * source.height
    return plane == 0 ? 0 : luma + (plane - 1) * luma / 4
  }

  func copy(_ plane: Int, to start: UnsafeMutablePointer<UInt8>, stride: Int) {
    let size = planeSize(source, plane)
    bytes.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      for y in 0..<size.height {
        memcpy(start + y * stride, base + offset(plane) + y * size.width, size.width)
      }
    }
  }

  /// Returns the result of the filter kernel in double precision, limited to 0...255.
  func reference(_ filter: ResampleFilter) -> [[Double]] {
    (0..<3).map { plane in
      let (from, to) = (planeSize(source, plane), planeSize(target, plane))
      let down = weights(filter, from.height, to.width)
      let across = weights(filter, from.width, to.height)
      let base = offset(plane)
      var result = [Double](repeating: 0, count: to.width * to.height)
      var row = [Double](repeating: 0, count: from.width)
      for (j, taps) in down.enumerated() {
        for x in 0..<from.width {
          row[x] = taps.reduce(0) { $0 + $1.1 * Double(bytes[base + $1.0 * from.width + x]) }
        }
        // Clockwise: the first row becomes the last column.
        for (i, taps) in across.enumerated() {
          let value = taps.reduce(0) { $0 + $1.1 * row[$1.0] }
          result[i * to.width + to.width - 1 - j] = min(255, max(0, value))
        }
      }
      return result
    }
  }

  /// Returns the samples of every output, clamped to the axis, and their weights.
  private func weights(_ filter: ResampleFilter, _ from: Int, _ to: Int) -> [[(Int, Double)]] {
    let scale = Double(from) / Double(to)
    return (0..<to).map { output in
      let centre = (Double(output) + 0.5) * scale - 0.5
      let reach = Int((3 * scale).rounded(.up))
      let taps = (Int(centre) - reach...Int(centre) + reach + 1).map { sample in
        (min(max(sample, 0), from - 1), kernel(filter, Double(sample) - centre, scale))
      }
      let sum = taps.reduce(0) { $0 + $1.1 }
      return taps.filter { $0.1 != 0 }.map { ($0.0, $0.1 / sum) }
    }
  }

  private func kernel(_ filter: ResampleFilter, _ distance: Double, _ scale: Double) -> Double {
    let d = abs(distance)
    if filter == .area {
      return max(0, min(d + 0.5, scale / 2) - max(d - 0.5, -scale / 2))
    }
    // B = 0, C = 0.6: libswscale's bicubic.
    let t = d / scale
    if t < 1 { return 1.4 * t * t * t - 2.4 * t * t + 1 }
    return t < 2 ? -0.6 * t * t * t + 3 * t * t - 4.8 * t + 2.4 : 0
  }
}

func psnr(
  _ plane: (UnsafePointer<UInt8>, Int), _ reference: [Double], _ size: (width: Int, height: Int)
) -> Double {
  var sum = 0.0
  for y in 0..<size.height {
    for x in 0..<size.width {
      let difference = Double(plane.0[y * plane.1 + x]) - reference[y * size.width + x]
      sum += difference * difference
    }
  }
  return 10 * log10(255 * 255 / max(1e-9, sum / Double(size.width * size.height)))
}
