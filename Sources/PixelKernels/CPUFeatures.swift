internal import CPixelKernels

/// The CPU levels there are kernels for. A level is used only together with all the levels below
/// it: `[.avx2]` alone is the reference.
public struct CPUFeatures: OptionSet, Sendable, Hashable {
  /// One bit a level, the lowest level in the lowest bit.
  public let rawValue: UInt32

  /// The levels of the bits set in `rawValue`; bits without a level are ignored.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Every x86-64 CPU.
  public static let sse2 = Self(rawValue: 1)
  /// SSE4.1: every CPU since 2011. Below it there is no resampling but the reference.
  public static let sse4 = Self(rawValue: 2)
  /// x86-64-v3: about every CPU since 2015.
  public static let avx2 = Self(rawValue: 4)
  /// x86-64-v4 with VNNI: servers since 2019, every Zen since the fourth.
  public static let avx512 = Self(rawValue: 8)

  /// Nothing but the scalar reference.
  public static let none: Self = []
  /// Whatever the CPU has, now and in later versions.
  public static let all = Self(rawValue: .max)

  /// What the running CPU has.
  public static var available: Self { Self(rawValue: upright_cpu_flags()) }
}
