// swift-tools-version: 6.2
import PackageDescription

// A separate package: building Upright needs nothing that it is compared with.
let package = Package(
  name: "upright-benchmarks",
  dependencies: [.package(name: "upright", path: "..")],
  targets: [
    .systemLibrary(name: "CLibyuv", providers: [.apt(["libyuv-dev"])]),
    .systemLibrary(
      name: "CLibavfilter", pkgConfig: "libavfilter", providers: [.apt(["libavfilter-dev"])]),
    .target(
      name: "CFilterGraph", dependencies: ["CLibavfilter"],
      linkerSettings: [.linkedLibrary("avutil")]),
    .executableTarget(
      name: "ScaleBench",
      dependencies: [
        "CFilterGraph", .product(name: "UprightKernels", package: "upright"),
        .product(name: "UprightOrientation", package: "upright"),
      ]),
    .executableTarget(
      name: "FrameBench",
      dependencies: [
        "CAllocationCount", .product(name: "UprightFrames", package: "upright"),
      ]),
    .executableTarget(
      name: "KernelBench",
      dependencies: ["CLibyuv", .product(name: "UprightKernels", package: "upright")]),
    .executableTarget(
      name: "SessionBench",
      dependencies: [
        .product(name: "Upright", package: "upright"),
        .product(name: "UprightOrientation", package: "upright"),
      ]),
    .target(name: "CAllocationCount"),
    .executableTarget(
      name: "PolicyBench",
      dependencies: [
        "CAllocationCount", .product(name: "UprightPolicy", package: "upright"),
        .product(name: "UprightOrientation", package: "upright"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
