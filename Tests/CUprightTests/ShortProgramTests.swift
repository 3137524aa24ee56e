import Foundation
import Testing
import UprightOrientation
import UprightTestSupport

/// The programs of Samples/short in C, C++ and Go. `Tests/Python/test_samples.py` runs those in Python.
@Suite("Short programs", .tags(.lengthy))
struct ShortProgramTests {
  private static let clip =
    Fixtures.packageRoot.appendingPathComponent("Samples/clips/display-matrix.mp4").path

  /// Compiles a program of Samples/short and runs it with standard input from a file.
  private static func run(
    _ name: String, _ library: Compiled.Library, _ arguments: [String] = [],
    input: String = "/dev/null", in scratch: Scratch
  ) throws -> Data {
    let program = try Compiled.program("Samples/short/\(name)", library, in: scratch)
    let output = scratch.path("\(name).out")
    let words = [program] + arguments
    let outcome = try ExternalTool("sh").run(
      [
        "-c", #"input=$1 output=$2; shift 2; "$@" <"$input" >"$output""#, "sh", input, output,
      ] + words)
    #expect(outcome.errors.isEmpty)
    return try Data(contentsOf: URL(fileURLWithPath: output))
  }

  @Test("sfu.c: RTP with CVO in, one upright stream out")
  func recorder() throws {
    let scratch = try Scratch()
    let packets = scratch.path("packets")
    try ProgramTests.writeRTP(to: packets)
    let stream = try Self.run("sfu.c", .all, input: packets, in: scratch)
    try stream.write(to: URL(fileURLWithPath: scratch.path("out.h264")))
    let decoded = try DecodedFrames(scratch.path("out.h264"), scratch)
    #expect(
      decoded.sizes == Array(repeating: PixelSize(360, 640), count: 45)
        + Array(repeating: PixelSize(640, 360), count: 15))
  }

  @Test("decide.c: events in, decisions out")
  func decisions() throws {
    let scratch = try Scratch()
    let events = Fixtures.packageRoot.appendingPathComponent("Samples/clips/turning-sensor.jsonl")
    let text = String(
      decoding: try Self.run("decide.c", .policy, input: events.path, in: scratch), as: UTF8.self)
    #expect(text.contains(#""decision": "rotate""#))
  }

  @Test("thumbnail.cpp: the upright frame at a time")
  func thumbnail() throws {
    let scratch = try Scratch()
    let image = try Self.run("thumbnail.cpp", .all, [Self.clip, "1"], in: scratch)
    #expect(image.starts(with: Data("P6 360 640 255\n".utf8)) && image.count == 15 + 360 * 640 * 3)
  }

  /// Costs 20 s the first time, for Go's standard library.
  @Test("service.go: a file's signals over HTTP", .server, .long, .go)
  func service() throws {
    let scratch = try Scratch()
    let program = scratch.path("service")
    let source = Fixtures.packageRoot.appendingPathComponent("Samples/short/service.go").path
    try ExternalTool("env").run(
      [
        "PKG_CONFIG_PATH=\(Compiled.library)", "GOCACHE=\(scratch.path("cache"))",
        "GOFLAGS=-mod=mod",
        "go", "build", "-o", program, source,
      ], timeout: 400)
    let url = "127.0.0.1:\(try Loopback.freeTCPPort())"
    let script =
      #"LD_LIBRARY_PATH=$1 "$2" "$3" & trap "kill $!" EXIT; "#
      + #"curl -s --retry 20 --retry-connrefused --retry-delay 1 "$3/?input=$4"; curl -s "$3/?input=none.mp4""#
    let outcome = try ExternalTool("sh").run([
      "-c", script, "sh", Compiled.library, program, url, Self.clip,
    ])
    #expect(outcome.text.contains(#""signals""#) && outcome.text.hasSuffix("\n"))
    #expect(outcome.errors.isEmpty)
  }
}

extension Trait where Self == ConditionTrait {
  /// Requires Go.
  fileprivate static var go: Self { .enabled(if: ExternalTool("go").isHere, "needs Go") }
}
