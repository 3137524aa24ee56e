// A backend makes upright HLS of an upload, in a folder that exists.
//
//     make-hls INPUT FOLDER
import Upright

let (input, output) = (CommandLine.arguments[1], CommandLine.arguments[2] + "/index.m3u8")
do {
  for change in try TranscodeSession(input: input, output: output).run().formats {
    print("frame \(change.firstFrame ?? 0): \(change.format.encodeResolution)")
  }
} catch {
  print("\(error.message). \(error.remedy)")
}
