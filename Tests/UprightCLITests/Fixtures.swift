import Foundation
import Testing
import UprightTestSupport

@testable import UprightCLI

typealias Upright = CommandLineProgram

/// The sample files of the package.
enum Clip {
  static let lying = sample("display-matrix.mp4")
  static let withAudio = sample("with-sound.mp4")
  static let turning = sample("turning-sensor.mp4")
  static let turns = sample("turning-sensor.jsonl")

  private static func sample(_ name: String) -> String {
    Fixtures.packageRoot.appendingPathComponent("Samples/clips/\(name)").path
  }

  static let sensorRun = [turning, "--frames", "sensor", "--events", turns, "--speed", "ultrafast"]
}

extension Scratch {
  /// Writes a file and returns its path.
  func file(_ name: String, _ text: String) throws -> String {
    try file(name, Data(text.utf8))
  }

  func file(_ name: String, _ data: Data) throws -> String {
    try data.write(to: URL(fileURLWithPath: path(name)))
    return path(name)
  }

  /// Copies a file and returns the path of the copy.
  func copy(_ source: String, as name: String) throws -> String {
    try FileManager.default.copyItem(atPath: source, toPath: path(name))
    return path(name)
  }

  /// The contents of all files, including hidden ones, by name.
  var contents: [String: Data] {
    var contents: [String: Data] = [:]
    for name in names {
      contents[name] = FileManager.default.contents(atPath: path(name)) ?? Data()
    }
    return contents
  }

  /// The temporary files that a run left.
  var leftovers: [String] { names.filter { $0.hasSuffix(".part") || $0.hasPrefix(".") } }
}

func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

func json(_ path: String) throws -> JSON {
  try JSONDecoder().decode(JSON.self, from: bytes(path))
}

/// Returns the number of frames that FFmpeg decodes. Throws if FFmpeg reports an error.
func frames(_ path: String) throws -> Int {
  let answer = try FFmpegTool.probe(
    path, ["-count_frames", "-select_streams", "v:0", "-show_entries", "stream=nb_read_frames"])
  return answer["streams"][0]["nb_read_frames"].string.flatMap(Int.init) ?? 0
}

/// Checks that a run is refused: it has the exit code, one line on standard error that contains `words`, nothing
/// on standard output, and leaves the folder unchanged.
///
/// Argument errors (64) are tested in this process, the others by running the program.
func refuse(
  _ status: Int, _ arguments: [String], _ words: String..., in scratch: Scratch,
  input: Upright.Input? = nil, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let before = scratch.contents
  let line =
    if status == 64, input == nil {
      try refusal(arguments, sourceLocation)
    } else {
      try refusal(byProgram: arguments, status, input ?? .nothing, sourceLocation)
    }
  let context = Comment(rawValue: arguments.joined(separator: " ") + ": " + line)
  #expect(line.hasPrefix("upright: error: "), context, sourceLocation: sourceLocation)
  // The error, its location and the remedy.
  #expect(line.split(separator: ": ").count >= 4, context, sourceLocation: sourceLocation)
  for word in words {
    #expect(line.contains(word), "\(word) is not in \(line)", sourceLocation: sourceLocation)
  }
  #expect(
    scratch.contents == before, "files were left or changed: \(scratch.names)",
    sourceLocation: sourceLocation)
}

/// Returns the line of an argument error, parsed and run in this process.
private func refusal(_ arguments: [String], _ sourceLocation: SourceLocation) throws -> String {
  let failure = try #require(
    UprightCommand.failure(of: arguments), "\(arguments) was not refused",
    sourceLocation: sourceLocation)
  #expect(failure.status == 64, "\(arguments): \(failure.line)", sourceLocation: sourceLocation)
  return failure.line
}

/// Returns the line of an error of the program, run as a separate process.
private func refusal(
  byProgram arguments: [String], _ status: Int, _ input: Upright.Input,
  _ sourceLocation: SourceLocation
) throws -> String {
  let run = try Upright.run(arguments, input: input)
  let context = Comment(rawValue: arguments.joined(separator: " ") + ": " + run.errors)
  #expect(run.status == status, context, sourceLocation: sourceLocation)
  #expect(run.lines.count == 1, context, sourceLocation: sourceLocation)
  #expect(run.errors.hasSuffix("\n"), context, sourceLocation: sourceLocation)
  #expect(run.output.isEmpty, context, sourceLocation: sourceLocation)
  return run.errors
}

/// Returns a folder with an existing `out.mp4`, which must stay unchanged.
func folderWithOutput() throws -> Scratch {
  let scratch = try Scratch()
  _ = try scratch.file("out.mp4", "what was there before")
  return scratch
}
