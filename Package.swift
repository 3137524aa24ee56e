// swift-tools-version: 6.2
import PackageDescription

// Set in CI, where warnings are errors. Without it, a warning of a newer compiler doesn't break a build.
let strictness: [SwiftSetting] =
  Context.environment["UPRIGHT_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]
// Set in `make check` and `make test`: this package's modules are optimised as in a release, with all
// assertions enabled, and its dependencies aren't, which builds in half the time of a release. These are
// unsafe flags, so they are never set for packages that depend on this one.
let isUnderTest = Context.environment["UPRIGHT_UNDER_TEST"] != nil
let optimised = [
  "-O", "-assert-config", "Debug", "-whole-module-optimization", "-num-threads", "2",
]
let speed: [SwiftSetting] = isUnderTest ? [.unsafeFlags(optimised)] : []
let kernelSpeed: [CSetting] = isUnderTest ? [.unsafeFlags(["-O2"])] : []
// A sanitizer's build would take a third longer with optimisation.
let isSanitized = Context.environment["UPRIGHT_SANITIZED"] != nil
let base: [SwiftSetting] =
  strictness + (isSanitized ? [] : speed) + [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ]
// Strict memory safety, for all targets except MediaIO, where each line is a C call.
let strict: [SwiftSetting] = base + [.strictMemorySafety()]
let tests: [SwiftSetting] =
  strictness + [
    .enableUpcomingFeature("ExistentialAny")
  ]

let collections = Package.Dependency.package(
  url: "https://github.com/apple/swift-collections", from: "1.6.0")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
// The targets that a frame passes on its way through a file or a live session.
let mediaPath: [Target.Dependency] = [
  "UprightIntake", "UprightOrienting", "UprightContainers", "UprightEncoding", "UprightPipeline",
  "UprightMediaIO", "UprightFrames", "UprightKernels", "UprightPolicy", "UprightOrientation",
]
let sessions: [Target.Dependency] = mediaPath + ["UprightFiles", "UprightLive"]
// The dependencies of the fuzz targets in Fuzz/Targets.
let fuzzed =
  sessions + [
    "UprightSignals", "UprightRTP", "UprightRTMP", "UprightPlaylists", "UprightService",
  ]

// A product that only the programs need: an embedder that turns the trait off resolves none of them.
func ofService(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["Service"]))
}

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
  traits: [
    .trait(
      name: "Service",
      description: "The command line and the live service, with the server packages they need."),
    .default(enabledTraits: ["Service"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    collections,
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0", traits: []),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
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
      path: "Sources/OrientationSignals", swiftSettings: strict),
    .target(
      name: "UprightRTP", dependencies: ["UprightOrientation"], path: "Sources/RTP",
      swiftSettings: strict),
    .target(name: "UprightRTMP", path: "Sources/RTMP", swiftSettings: strict),
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
    .systemLibrary(
      name: "CUprightZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "CUprightQREncode", pkgConfig: "libqrencode",
      providers: [.apt(["libqrencode-dev"])]),
    // The files of the console, embedded as they are.
    .target(name: "CUprightConsole", exclude: ["Pages"]),
    .target(
      name: "UprightMediaIO",
      dependencies: [
        "CUprightFFmpeg", "CUprightFFmpegShims", "UprightKernels", "UprightOrientation",
      ],
      path: "Sources/MediaIO", swiftSettings: base),
    .target(
      name: "UprightPipeline",
      dependencies: [
        "UprightMediaIO", "UprightFrames", "UprightPolicy", "UprightKernels", "UprightOrientation",
        deque,
      ],
      path: "Sources/Pipeline",
      swiftSettings: strict),
    .target(
      name: "UprightIntake",
      dependencies: [
        "UprightPipeline", "UprightMediaIO", "UprightRTP", "UprightSignals", "UprightPolicy",
        "UprightOrientation", deque,
      ], path: "Sources/Intake", swiftSettings: strict),
    .target(
      name: "UprightOrienting",
      dependencies: [
        "UprightPipeline", "UprightMediaIO", "UprightFrames", "UprightPolicy", "UprightKernels",
        "UprightOrientation",
      ], path: "Sources/Orienting", swiftSettings: strict),
    .target(
      name: "UprightContainers",
      dependencies: [
        "UprightPipeline", "UprightMediaIO", "UprightSignals", "UprightPolicy",
        "UprightOrientation",
        deque,
      ], path: "Sources/Containers", swiftSettings: strict),
    .target(
      name: "UprightEncoding",
      dependencies: [
        "UprightOrienting", "UprightPipeline", "UprightMediaIO", "UprightFrames", "UprightKernels",
        "UprightPolicy", "UprightOrientation", deque,
      ], path: "Sources/Encoding", swiftSettings: strict),
    .target(
      name: "UprightFiles", dependencies: mediaPath + ["UprightSignals", deque],
      path: "Sources/Files", swiftSettings: strict),
    .target(
      name: "UprightLive", dependencies: mediaPath + ["UprightRTP", deque], path: "Sources/Live",
      swiftSettings: strict),
    .target(name: "Upright", dependencies: sessions + ["CUprightMalloc"], swiftSettings: strict),
    .target(
      name: "UprightService",
      dependencies: sessions + [
        "UprightRTMP", "CUprightZlib", "CUprightQREncode", "CUprightConsole",
        ofService("Hummingbird", "hummingbird"),
        ofService("HummingbirdCore", "hummingbird"),
        ofService("ServiceLifecycle", "swift-service-lifecycle"),
        ofService("UnixSignals", "swift-service-lifecycle"),
        ofService("Configuration", "swift-configuration"),
        ofService("NIOCore", "swift-nio"),
        ofService("NIOPosix", "swift-nio"),
        ofService("NIOHTTP1", "swift-nio"),
        ofService("NIOSSL", "swift-nio-ssl"),
        ofService("AsyncHTTPClient", "async-http-client"),
        ofService("Crypto", "swift-crypto"),
        ofService("HTTPTypes", "swift-http-types"),
        ofService("Logging", "swift-log"),
      ], swiftSettings: strict),
    .executableTarget(
      name: "UprightCLI",
      dependencies: sessions + [
        "Upright", "UprightService", "UprightPlaylists",
        ofService("ArgumentParser", "swift-argument-parser"),
        ofService("Logging", "swift-log"),
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
      dependencies: sessions + ["CUprightHeader", "CUprightPolicy"],
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

    .executableTarget(
      name: "embedding-host", dependencies: ["Upright", "CUprightFFmpeg"],
      path: "Tests/EmbeddingHost"),
    .target(
      name: "UprightTestSupport", dependencies: ["UprightPlaylists", "UprightOrientation"],
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
      name: "OrientationSignalsTests",
      dependencies: ["UprightSignals", "UprightOrientation", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "RTPTests", dependencies: ["UprightRTP", "UprightOrientation", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "RTMPTests", dependencies: ["UprightRTMP", "UprightTestSupport"], swiftSettings: tests),
    .testTarget(
      name: "PlaylistsTests", dependencies: ["UprightPlaylists", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "UprightTests",
      dependencies: sessions + [
        "UprightSignals", "UprightRTP", "UprightTestSupport", "Upright", "transcode-async",
        "live-hls", "sfu-recorder", "embedding-host",
      ],
      swiftSettings: tests),
    .testTarget(
      name: "CUprightTests",
      dependencies: ["CUpright", "UprightOrientation", "UprightTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "UprightServiceTests",
      dependencies: sessions + [
        "UprightService", "UprightRTMP", "UprightTestSupport",
        ofService("Logging", "swift-log"),
        ofService("NIOCore", "swift-nio"),
        ofService("NIOPosix", "swift-nio"),
        ofService("NIOSSL", "swift-nio-ssl"),
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

// UPRIGHT_ONLY="UprightTests RTPTests" keeps only those targets and their dependencies: a build of the
// media path with a sanitizer takes half as long without SwiftNIO and Hummingbird.
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
  if !kept.contains("UprightService") { package.dependencies = [collections] }
}

// UPRIGHT_FUZZ=1 defines another package: the modules with parsers, and an executable that libFuzzer runs.
// It contains only those files of UprightService that need no other package: SwiftNIO and Hummingbird take
// longer to build than all fuzz targets to run.
if Context.environment["UPRIGHT_FUZZ"] != nil {
  package.products = []
  package.dependencies = [collections]
  package.targets.removeAll {
    $0.type == .test || ["UprightService", "UprightCLI", "UprightTestSupport"].contains($0.name)
  }
  // This saves a minute of the optimizer. These targets spend most of their time in libav*.
  for target in package.targets
  where target.name.hasPrefix("Upright") && !["UprightRTP", "UprightRTMP"].contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Onone"])]
  }
  package.targets += [
    .target(
      name: "UprightService",
      dependencies: sessions,
      sources: [
        "Addresses/AddressRules.swift", "Addresses/IPAddress.swift", "Addresses/StreamURL.swift",
        "Configuration/JSONValue+Reading.swift", "Configuration/Playback.swift",
        "Configuration/RecordingRetention.swift",
        "Configuration/ServiceConfiguration.swift", "Downloads/ByteRange.swift",
        "Proxy/ProxyRequest.swift",
      ], swiftSettings: strict),
    .executableTarget(
      name: "Fuzzer", dependencies: fuzzed, path: "Fuzz", exclude: ["Corpus", "Tests"],
      swiftSettings: tests),
  ]
}
