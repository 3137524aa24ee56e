import Foundation

/// A random number generator (SplitMix64) whose seed can be set to repeat a failure. The seed is
/// `UPRIGHT_SEED`, or else a new one in each run. Print it with every failure.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  /// The seed of the run.
  public let seed: UInt64
  private var state: UInt64

  /// Creates a generator from `seed`, from the environment, or from a random seed.
  public init(seed: UInt64? = nil) {
    let wanted = ProcessInfo.processInfo.environment["UPRIGHT_SEED"].flatMap { UInt64($0) }
    self.seed = seed ?? wanted ?? UInt64.random(in: 0...UInt64.max)
    state = self.seed
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
