import Foundation
import Testing
import UprightTestSupport

/// A call that Chromium's WebRTC sends and Janus records.
@Suite(
  "A call recorded by Janus", .slow("Janus records a browser's call"),
  .enabled(
    if: FFmpegTool.isHere && ExternalTool("janus").isHere && ExternalTool("chromium").isHere
      && ExternalTool("python3").isHere, "needs janus, chromium, python3 and ffmpeg"),
  .serialized)
struct JanusCallTests {
  @Test(
    "Every frame is upright, with all rotations of the sender",
    arguments: [["vp8"], ["vp9"], ["h264"], ["vp9", "--layers", "L2T2", "--size", "640x480"]])
  func call(_ arguments: [String]) throws {
    let codec = arguments[0]
    let scratch = try Scratch()
    let script = Fixtures.packageRoot.appendingPathComponent("Tests/Players/janus_record.py")
    let outcome = try ExternalTool("python3").outcome(
      [script.path, scratch.path("call"), "--seconds", "6", "--codec"] + arguments, timeout: 120)
    let call = try JSONDecoder().decode(JSON.self, from: outcome.output)
    // The script exits with 77 if the machine has no network interface other than loopback.
    if outcome.status == 77 { return print("skipped: \(call["error"].string ?? "")") }
    try #require(outcome.status == 0, "\(outcome.text) \(outcome.errors)")
    let pictures = try #require(call["video"].string)
    let audio = try #require(call["audio"].string)

    let probe = try Upright.run(["probe", pictures, "--json"])
    #expect(probe.json["streams"][0]["codec"].string == codec, "\(probe.errors)")
    let signals = probe.json["signals"].array
    #expect(signals.allSatisfy { $0["source"].string == "cvo" })
    #expect(signals.map { $0["degrees"].int } == [0, 90, 180, 270])

    let raw = scratch.path("out.y4m")
    let run = try Upright.run(["transcode", pictures, "-o", raw])
    #expect(run.status == 0, "\(run.errors)")
    // Only one layer of each frame is decoded.
    #expect(!run.errors.contains("did not increase"), "\(run.errors)")
    let picture = try Y4M(path: raw)
    #expect(picture.count > 10)
    for frame in 0..<picture.count {
      // Red above green, in every frame.
      let (x, y) = (picture.width / 2, picture.height / 4)
      let (above, below) = (
        picture.pixel(frame: frame, x: x, y: y), picture.pixel(frame: frame, x: x, y: y * 3)
      )
      #expect(above[2] > 170 && below[2] < 110, "frame \(frame): \(above) over \(below)")
    }

    let output = scratch.path("out.mp4")
    let both = try Upright.run([
      "transcode", pictures, "--audio", audio, "-o", output, "--speed", "ultrafast",
    ])
    #expect(both.status == 0, "\(both.errors)")
    #expect(try frames(output) == picture.count)
    #expect(try FFmpegTool.streams(output, "audio").first?["codec_name"].string == "opus")
  }
}
