import Foundation

/// Random numbers that a failing test can be run again with: SplitMix64. The seed is `UPRIGHT_SEED`,
/// else a new one each run; print it with every failure.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  /// What the run started from.
  public let seed: UInt64
  private var state: UInt64

  /// A generator from `seed`, from the environment, or from a new one.
  public init(seed: UInt64? = nil) {
    let wanted = ProcessInfo.processInfo.environment["UPRIGHT_SEED"].flatMap { UInt64($0) }
    self.seed = seed ?? wanted ?? UInt64.random(in: 0...UInt64.max)
    state = self.seed
  }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
