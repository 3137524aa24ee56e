import Foundation
import Testing
import UprightTestSupport

/// What the two packages promise to those who depend on them. Costs five seconds.
@Suite("The packages") struct PackageTests {
  /// The modules that the service may import besides the engine's products and its own.
  private static let others: Set<String> = [
    "Foundation", "Dispatch", "Synchronization", "Glibc", "Hummingbird", "HummingbirdCore",
    "ServiceLifecycle", "UnixSignals", "Configuration", "NIOCore", "NIOPosix", "NIOHTTP1", "NIOSSL",
    "AsyncHTTPClient", "HTTPTypes", "Logging", "ArgumentParser",
  ]

  private static func targets(_ package: JSON) -> Set<String> {
    Set(
      package["targets"].array.filter { $0["type"].string != "test" }.compactMap {
        $0["name"].string
      })
  }

  /// Returns the modules that a file of the service imports and may not.
  private static func strangers(in text: String) throws -> [String] {
    let products = try Manifest.engine.get()["products"].array
      .filter { $0["type"]["library"] != .null }.compactMap { $0["name"].string }
    let allowed = try others.union(products).union(targets(Manifest.service.get()))
    return Imports.modules(in: text).filter { !allowed.contains($0) }
  }

  @Test("The service uses the engine by its public products only")
  func service() throws {
    let files = Imports.files(under: "Service/Sources")
    #expect(files.count > 100)
    for file in files {
      let strangers = try Self.strangers(in: String(contentsOf: file, encoding: .utf8))
      #expect(strangers.isEmpty, "\(file.lastPathComponent) imports \(strangers)")
    }
  }

  @Test(
    "An import of a module that is no product is found",
    arguments: [
      "internal import UprightLive", "import UprightMediaIO", "@testable import UprightFiles",
      "@_spi(Internals) public import UprightMedia",
      "import struct UprightMedia.MediaPlaylist",
      "private import CUprightFFmpeg",
    ])
  func planted(line: String) throws {
    #expect(try Self.strangers(in: "import Foundation\n\(line)\nimport Upright\n").count == 1)
  }

  @Test("The engine has two dependencies, no traits, and no variable reshapes its manifest")
  func engine() throws {
    let package = try Manifest.engine.get()
    let dependencies = package["dependencies"].array.compactMap {
      $0["sourceControl"][0]["identity"].string
    }
    #expect(dependencies.sorted() == ["swift-argument-parser", "swift-collections"])
    #expect(package["traits"].array.isEmpty)
    for manifest in ["Package.swift", "Service/Package.swift"] {
      let file = Fixtures.packageRoot.appendingPathComponent(manifest)
      #expect(try !String(contentsOf: file, encoding: .utf8).contains("environment"), "\(manifest)")
    }
  }

  @Test("Every module that others can see has the project's prefix")
  func names() throws {
    for package in [try Manifest.engine.get(), try Manifest.service.get()] {
      for target in package["targets"].array where target["type"].string != "test" {
        let name = target["name"].string ?? ""
        let isSample = target["path"].string?.hasPrefix("Samples/") == true
        #expect(isSample || name.hasPrefix("Upright") || name.hasPrefix("CUpright"), "\(name)")
      }
    }
  }

  /// An app with modules whose names are likely to be taken.
  @Test("An app may have modules named CFFmpeg, Orientation, RTP and the like")
  func clashes() throws {
    let scratch = try Scratch()
    let names = [
      "CFFmpeg", "CZlib", "CMalloc", "Orientation", "RTP", "Signals", "Media", "Playlists",
      "Pipeline",
      "PixelKernels", "RotationPolicy", "TestSupport", "Fuzzer",
    ]
    for name in names + ["app"] {
      let folder = URL(fileURLWithPath: scratch.path("Sources/\(name)"))
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data().write(to: folder.appendingPathComponent("\(name).swift"))
    }
    let targets = names.map { ".target(name: \"\($0)\")," }.joined(separator: "\n    ")
    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
    let products = [
      "Upright", "UprightFrames", "UprightPolicy", "UprightKernels", "UprightOrientation",
    ]
    .map { ".product(name: \"\($0)\", package: \"upright\")" }.joined(separator: ", ")
    try Data(
      """
      // swift-tools-version: 6.2
      import PackageDescription
      let package = Package(
        name: "app", dependencies: [.package(name: "upright", path: "\(Fixtures.packageRoot.path)")],
        targets: [
          \(targets)
          .target(name: "app", dependencies: [\(list), \(products)]),
        ])
      """.utf8
    ).write(to: URL(fileURLWithPath: scratch.path("Package.swift")))
    // Loads the whole graph, which fails if a name occurs twice.
    let outcome = try ExternalTool("swift").run([
      "package", "--package-path", scratch.folder.path, "show-dependencies", "--format", "json",
    ])
    let graph = try JSONDecoder().decode(JSON.self, from: outcome.output)
    let upright = graph["dependencies"].array.first
    #expect(upright?["name"].string == "upright")
    #expect((upright?["dependencies"].array.count ?? 9) <= 2, "\(outcome.text)")
  }
}
