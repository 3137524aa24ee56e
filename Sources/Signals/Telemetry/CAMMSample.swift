/// A sample of a `camm` track (Camera Motion Metadata, Android and Street View): a reserved number, a type, and numbers
/// of four bytes, all little-endian.
package enum CAMMSample {
  private static let kinds: [Int: TelemetryReading.Kind] = [
    0: .angleAxis, 2: .rotationRate, 3: .acceleration,
  ]

  /// Returns the reading of a sample; `nil` if it is of another type, such as a position, or truncated.
  package static func reading(_ sample: [UInt8]) -> TelemetryReading? {
    guard sample.count >= 16, let kind = kinds[Int(sample[2]) | Int(sample[3]) << 8] else {
      return nil
    }
    let values = (0..<3).map { index in
      let bits = sample[4 + 4 * index..<8 + 4 * index].reversed().reduce(UInt32(0)) {
        $0 << 8 | UInt32($1)
      }
      return Double(Float(bitPattern: bits))
    }
    // X to the right of the image, Y to its top, Z towards the photographer.
    return TelemetryReading(kind, values, axes: "xZY")
  }
}
