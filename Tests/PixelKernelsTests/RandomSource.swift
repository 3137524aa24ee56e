import Foundation

/// SplitMix64: the same bytes for the same seed on every machine.
struct RandomSource: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Returns a number in 0..<bound, uniform enough for a test.
  mutating func below(_ bound: Int) -> Int { Int(next() >> 33) % bound }

  mutating func fill(_ bytes: UnsafeMutableRawBufferPointer) {
    let words = bytes.count / 8
    for i in 0..<words { bytes.storeBytes(of: next(), toByteOffset: 8 * i, as: UInt64.self) }
    let last = next()
    for i in 8 * words..<bytes.count { bytes[i] = UInt8(truncatingIfNeeded: last >> (8 * (i % 8))) }
  }
}

/// The seed of this run: `UPRIGHT_TEST_SEED`, or a new one each time. Every failure prints it.
let seed: UInt64 =
  ProcessInfo.processInfo.environment["UPRIGHT_TEST_SEED"].flatMap(UInt64.init)
  ?? UInt64.random(in: 0...UInt64(UInt32.max))
