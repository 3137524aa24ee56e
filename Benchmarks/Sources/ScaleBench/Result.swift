import Foundation

/// One side's row, as JSON.
struct Result: Encodable {
  var name: String
  var filter: String
  /// The median thread CPU time, in milliseconds.
  var ms: Double
  var ofTransposeScale: Double
  var ofBestOrder: Double
  /// The PSNR of the three planes against the filter kernel in double precision, in dB.
  var psnr: [Double]
  /// The SSIM of luma.
  var ssim: Double
}

func write(_ results: [Result], to path: String) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
  try encoder.encode(results).write(to: URL(fileURLWithPath: path))
}

/// Returns the structural similarity (Wang and others, 2004), the mean over adjacent blocks of 8 x 8.
func ssim(
  _ plane: (UnsafePointer<UInt8>, Int), _ reference: [Double], _ size: (width: Int, height: Int)
) -> Double {
  let (c1, c2) = (6.5025, 58.5225)
  var total = 0.0
  for top in stride(from: 0, through: size.height - 8, by: 8) {
    for left in stride(from: 0, through: size.width - 8, by: 8) {
      var (a, b, aa, bb, ab) = (0.0, 0.0, 0.0, 0.0, 0.0)
      for y in top..<top + 8 {
        for x in left..<left + 8 {
          let (p, q) = (Double(plane.0[y * plane.1 + x]), reference[y * size.width + x])
          (a, b, aa, bb, ab) = (a + p, b + q, aa + p * p, bb + q * q, ab + p * q)
        }
      }
      let (p, q) = (a / 64, b / 64)
      let (vp, vq, cov) = (aa / 64 - p * p, bb / 64 - q * q, ab / 64 - p * q)
      total += (2 * p * q + c1) * (2 * cov + c2) / ((p * p + q * q + c1) * (vp + vq + c2))
    }
  }
  return total / Double((size.width / 8) * (size.height / 8))
}
