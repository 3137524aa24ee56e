import Foundation
import Testing
import UprightTestSupport

/// Checks the rules of ARCHITECTURE.md: the allowed dependencies and imports of each target.
@Suite struct RoomTests {
  /// The allowed dependencies and imports of each target, in addition to the standard library.
  private static let rooms: [String: (targets: Set<String>, modules: Set<String>)] = [
    "UprightOrientation": ([], ["Glibc", "Musl", "Darwin"]),
    "UprightPolicy": (["UprightOrientation"], []),
    "CUprightKernels": ([], []),
    "UprightKernels": (["CUprightKernels", "UprightOrientation"], []),
    "UprightFrames": (
      ["UprightPolicy", "UprightKernels", "UprightOrientation"], ["Synchronization"]
    ),
    "UprightSignals": (["UprightOrientation"], []),
    "UprightPlaylists": ([], []),
    "CUprightFFmpeg": ([], []),
    "CUprightFFmpegShims": (["CUprightFFmpeg"], []),
    "CUprightMalloc": ([], []),
    "UprightMediaIO": (
      [
        "CUprightFFmpeg", "CUprightFFmpegShims", "UprightKernels", "UprightSignals",
        "UprightOrientation",
      ],
      ["Dispatch", "Glibc", "Synchronization"]
    ),
    "UprightMedia": (
      [
        "UprightMediaIO", "UprightFrames", "UprightSignals", "UprightPolicy", "UprightKernels",
        "UprightOrientation",
      ], shared
    ),
    "UprightFiles": (
      path.union(["UprightOrientation"]), shared
    ),
    "UprightLive": (
      path.union(["UprightOrientation"]), shared
    ),
    "Upright": (
      path.union(["UprightFiles", "UprightLive", "UprightOrientation", "CUprightMalloc"]), []
    ),
    "CUprightHeader": ([], []),
    "CUprightPolicy": (
      ["CUprightHeader", "UprightFrames", "UprightKernels", "UprightPolicy", "UprightOrientation"],
      ["Glibc", "Musl"]
    ),
    "CUpright": (
      path.union([
        "CUprightHeader", "CUprightPolicy", "UprightFiles", "UprightLive", "UprightOrientation",
        "UprightPlaylists",
      ]), ["Glibc", "Synchronization"]
    ),
    "UprightCLI": (
      path.union([
        "Upright", "UprightPlaylists", "UprightFiles", "UprightLive",
        "UprightOrientation",
      ]),
      ["ArgumentParser", "Glibc", "Synchronization"]
    ),
  ]

  /// What the targets of the media path may import.
  private static let shared: Set<String> = ["DequeModule", "Dispatch", "Glibc", "Synchronization"]

  /// The targets between the values and whole inputs and sessions.
  private static let path: Set<String> = [
    "UprightMedia", "UprightMediaIO", "UprightSignals", "UprightFrames", "UprightKernels",
    "UprightPolicy",
  ]

  private static let products: Set<String> = ["DequeModule", "ArgumentParser"]

  /// A target of Sources as the package manager sees it.
  private struct Target {
    let folder: String
    let dependencies: Set<String>
  }

  private static let targets = Result {
    var targets: [String: Target] = [:]
    for target in try Manifest.engine.get()["targets"].array {
      guard let name = target["name"].string, let type = target["type"].string, type != "test",
        !["Samples/", "Tests/", "Fuzz/"].contains(where: {
          target["path"].string?.hasPrefix($0) == true
        })
      else { continue }
      let names = target["dependencies"].array.compactMap { dependency in
        ["byName", "target", "product"].lazy.compactMap { dependency[$0][0].string }.first
      }
      targets[name] = Target(
        folder: target["path"].string ?? "Sources/\(name)", dependencies: Set(names))
    }
    return targets
  }

  @Test func `Arrows point down only, as ARCHITECTURE says`() throws {
    let targets = try Self.targets.get()
    #expect(
      Set(targets.keys) == Set(Self.rooms.keys), "a room is missing in the test or in the package")
    for (name, target) in targets {
      let allowed = try #require(Self.rooms[name])
      let extra = target.dependencies.subtracting(allowed.targets).subtracting(
        Self.products.intersection(allowed.modules))
      #expect(extra.isEmpty, "\(name) depends on \(extra.sorted())")
    }
  }

  @Test(arguments: Self.rooms.keys.sorted())
  func `A room imports its own arrows and nothing else`(room: String) throws {
    let allowed = try #require(Self.rooms[room])
    for file in try Self.swiftFiles(of: room) {
      for module in Imports.modules(in: try String(contentsOf: file, encoding: .utf8)) {
        #expect(
          allowed.targets.contains(module) || allowed.modules.contains(module),
          "\(file.lastPathComponent) of \(room) imports \(module)")
      }
    }
  }

  @Test func `No C type leaves MediaIO: FFmpeg is imported internally`() throws {
    for file in try Self.swiftFiles(of: "UprightMediaIO") {
      let text = try String(contentsOf: file, encoding: .utf8)
      #expect(
        !text.contains("public import CUprightFFmpeg")
          && !text.contains("package import CUprightFFmpeg"),
        "\(file.lastPathComponent)")
    }
  }

  @Test func `Nothing in the sources ends the process where input could reach it`() throws {
    let traps = ["fatalError(", "try!", " as! ", "preconditionFailure("]
    for room in Self.rooms.keys.sorted() {
      for file in try Self.swiftFiles(of: room) {
        let text = try String(contentsOf: file, encoding: .utf8)
        for trap in traps {
          #expect(!text.contains(trap), "\(file.lastPathComponent) of \(room) has \(trap)")
        }
      }
    }
  }

  private static func swiftFiles(of room: String) throws -> [URL] {
    Imports.files(under: try #require(try targets.get()[room]).folder)
  }
}
