// swift-tools-version: 6.2
import PackageDescription

// Tests run this package's modules optimised as in a release, with all assertions enabled: unoptimised, the kernels
// would be 300 times slower.
let optimised = [
  "-O", "-assert-config", "Debug", "-whole-module-optimization", "-num-threads", "2",
]
let speed: [SwiftSetting] = [.unsafeFlags(optimised, .when(configuration: .debug))]
let kernelSpeed: [CSetting] = [.unsafeFlags(["-O2"], .when(configuration: .debug))]
let base: [SwiftSetting] =
  speed + [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
// Strict memory safety, for all targets except MediaIO, where each line is a C call.
let strict: [SwiftSetting] = base + [.strictMemorySafety()]
let tests: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
// The targets that a frame passes on its way through a file or a live session.
let mediaPath: [Target.Dependency] = [
  "UprightMedia", "UprightMediaIO", "UprightSignals", "UprightFrames", "UprightKernels",
  "UprightPolicy", "UprightOrientation",
]
let sessions: [Target.Dependency] = mediaPath + ["UprightFiles", "UprightLive"]

let package = Package(
  name: "upright",
  products: [
    .library(name: "UprightOrientation", targets: ["UprightOrientation"]),
    .library(name: "UprightPolicy", targets: ["UprightPolicy"]),
    .library(name: "UprightKernels", targets: ["UprightKernels"]),
    .library(name: "UprightFrames", targets: ["UprightFrames"]),
    .library(name: "Upright", targets: ["Upright"]),
    .executable(name: "upright", targets: ["UprightCLI"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
  ],
  targets: [
    .target(name: "UprightOrientation", path: "Sources/Orientation", swiftSettings: strict),
    .target(
      name: "UprightPolicy", dependencies: ["UprightOrientation"], path: "Sources/RotationPolicy",
      swiftSettings: strict),
    .target(name: "CUprightKernels", cSettings: kernelSpeed),
    .target(
      name: "UprightKernels", dependencies: ["CUprightKernels", "UprightOrientation"],
      path: "Sources/PixelKernels", swiftSettings: strict),
    .target(
      name: "UprightFrames",
      dependencies: ["UprightPolicy", "UprightKernels", "UprightOrientation"],
      swiftSettings: strict),
    .target(
      name: "UprightSignals", dependencies: ["UprightOrientation"],
      path: "Sources/Signals", swiftSettings: strict),
    .target(name: "UprightPlaylists", path: "Sources/Playlists", swiftSettings: strict),
    .systemLibrary(
      name: "CUprightFFmpeg", pkgConfig: "libavformat",
      providers: [
        .apt([
          "libavformat-dev", "libavcodec-dev", "libavfilter-dev", "libswscale-dev",
          "libswresample-dev", "libavutil-dev",
        ])
      ]),
    .target(
      name: "CUprightFFmpegShims", dependencies: ["CUprightFFmpeg"]),
    .systemLibrary(name: "CUprightMalloc"),
    .target(
      name: "UprightMediaIO",
      dependencies: [
        "CUprightFFmpeg", "CUprightFFmpegShims", "UprightKernels", "UprightSignals",
        "UprightOrientation",
      ],
      path: "Sources/MediaIO", swiftSettings: base),
    .target(
      name: "UprightMedia",
      dependencies: [
        "UprightMediaIO", "UprightFrames", "UprightSignals", "UprightPolicy", "UprightKernels",
        "UprightOrientation", deque,
      ], path: "Sources/Media", swiftSettings: strict),
    .target(
      name: "UprightFiles", dependencies: mediaPath + [deque],
      path: "Sources/Files", swiftSettings: strict),
    .target(
      name: "UprightLive", dependencies: mediaPath + [deque], path: "Sources/Live",
      swiftSettings: strict),
    .target(name: "Upright", dependencies: sessions + ["CUprightMalloc"], swiftSettings: strict),
    .executableTarget(
      name: "UprightCLI",
      dependencies: sessions + [
        "Upright", "UprightPlaylists",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], swiftSettings: strict),

    // The C libraries: Scripts/libraries.sh links them. The header is a target of its own, and the part without
    // FFmpeg is another.
    .target(name: "CUprightHeader", path: "Sources/CUpright/Header"),
    .target(
      name: "CUprightPolicy",
      dependencies: [
        "CUprightHeader", "UprightFrames", "UprightKernels", "UprightPolicy", "UprightOrientation",
      ], path: "Sources/CUpright/Policy", swiftSettings: strict),
    .target(
      name: "CUpright",
      dependencies: sessions + ["CUprightHeader", "CUprightPolicy", "UprightPlaylists"],
      path: "Sources/CUpright/Media", swiftSettings: strict),

    .executableTarget(
      name: "policy-only", dependencies: ["UprightPolicy", "UprightOrientation"],
      path: "Samples/policy-only"),
    .executableTarget(
      name: "frames-in-out", dependencies: ["UprightFrames"], path: "Samples/frames-in-out"),
    .executableTarget(
      name: "transcode-async", dependencies: ["Upright"], path: "Samples/transcode-async"),
    .executableTarget(
      name: "sfu-recorder", dependencies: ["Upright"], path: "Samples/sfu-recorder"),
    .executableTarget(name: "live-hls", dependencies: ["Upright"], path: "Samples/live-hls"),
    .executableTarget(name: "frames-out", dependencies: ["Upright"], path: "Samples/frames-out"),
    .executableTarget(name: "make-hls", dependencies: ["Upright"], path: "Samples/make-hls"),

    .executableTarget(
      name: "UprightEmbeddingHost", dependencies: ["Upright", "CUprightFFmpeg"],
      path: "Tests/EmbeddingHost"),
    .target(
      name: "UprightTestSupport", dependencies: ["UprightOrientation"],
      path: "Tests/UprightTestSupport",
      swiftSettings: tests + speed),
    .testTarget(
      name: "OrientationTests", dependencies: ["UprightOrientation", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "RotationPolicyTests",
      dependencies: ["UprightPolicy", "UprightOrientation", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "PixelKernelsTests",
      dependencies: [
        "UprightKernels", "CUprightKernels", "UprightOrientation", "UprightTestSupport",
      ],
      swiftSettings: tests + speed),
    .testTarget(
      name: "UprightFramesTests",
      dependencies: [
        "UprightFrames", "UprightKernels", "UprightTestSupport", "policy-only", "frames-in-out",
      ], swiftSettings: tests),
    .testTarget(
      name: "SignalsTests",
      dependencies: ["UprightSignals", "UprightOrientation", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "PlaylistsTests", dependencies: ["UprightPlaylists"],
      swiftSettings: tests),
    .testTarget(
      name: "UprightTests",
      dependencies: sessions + [
        "UprightTestSupport", "Upright", "transcode-async", "live-hls", "sfu-recorder",
        "frames-out", "make-hls", "UprightEmbeddingHost",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "CUprightTests",
      dependencies: ["CUpright", "UprightOrientation", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "UprightCLITests",
      dependencies: ["UprightCLI", "UprightTestSupport"], swiftSettings: tests),
    .testTarget(
      name: "ArchitectureTests", dependencies: ["UprightTestSupport"], swiftSettings: tests),
    // What libFuzzer runs, and the replay of its corpus: see Scripts/fuzz.sh.
    .executableTarget(
      name: "UprightFuzzer",
      dependencies: sessions + ["UprightPlaylists"],
      path: "Fuzz/Targets", swiftSettings: tests),
    .testTarget(
      name: "FuzzTests", dependencies: ["UprightFuzzer"], path: "Fuzz/Tests", swiftSettings: tests),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
