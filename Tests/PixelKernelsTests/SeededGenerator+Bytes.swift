import UprightTestSupport

extension SeededGenerator {
  /// Returns a number in 0..<bound, uniform enough for a test.
  mutating func below(_ bound: Int) -> Int { Int(next() >> 33) % bound }

  mutating func fill(_ bytes: UnsafeMutableRawBufferPointer) {
    let words = bytes.count / 8
    for i in 0..<words { bytes.storeBytes(of: next(), toByteOffset: 8 * i, as: UInt64.self) }
    let last = next()
    for i in 8 * words..<bytes.count { bytes[i] = UInt8(truncatingIfNeeded: last >> (8 * (i % 8))) }
  }
}

/// The seed of this run. Every failure prints it.
let seed = SeededGenerator.runSeed
