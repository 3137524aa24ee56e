internal import UprightOrientation
internal import UprightKernels
internal import UprightMediaIO

/// The versions of everything that the bytes of an output depend on.
enum ToolVersions {
  /// Upright, FFmpeg's libraries, and the kind of machine: the kernels and FFmpeg's code for audio differ between
  /// architectures, and without SSE4.1 or NEON frames are scaled by libswscale.
  static var current: [String] {
    let isFast = !CPUFeatures.available.isDisjoint(with: [.sse4, .neon])
    return ["upright \(UprightVersion.current)", "FFmpeg \(Libraries.release)"] + Libraries.versions
      + ["\(architecture)\(isFast ? "" : " without SIMD")"]
  }

  private static var architecture: String {
    #if arch(x86_64)
    "x86_64"
    #elseif arch(arm64)
    "aarch64"
    #else
    "unknown"
    #endif
  }

  /// - Throws: `badData` if `tools` differ from those of this process.
  static func check(_ tools: [String]) throws(UprightError) {
    let current = current
    guard tools != current else { return }
    let theirs = tools.filter { !current.contains($0) }
    let ours = current.filter { !tools.contains($0) }
    throw UprightError(
      .badData,
      "the plan was made with \(theirs.joined(separator: ", ")), and this is "
        + ours.joined(separator: ", "), at: "plan",
      remedy: "use one version of Upright and of the libraries on all machines, or plan again")
  }
}
