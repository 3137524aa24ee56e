internal import CUprightKernels

/// The CPU levels that have kernels: four of x86-64, one of aarch64. A level is used only together with all
/// the levels below it: `[.avx2]` alone selects the reference.
public struct CPUFeatures: OptionSet, Sendable, Hashable {
  /// One bit per level. On x86-64 the lowest level has the lowest bit.
  public let rawValue: UInt32

  /// The levels whose bits are set in `rawValue`. Bits without a level are ignored.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// SSE2: every x86-64 CPU.
  public static let sse2 = Self(rawValue: 1)
  /// SSE4.1: every CPU since 2011. Below it, only the reference resamples.
  public static let sse4 = Self(rawValue: 2)
  /// x86-64-v3: almost every CPU since 2015.
  public static let avx2 = Self(rawValue: 4)
  /// x86-64-v4 with VNNI: servers since 2019, every Zen CPU since the fourth generation.
  public static let avx512 = Self(rawValue: 8)
  /// NEON: every aarch64 CPU.
  public static let neon = Self(rawValue: 16)

  /// No level: the scalar reference only.
  public static let none: Self = []
  /// All levels of the CPU, including those that later versions add.
  public static let all = Self(rawValue: .max)

  /// The levels of the running CPU.
  public static var available: Self { Self(rawValue: upright_cpu_flags()) }
}
