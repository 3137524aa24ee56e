import Foundation

/// The random number generator of all tests (SplitMix64). The same seed gives the same numbers on every machine.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  /// The seed of the run: the environment variable `UPRIGHT_SEED`, which repeats a run, or else a new one. Print it with
  /// every failure.
  public static let runSeed: UInt64 = {
    let wanted = ProcessInfo.processInfo.environment["UPRIGHT_SEED"].flatMap { UInt64($0) }
    return wanted ?? UInt64.random(in: 0...UInt64(UInt32.max))
  }()

  /// The seed of this generator.
  public let seed: UInt64
  private var state: UInt64

  /// Creates a generator from `seed`, which is that of the run by default.
  public init(seed: UInt64 = Self.runSeed) {
    self.seed = seed
    state = seed
  }

  /// Returns the next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
