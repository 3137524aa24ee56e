// A file, transcoded asynchronously: decisions and progress arrive while it runs, and cancelling the task ends
// it without an output.
//
//     transcode-async INPUT EVENTS OUTPUT
import Foundation
import Upright

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 3, let input = arguments.first, let output = arguments.last else {
  print("usage: transcode-async INPUT EVENTS OUTPUT")
  exit(64)
}

var options = TranscodeOptions()
options.frames = .sensor(Camera())
options.canvas = .follow
options.overwrites = true
let lines = try Data(contentsOf: URL(fileURLWithPath: arguments[2]))
let session = try TranscodeSession(
  input: input, output: output, options: options, policy: .builtIn("phone") ?? PolicyDocument(),
  events: .list(RotationEvent.parse(jsonLines: lines)))

let transcoding = Task {
  try await session.run { update in
    // On a thread of the session. A server would send these on.
    if case .decision(let decision) = update {
      print("\(decision.at) s: \(decision.outcome), the app is in \(decision.to.name)")
    }
  }
}
// `transcoding.cancel()` would end it now. `session.stop()` would close the file early.
do {
  let report = try await transcoding.value
  for warning in report.warnings { print("warning: \(warning)") }
  for change in report.formats {
    let size = change.format.encodeResolution
    print("frame \(change.firstFrame ?? 0): \(size), turned \(change.turn?.name ?? "up")")
  }
  let written = report.output
  print("\(written.frames) frames, \(written.copiedFrames) of them copied, \(written.duration) s")
} catch let error as UprightError {
  // `error.code` is what a program decides by, `error.remedy` what a person can do.
  print("\(error)")
  exit(1)
}
