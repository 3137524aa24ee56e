// A live stream to HLS, whose format follows the phone: events are posted while it runs. Here a file is the
// camera, read at the speed of its timestamps; `.pull(url:)` and `.rtp(description:)` are others.
//
//     live-hls INPUT FOLDER
import Foundation
import Upright

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 2, let input = arguments.first, let folder = arguments.last else {
  print("usage: live-hls INPUT FOLDER")
  exit(64)
}

var options = TranscodeOptions()
options.frames = .sensor(Camera())
let session = try LiveSession(
  LiveConfiguration(
    input: .file(path: input), outputs: [.hls(folder: folder)],
    policy: .builtIn("phone") ?? PolicyDocument(), options: options))

let (updates, sink) = AsyncStream.makeStream(of: LiveUpdate.self)
let running = Task {
  defer { sink.finish() }
  try await session.run { sink.yield($0) }
}
var isTurned = false
for await update in updates {
  switch update {
  case .state(let state, _): print(state)
  case .format(let change):
    print("encode \(change.format.encodeResolution)")
    if isTurned { continue }
    // The phone is turned now: the next frame shows it.
    isTurned = true
    _ = try await session.post([.now(.device(.landscapeLeft))])
  case .decision(let decision): print("\(decision.outcome): the app is in \(decision.to.name)")
  case .output, .outputRemoved, .change, .recording: break
  }
}
try await running.value
