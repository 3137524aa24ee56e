// swift-tools-version: 6.2
import PackageDescription

// On in CI: a warning there is an error, while a newer compiler's does not break a user's build.
let strictness: [SwiftSetting] =
  Context.environment["UPRIGHT_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]
let base: [SwiftSetting] =
  strictness + [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
// Every room but MediaIO, where each line is a C call and the mark would say nothing.
let strict: [SwiftSetting] = base + [.strictMemorySafety()]
let tests: [SwiftSetting] =
  strictness + [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
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
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
  ],
  targets: [
    .target(name: "Orientation", swiftSettings: strict),
    .target(name: "RotationPolicy", dependencies: ["Orientation"], swiftSettings: strict),
    .target(name: "CPixelKernels"),
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
    .executableTarget(
      name: "UprightCLI",
      dependencies: [
        "Upright", "MediaIO", "RotationPolicy", "Orientation",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], swiftSettings: strict),

    .target(
      name: "UprightTestSupport", dependencies: ["Orientation"], path: "Tests/UprightTestSupport",
      swiftSettings: tests),
    .testTarget(
      name: "OrientationTests", dependencies: ["Orientation", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "RotationPolicyTests",
      dependencies: ["RotationPolicy", "Orientation", "UprightTestSupport"], swiftSettings: tests),
    .testTarget(
      name: "PixelKernelsTests",
      dependencies: ["PixelKernels", "CPixelKernels", "Orientation", "UprightTestSupport"],
      swiftSettings: tests),
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
      name: "UprightCLITests",
      dependencies: ["UprightCLI", "UprightTestSupport"], swiftSettings: tests),
    .testTarget(
      name: "ArchitectureTests", dependencies: ["UprightTestSupport"], swiftSettings: tests),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
