// Upright frames out of a file: every signal applies from its own frame on.
//
//     frames-out INPUT
import Upright

for try await frame in try UprightReader(CommandLine.arguments[1]) where frame.changed {
  let luma = frame.withPlanes { planes in "\(planes[0].width)x\(planes[0].height)" }
  print("\(frame.time.seconds) s: \(luma) of \(frame.pixels), turned \(frame.turn.name)")
}
