import Foundation
import Testing
import UprightOrientation
import UprightPolicy

@testable import Upright
@testable import UprightLive

/// What a live session is told and tells, passed to another process as JSON.
@Suite("Values of a live session as JSON")
struct LiveCodingTests {
  /// Returns what another process reads. It writes the same again.
  private static func passed<Value: Codable>(_ value: Value) throws -> Value {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let data = try encoder.encode(value)
    let read = try JSONDecoder().decode(Value.self, from: data)
    #expect(try encoder.encode(read) == data)
    return read
  }

  @Test("Each kind of event, and its decision")
  func decisions() throws {
    var answers = ControllerAnswers()
    answers.shouldAutorotate = .manual
    answers.supported = OrientationList(.landscape)
    answers.preferred = .landscapeLeft
    let actions: [RotationEvent.Action] = [
      .device(.landscapeLeft), .gravity(x: 0, y: -1, z: 0.1), .rotate(.portrait),
      .focus(x: 0.25, y: 0.5), .lock(true), .active(false), .present("modal", style: .sheet),
      .present("modal", style: nil), .dismiss, .push("a", onto: "b"), .pop("b"),
      .select("a", in: "tabs"), .set("content", answers),
      .setApplication(delegate: OrientationList(.all)), .policy(PolicyDocument()),
    ]
    var plan = try OrientationPlan(PolicyDocument())
    var decided = 0
    for (index, action) in actions.enumerated() {
      #expect(try Self.passed(StreamEvent.now(action)) == .now(action))
      #expect(try Self.passed(StreamEvent.at(1.5, action)) == .at(1.5, action))
      // The policy doesn't know all of these controllers.
      do { try plan.push(RotationEvent(at: Double(index), action)) } catch { continue }
    }
    for decision in plan.takeEntries() {
      let read = try Self.passed(decision)
      #expect(read == decision && read.json == decision.json)
      #expect(read.explanation == decision.explanation)
      decided += 1
    }
    #expect(decided > 3)
  }

  @Test("Updates, as the service's observers see them")
  func updates() throws {
    let format = FormatChange(
      from: 1, format: StreamGuidance.standard.format(for: .landscapeLeft), firstFrame: 3,
      turn: .left, transform: .identity)
    var status = LiveOutputStatus(
      id: "file", output: .recording(path: "/a/b.mp4", limits: .init(seconds: 10)))
    status.reason = "the disk is full"
    status.recording = LiveRecording(path: "/a/b.mp4", start: 0.5)
    guard case .format(let read) = try Self.passed(LiveUpdate.format(format)) else {
      Issue.record("another update")
      return
    }
    #expect(read == format)
    #expect(try Self.passed(status) == status)
    for output in [LiveOutput.hls(folder: "/a"), .push(url: "rtmp://a/b"), .file(path: "c.ts")] {
      #expect(try Self.passed(output) == output)
    }
    for update in [
      LiveUpdate.state(.failed, reason: "no input"), .state(.live, reason: nil), .output(status),
      .outputRemoved(id: "file"), .recording(LiveRecording(path: "x.mp4", start: 0)),
    ] {
      _ = try Self.passed(update)
    }
  }

  @Test("A change keeps what it sets to the default apart from what it leaves")
  func changes() throws {
    var change = LiveChange()
    change.policy = try PolicyDocument(json: "{\"device\": {\"idiom\": \"pad\"}}".utf8)
    change.fit = .some(nil)
    change.portraitFit = .some(.blur)
    change.slate = .some("slate.png")
    change.background = RGBColour(red: 1, green: 2, blue: 3)
    change.overlays = [Overlay(path: "logo.png", anchor: .bottom, margin: 3)]
    change.rate = .bitrate(500_000)
    let read = try Self.passed(change)
    #expect(read.policy == change.policy && read.fit == .some(nil) && read.portraitFit == .blur)
    #expect(read.landscapeFit == nil && read.slate == "slate.png" && read.rate == change.rate)
    #expect(read.background == change.background && read.overlays == change.overlays)
    #expect(try Self.passed(LiveChange()).fit == nil)
  }

  @Test("A snapshot with its times, and an error")
  func snapshot() throws {
    var counters = LiveCounters()
    counters.framesIn = 7
    counters.dropped = ["late": 2]
    counters.decodeTimes.add(0.004)
    var snapshot = LiveSnapshot(
      state: .inputLost, reason: "gone", counters: counters, behind: 1.5,
      appOrientation: "portrait",
      encodeResolution: "720x1280", seconds: 12)
    snapshot.outputs = [LiveOutputStatus(id: "hls", output: .hls(folder: "/x"))]
    let read = try Self.passed(snapshot)
    #expect(read.counters == counters && read.outputs == snapshot.outputs)
    #expect(read.state == .inputLost && read.behind == 1.5)
    let error = try Self.passed(UprightError(.badData, "what", at: "where", remedy: "do"))
    #expect(error.code == .badData && error.description == "what: where: do")
  }

  @Test(
    "What is no such value is refused",
    arguments: [
      "{\"counts\": [1, 2], \"sum\": 0}", "{\"counts\": [-1], \"sum\": 0}", "[]", "{}", "7",
      "{\"counts\": [0,0,0,0,0,0,0,0,0,0,0,0,0,-1], \"sum\": 1}",
      "{\"counts\": [0,0,0,0,0,0,0,0,0,0,0,0,0,9223372036854775808], \"sum\": 1}",
    ])
  func wrongHistograms(_ text: String) {
    #expect(throws: (any Error).self) {
      try JSONDecoder().decode(DurationHistogram.self, from: Data(text.utf8))
    }
  }

  @Test("Sums of the largest counts stay in range")
  func largestCounts() throws {
    let text =
      "{\"counts\": [\(Array(repeating: "9223372036854775807", count: 14).joined(separator: ","))], \"sum\": 1}"
    var times = try JSONDecoder().decode(DurationHistogram.self, from: Data(text.utf8))
    times.add(times)
    #expect(times.count == .max)
  }

  @Test("An output in memory isn't passed")
  func memory() {
    #expect(throws: EncodingError.self) {
      try JSONEncoder().encode(LiveOutput.packets(MemoryOutput()))
    }
  }
}
