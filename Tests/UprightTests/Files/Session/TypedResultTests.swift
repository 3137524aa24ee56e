import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFiles
import UprightMediaIO
import UprightMedia
import UprightTestSupport

/// The fields of reports and probes. Those of a plan are in `PartsTests`.
@Suite("Fields of reports and probes", .enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct TypedResultTests {
  // MARK: - Reports

  @Test("A transcode's report")
  func report() throws {
    let scratch = try Scratch()
    let run = try Transcoded(
      Samples.turning, to: scratch.path("out.mp4"), events: Samples.turningEvents()
    ) {
      $0.sensor()
      $0.quick()
      $0.size = .pair(PixelSize(90, 160))
    }
    let report = run.result
    #expect(report.input.path == Samples.turning && report.input.codec == "h264")
    #expect(report.input.size == PixelSize(1280, 720))
    #expect(report.input.frames == 300 && report.input.duration == 10)
    #expect(report.output.path == run.path && report.output.files == [run.path])
    // The canvas of an MP4 file is fixed, so one encoder writes all formats.
    #expect(report.output.sizes == [PixelSize(90, 160)] && report.formats.count == 3)
    #expect(report.output.frames == 300 && report.output.duration == 10)
    #expect(report.output.copiedFrames == 0 && report.output.encodedFrames == 300)
    #expect(report.output.dropped.isEmpty && report.warnings.isEmpty)
    #expect(report.formats.map(\.firstFrame) == [0, 100, 200])
    #expect(report.formats.map(\.turn) == [.right, .up, .right])
    #expect(report.decisions.map(\.outcome) == [.keep, .rotate, .rotate])
    #expect(report.decisions.map(\.to) == [.portrait, .landscapeRight, .portrait])
    #expect(report.stopped == nil && !report.isPartial)
  }

  @Test("The JSON of a report has the fields in the documented order")
  func reportJSON() throws {
    let scratch = try Scratch()
    let path = scratch.path("out.mp4")
    let report = try TranscodeSession(
      input: Samples.displayMatrix, output: path, options: Self.metadata
    ).run()
    #expect(report.output.copiedFrames == 60 && report.output.encodedFrames == 0)
    let timing = report.json["timing"]
    #expect(timing.map(Self.keys) == ["wall", "cpu", "stages"])
    #expect(timing?["stages"].map(Self.keys) == ["decode", "orient", "encode"])
    let rest = Self.members(report.json).filter { $0.key != "timing" }
    #expect(
      JSONValue.object(rest).compact
        == #"{"input":{"path":"\#(Samples.displayMatrix)","codec":"h264","width":640,"height":360,"#
        + #""frames":60,"duration":2.0},"output":{"path":"\#(path)","frames":60,"duration":2.0,"#
        + #""copied_frames":60,"encoded_frames":0,"dropped":[]},"formats":[{"from":0.0,"#
        + #""first_frame":0,"appOrientation":"portrait","captureResolution":"360x640","#
        + #""encodeResolution":"360x640","turn":"right","transform":[0.0,1.0,-1.0,0.0,360.0,0.0]}],"#
        + #""events":[{"at":0.0,"event":{"device":"portrait"},"decision":"keep","reason":null,"#
        + #""target":"portrait","from":"portrait","to":"portrait","#
        + #""allowed":["portrait","landscapeRight","landscapeLeft"]}],"warnings":[]}"#)
  }

  private static let metadata: TranscodeOptions = {
    var options = TranscodeOptions()
    options.upright = .metadata
    return options
  }()

  private static func keys(_ value: JSONValue) -> [String] { members(value).map(\.key) }

  private static func members(_ value: JSONValue) -> [JSONValue.Member] {
    if case .object(let members) = value { members } else { [] }
  }

  private static func elements(_ value: JSONValue) -> [JSONValue] {
    if case .array(let values) = value { values } else { [] }
  }

  @Test("A tag's report is that of a transcode that copied everything")
  func tagReport() throws {
    let scratch = try Scratch()
    let path = scratch.path("out.h264")
    let report = try TagSession(
      input: Samples.withAudio, output: path, options: .init(orientation: .left)
    ).run()
    #expect(report.input.path == Samples.withAudio && report.input.frames == 150)
    #expect(report.input.size == PixelSize(640, 360) && report.input.duration == 5)
    #expect(report.output.path == path && report.output.files == [path])
    #expect(report.output.sizes == [PixelSize(640, 360)])
    #expect(report.output.copiedFrames == 150 && report.output.encodedFrames == 0)
    #expect(
      report.output.dropped == ["stream 1 (audio, aac): an elementary stream has video only"])
    #expect(report.formats.map(\.turn) == [.left])
    #expect(report.formats.map(\.format.encodeResolution) == [PixelSize(360, 640)])
    #expect(report.decisions.isEmpty && report.warnings.isEmpty && !report.isPartial)
    #expect(
      Self.keys(report.json) == ["input", "output", "formats", "events", "warnings", "timing"])
  }

  // MARK: - Probes

  @Test("A probe's streams and signals")
  func probe() throws {
    let scratch = try Scratch()
    let path = try EncodedClip.writeSignals(in: scratch)
    let probe = try Probe(input: path)
    #expect(probe.input == path && probe.format.hasPrefix("mov,mp4"))
    #expect(probe.streams.map(\.kind) == [.video, .data] && probe.videoStream == 0)
    #expect(probe.streams.map(\.index) == [0, 1] && probe.streams[1].codecTag == "mebx")
    #expect(probe.streams[0].codec == "h264" && probe.streams[0].duration == 1)
    let video = try #require(probe.streams[0].video)
    #expect(video.size == PixelSize(64, 64) && video.sampleAspectRatio == .one)
    #expect(video.frames == 25 && video.rotateTag == nil)
    #expect(video.displayMatrix?.turn?.orientation == .downMirrored)
    #expect(probe.streams[1].video == nil && probe.streams.allSatisfy { $0.audio == nil })

    let signals = probe.signals
    #expect(signals.map(\.frame) == [0, 0, 4, 4, 10, 15, 15, 20])
    #expect(
      zip(signals, signals.map(\.frame)).allSatisfy { abs($0.seconds - Double($1) / 25) < 1e-9 })
    #expect(
      signals.map(\.source) == [
        .mebx, .trackMatrix, .mebx, .trackMatrix, .sei, .sei, .trackMatrix, .sei,
      ])
    #expect(
      signals.map { $0.signal?.orientation } == [
        .right, .downMirrored, nil, .downMirrored, .left, nil, .downMirrored, .left,
      ])
    #expect(signals.map(\.isApplied) == [true, false, false, true, true, false, true, true])
    #expect(signals[2].content == .ends(.mebx))
    let last = try #require(signals[7].signal)
    #expect(!last.isExact && abs(last.degrees - 265) < 0.01 && signals[4].signal?.isExact == true)
    #expect(
      (1...2).map { probe.json["signals"].map(Self.elements)?[$0].compact } == [
        #"{"at":0.0,"frame":0,"source":"trackMatrix","orientation":"downMirrored","degrees":180,"#
          + #""mirrored":true,"applies":false}"#,
        #"{"at":0.16,"frame":4,"source":"mebx","orientation":null,"degrees":null,"mirrored":null,"#
          + #""applies":false}"#,
      ])
  }

  @Test("A probe's audio, and an input without video")
  func probeAudio() throws {
    let scratch = try Scratch()
    let audio = try #require(try Probe(input: Samples.withAudio).streams[1].audio)
    #expect(audio.sampleRate == 48000 && audio.channels >= 1)
    let path = scratch.path("tone.m4a")
    try FFmpegTool.run("-f lavfi -i sine=d=1:r=44100 -c:a aac", [path])
    let probe = try Probe(input: path)
    #expect(probe.videoStream == nil && probe.signals.isEmpty)
    #expect(probe.streams.map(\.kind) == [.audio])
    #expect(
      probe.lines.dropFirst() == [
        "  stream 0  audio aac 44100 Hz, 1 channels", "  no video stream",
      ])
    #expect(
      probe.json.compact.hasPrefix(
        #"{"streams":[{"index":0,"kind":"audio","codec":"aac","sampleRate":44100,"channels":1,"#
          + #""duration":"#))
  }
}
