// swift-tools-version: 6.2
import PackageDescription

// The service embeds the engine as any other program would, by its products. The engine's modules are optimised for tests;
// these aren't, because they compute little and are compiled in half the time.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
]
let tests: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

let engine: [Target.Dependency] = [
  .product(name: "Upright", package: "upright"),
  .product(name: "UprightPolicy", package: "upright"),
  .product(name: "UprightOrientation", package: "upright"),
]

let package = Package(
  name: "upright-service",
  products: [.executable(name: "upright-serve", targets: ["UprightServe"])],
  dependencies: [
    .package(name: "upright", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0", traits: []),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    // Tests alone use it.
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    .target(name: "UprightRTMP", path: "Sources/RTMP", swiftSettings: strict),
    .systemLibrary(
      name: "CUprightZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "CUprightQREncode", pkgConfig: "libqrencode",
      providers: [.apt(["libqrencode-dev"])]),
    // The library that libavformat uses, too.
    .systemLibrary(
      name: "CUprightSRT", pkgConfig: "srt",
      providers: [.apt(["libsrt-gnutls-dev"])]),
    // The system calls of the processes of sessions.
    .target(name: "CUprightWorker"),
    // The files of the console, embedded as they are.
    .target(name: "CUprightConsole", path: "Sources/Console", exclude: ["Pages", "Sample"]),
    .target(
      name: "UprightService",
      dependencies: engine + [
        "UprightRTMP", "CUprightZlib", "CUprightQREncode", "CUprightSRT", "CUprightConsole",
        "CUprightWorker",
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),
    .executableTarget(
      name: "UprightServe",
      dependencies: engine + [
        "UprightService",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),

    .target(
      name: "UprightServiceTestSupport",
      dependencies: [.product(name: "UprightOrientation", package: "upright")],
      path: "Tests/UprightTestSupport", swiftSettings: tests),
    .testTarget(
      name: "RTMPTests", dependencies: ["UprightRTMP", "UprightServiceTestSupport"],
      swiftSettings: tests),
    .testTarget(
      name: "UprightServiceTests",
      dependencies: engine + [
        "UprightService", "UprightServe", "UprightRTMP", "CUprightSRT", "UprightServiceTestSupport",
        // `upright serve` becomes upright-serve.
        .product(name: "upright", package: "upright"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Yams", package: "Yams"),
      ], swiftSettings: tests),
    // What libFuzzer runs, and the replay of its corpus: see Scripts/fuzz.sh.
    .executableTarget(
      name: "UprightServiceFuzzer", dependencies: engine + ["UprightService", "UprightRTMP"],
      path: "Fuzz/Targets", swiftSettings: tests),
    .testTarget(
      name: "ServiceFuzzTests", dependencies: ["UprightServiceFuzzer"], path: "Fuzz/Tests",
      swiftSettings: tests),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)
