import Foundation
import UprightOrientation
import Testing
import UprightMediaIO
import UprightTestSupport

@testable import UprightLive

/// Recordings of a live session. Each test costs about the duration of its clip, up to five seconds, most of it
/// idle.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .realTime, .serialized, .tags(.waits))
struct LiveRecordingTests {
  @Test("A file ends at the first keyframe after its size is reached")
  func size() throws {
    let scratch = try Scratch()
    let limit = 1 << 20
    let output = LiveOutput.recording(
      path: scratch.path("take.ts"), limits: RecordingLimits(bytes: limit))
    let stage = try LiveTestSession([output]) {
      $0.options.size = .source
      $0.segmentSeconds = 0.5
    }
    // Noise of about 500 KB a second.
    let clip = try FLVClip(
      "color=gray:s=320x180:r=30,noise=alls=100:allf=t", seconds: 5, options: "-crf 30")
    try stage.publish(clip.tags)
    #expect(until { stage.session.snapshot.counters.framesIn >= clip.frames })
    stage.end()
    let frames = stage.session.snapshot.counters.framesOut
    let told = stage.updates.compactMap {
      if case .recording(let recording) = $0 { recording } else { nil }
    }
    let finished = told.filter { $0.state == .finished }
    #expect(finished.count >= 2 && told.count == 2 * finished.count, "\(told)")
    #expect(finished.reduce(0) { $0 + $1.frames } == frames)
    var end = 0.0
    for (index, recording) in finished.enumerated() {
      #expect(abs(recording.start - end) < 0.002 && recording.dropped == 0)
      end = recording.start + recording.duration
      let name = index == 0 ? "take.ts" : "take-\(index + 1).ts"
      #expect(recording.path == scratch.path(name))
      let packets = try FFmpegTool.packets(recording.path, "v:0")
      #expect(packets.count == recording.frames && packets.first?.isKey == true)
      let bytes =
        try packets.reduce(0) { $0 + $1.size }
        + FFmpegTool.packets(recording.path, "a:0").reduce(0) { $0 + $1.size }
      if index < finished.count - 1 { #expect(bytes > limit * 9 / 10 && bytes < limit * 2) }
    }
    #expect(stage.session.snapshot.outputs[0].recording == finished.last)
  }

  @Test("Names that are in use are passed over, also by a link that leads nowhere")
  func names() throws {
    let scratch = try Scratch()
    let folder = scratch.path("recordings")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/take.mp4"))
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/take-2.mp4", withDestinationPath: scratch.path("elsewhere"))
    let output = LiveOutput.recording(path: folder + "/take.mp4", limits: RecordingLimits())
    let stage = try LiveTestSession([output])
    try stage.publish(FLVClip(DecodedFrames.source, seconds: 0.5).tags)
    #expect(until { stage.session.snapshot.outputs[0].frames > 10 })
    stage.end()
    #expect(stage.session.snapshot.outputs[0].recording?.path == folder + "/take-3.mp4")
    #expect(try DecodedFrames(folder + "/take-3.mp4", Scratch()).times.count > 10)
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/take.mp4")) == Data("mine".utf8))
    #expect(scratch.names == ["recordings"])
  }

  @Test(
    "Limits that make no sense are refused",
    arguments: [
      RecordingLimits(seconds: 0), RecordingLimits(seconds: -1), RecordingLimits(seconds: .nan),
      RecordingLimits(seconds: 1e300), RecordingLimits(seconds: 1e-9), RecordingLimits(bytes: 0),
      RecordingLimits(bytes: -1), RecordingLimits(bytes: .max),
    ])
  func limits(_ limits: RecordingLimits) throws {
    let scratch = try Scratch()
    let output = LiveOutput.recording(path: scratch.path("take.mp4"), limits: limits)
    let error = #expect(throws: UprightError.self) {
      try LiveSession(LiveConfiguration(input: .published(PublishedFeed()), outputs: [output]))
    }
    #expect(error?.code == .usage)
    #expect(scratch.names.isEmpty)
  }

  @Test("A file that can't be created ends its output, and the session goes on")
  func failure() throws {
    let scratch = try Scratch()
    let outputs: [LiveOutput] = [
      .recording(path: "/proc/take.mp4", limits: RecordingLimits()),
      .hls(folder: scratch.path("hls")),
    ]
    let stage = try LiveTestSession(outputs)
    try stage.publish(FLVClip(DecodedFrames.source, seconds: 0.5).tags)
    #expect(until { stage.session.snapshot.outputs[1].frames > 10 })
    stage.end()
    let statuses = stage.session.snapshot.outputs
    #expect(statuses[0].state == .failed && statuses[0].recording == nil)
    #expect(statuses[1].state == .stopped && stage.session.snapshot.state == .ended)
  }
}
