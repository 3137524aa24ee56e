// Runs several live sessions in one process, so that its memory can be measured from outside.
//
//   swift run -c release SessionBench CLIP COUNT
//
// Each reads CLIP as sensor frames, rotates it to 720x1280 and encodes with low latency, on a separate thread
// and with one thread each for decoder and encoder. The streams go to /dev/null.
import Foundation
import Upright

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("SessionBench: \(message)\n".utf8))
  exit(1)
}

func session(_ clip: String) throws -> TranscodeSession {
  var options = TranscodeOptions()
  options.frames = .sensor(.init())
  options.size = .pair(.init(720, 1280))
  options.isLive = true
  options.threads = 1
  options.overwrites = true
  return try TranscodeSession(
    input: clip, output: "/dev/null", outputFormat: "ts", options: options)
}

func run() {
  let arguments = CommandLine.arguments
  guard arguments.count == 3, let count = Int(arguments[2]), count > 0 else {
    fail("usage: SessionBench CLIP COUNT")
  }
  let done = DispatchGroup()
  for index in 0..<count {
    done.enter()
    let thread = Thread {
      do {
        let report = try session(arguments[1]).run()
        print("\(index): \(report.output.frames) frames")
      } catch { fail("\(error)") }
      done.leave()
    }
    thread.stackSize = 8 << 20
    thread.start()
  }
  done.wait()
}

run()
