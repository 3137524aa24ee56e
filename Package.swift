// swift-tools-version: 6.2
import PackageDescription

// On in CI: a warning there is an error, while a newer compiler's does not break a user's build.
let strictness: [SwiftSetting] =
  Context.environment["UPRIGHT_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]
// On in `make check` and `make test`: pixels are compared a hundred times as fast, and every assertion
// still holds. Unsafe flags, so never on for a package that depends on this one.
let isUnderTest = Context.environment["UPRIGHT_UNDER_TEST"] != nil
let speed: [SwiftSetting] = isUnderTest ? [.unsafeFlags(["-O", "-assert-config", "Debug"])] : []
let kernelSpeed: [CSetting] = isUnderTest ? [.unsafeFlags(["-O2"])] : []
let base: [SwiftSetting] =
  strictness + speed + [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
// Every room but MediaIO, where each line is a C call and the mark would say nothing.
let strict: [SwiftSetting] = base + [.strictMemorySafety()]
// The tests themselves are never optimised: in a release build that would take as long as all else.
let tests: [SwiftSetting] =
  strictness + (isUnderTest ? [.unsafeFlags(["-Onone"])] : []) + [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]

let collections = Package.Dependency.package(
  url: "https://github.com/apple/swift-collections", from: "1.6.0")
// What the fuzz targets of Fuzz/Targets read.
let fuzzed: [Target.Dependency] = [
  "Orientation", "RotationPolicy", "OrientationSignals", "RTP", "RTMP", "MediaIO", "Upright",
  "UprightService",
]

let package = Package(
  name: "upright",
  products: [
    .library(name: "Orientation", targets: ["Orientation"]),
    .library(name: "RotationPolicy", targets: ["RotationPolicy"]),
    .library(name: "Upright", targets: ["Upright"]),
    .library(name: "PixelKernels", targets: ["PixelKernels"]),
    .executable(name: "upright", targets: ["UprightCLI"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    collections,
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    .target(name: "Orientation", swiftSettings: strict),
    .target(name: "RotationPolicy", dependencies: ["Orientation"], swiftSettings: strict),
    .target(name: "CPixelKernels", cSettings: kernelSpeed),
    .target(
      name: "PixelKernels", dependencies: ["CPixelKernels", "Orientation"], swiftSettings: strict),
    .target(name: "OrientationSignals", dependencies: ["Orientation"], swiftSettings: strict),
    .target(name: "RTP", dependencies: ["Orientation"], swiftSettings: strict),
    .target(name: "RTMP", swiftSettings: strict),
    .systemLibrary(
      name: "CFFmpeg", pkgConfig: "libavformat",
      providers: [
        .apt([
          "libavformat-dev", "libavcodec-dev", "libavfilter-dev", "libswscale-dev",
          "libswresample-dev", "libavutil-dev",
        ])
      ]),
    .target(name: "CFFmpegShims", dependencies: ["CFFmpeg"]),
    .target(
      name: "MediaIO",
      dependencies: ["CFFmpeg", "CFFmpegShims", "Orientation"], swiftSettings: base),
    .target(
      name: "Upright",
      dependencies: [
        "MediaIO", "RotationPolicy", "PixelKernels", "OrientationSignals", "RTP", "Orientation",
        .product(name: "DequeModule", package: "swift-collections"),
      ], swiftSettings: strict),
    .target(
      name: "UprightService",
      dependencies: [
        "Upright", "MediaIO", "RotationPolicy", "RTMP", "Orientation",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),
    .executableTarget(
      name: "UprightCLI",
      dependencies: [
        "UprightService", "Upright", "MediaIO", "RotationPolicy", "Orientation",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),

    .target(
      name: "UprightTestSupport", dependencies: ["Orientation"], path: "Tests/UprightTestSupport",
      swiftSettings: tests + speed),
    .testTarget(
      name: "OrientationTests", dependencies: ["Orientation", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "RotationPolicyTests",
      dependencies: ["RotationPolicy", "Orientation", "UprightTestSupport"], swiftSettings: tests),
    .testTarget(
      name: "PixelKernelsTests",
      dependencies: ["PixelKernels", "CPixelKernels", "Orientation", "UprightTestSupport"],
      swiftSettings: tests + speed),
    .testTarget(
      name: "OrientationSignalsTests",
      dependencies: ["OrientationSignals", "Orientation", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "RTPTests", dependencies: ["RTP", "Orientation", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "RTMPTests", dependencies: ["RTMP", "UprightTestSupport"], swiftSettings: tests),
    .testTarget(
      name: "UprightTests",
      dependencies: [
        "Upright", "MediaIO", "RotationPolicy", "OrientationSignals", "Orientation",
        "UprightTestSupport",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "UprightServiceTests",
      dependencies: [
        "UprightService", "Upright", "MediaIO", "RotationPolicy", "RTMP", "Orientation",
        "UprightTestSupport",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: tests),
    .testTarget(
      name: "UprightCLITests",
      dependencies: ["UprightCLI", "UprightTestSupport"], swiftSettings: tests),
    .testTarget(
      name: "ArchitectureTests", dependencies: ["UprightTestSupport"], swiftSettings: tests),
    .testTarget(
      name: "FuzzTests", dependencies: fuzzed, path: "Fuzz", exclude: ["Corpus", "Fuzzer"],
      swiftSettings: tests),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)

// UPRIGHT_ONLY="UprightTests RTPTests" leaves those targets and what they need: a sanitizer's build of the
// media path takes half as long without SwiftNIO and Hummingbird.
if let only = Context.environment["UPRIGHT_ONLY"], !only.isEmpty {
  var kept = Set(only.split(separator: " ").map(String.init))
  var count = 0
  while count != kept.count {
    count = kept.count
    for target in package.targets where kept.contains(target.name) {
      for case .byNameItem(let name, _) in target.dependencies { kept.insert(name) }
    }
  }
  package.products = []
  package.targets.removeAll { !kept.contains($0.name) }
}

// UPRIGHT_FUZZ=1 makes another package: the modules with parsers, and an executable that libFuzzer runs.
// Of UprightService it has the files that need no other package: SwiftNIO and Hummingbird take longer to
// build than all targets to run.
if Context.environment["UPRIGHT_FUZZ"] != nil {
  let modules: Set = [
    "Orientation", "RotationPolicy", "CPixelKernels", "PixelKernels", "OrientationSignals", "RTP",
    "RTMP", "CFFmpeg", "CFFmpegShims", "MediaIO", "Upright",
  ]
  package.products = []
  package.dependencies = [collections]
  package.targets.removeAll { !modules.contains($0.name) }
  // A minute of the optimizer's: what these do is mostly done in libav*.
  for target in package.targets where ["MediaIO", "Upright"].contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Onone"])]
  }
  package.targets += [
    .target(
      name: "UprightService", dependencies: ["Upright", "MediaIO", "RotationPolicy"],
      sources: [
        "Addresses/AddressRules.swift", "Addresses/IPAddress.swift", "Addresses/StreamURL.swift",
        "Configuration/ServiceConfiguration.swift", "HTTP/ByteRange.swift",
        "Proxy/ProxyRequest.swift",
      ], swiftSettings: strict),
    .executableTarget(
      name: "Fuzzer", dependencies: fuzzed, path: "Fuzz", exclude: ["Corpus", "Tests"],
      swiftSettings: tests),
  ]
}
