import UprightOrientation
import UprightPolicy
import Testing

@Suite("Timeline, formats and entries") struct PlanTests {
  private func plan(_ policy: String, _ events: String) throws -> OrientationPlan {
    try OrientationPlan(document(policy), events: RotationEvent.parse(jsonLines: json(events)))
  }

  @Test("An event takes effect at the first frame whose PTS is >= at - 1 ms") func grain() throws {
    let timeline = try plan("{}", "{'at': 3.2, 'device': 'landscapeLeft'}").timeline
    #expect(timeline.point(at: 3.1989).appOrientation == .portrait)
    #expect(timeline.point(at: 3.199).appOrientation == .landscapeRight)
    #expect(timeline.point(at: 3.2).appOrientation == .landscapeRight)
    #expect(timeline.point(at: 0).appOrientation == .portrait)
    #expect(timeline.point(at: -5).appOrientation == .portrait)
    #expect(timeline.point(at: 1e12).appOrientation == .landscapeRight)
  }

  @Test("Frames follow the device even if the app does not") func deviceAndApp() throws {
    let timeline = try plan(
      "{'controllers': {'a': {'supported': ['portrait']}}}",
      """
      {'at': 1, 'device': 'landscapeLeft'}
      {'at': 2, 'device': 'faceUp'}
      {'at': 3, 'device': 'portrait'}
      """
    ).timeline
    #expect(timeline.points.map(\.device) == [.portrait, .landscapeLeft, .portrait])
    #expect(timeline.points.map(\.appOrientation) == [.portrait, .portrait, .portrait])
    #expect(timeline.points.map(\.at) == [0, 1, 3])
  }

  @Test("In an animated rotation, the device changes first, the layout at didRotate")
  func timed() throws {
    let plan = try plan(
      "{'transition': {'style': 'spin', 'duration': 0.5}}",
      "{'at': 1, 'device': 'landscapeLeft'}")
    #expect(
      plan.timeline.points == [
        .init(at: 0, device: .portrait, appOrientation: .portrait),
        .init(
          at: 1, device: .landscapeLeft, appOrientation: .portrait,
          turn: .init(from: .portrait, to: .landscapeRight, style: .spin, starts: 1, ends: 1.5)),
        .init(at: 1.5, device: .landscapeLeft, appOrientation: .landscapeRight),
      ])
    #expect(plan.formats.map(\.from) == [0, 1.5])
  }

  @Test("A device that was never upright uses the app orientation") func neverUpright() throws {
    let plan = try plan(
      "{'device': {'orientation': 'faceUp'}}",
      "{'at': 1, 'rotate': 'landscapeRight'}\n{'at': 2, 'device': 'portrait'}")
    #expect(plan.timeline.points.map(\.device) == [.portrait, .landscapeLeft, .portrait])
  }

  @Test("Formats: one per change, only the last of each time; formats[0] is the start")
  func formats() throws {
    let plan = try plan(
      "{}",
      """
      {'at': 1, 'device': 'landscapeLeft'}
      {'at': 1, 'device': 'landscapeRight'}
      {'at': 2, 'device': 'portrait'}
      {'at': 2, 'device': 'landscapeRight'}
      {'at': 3, 'lock': true}
      """)
    #expect(plan.formats.map(\.from) == [0, 1, 3])
    #expect(
      plan.formats.map(\.format.appOrientation) == [.portrait, .landscapeLeft, .portrait])
    #expect(
      plan.formats.map(\.format.encodeResolution.description)
        == ["720x1280", "1280x720", "720x1280"])
    #expect(plan.entries.map(\.outcome) == [.rotate, .rotate, .rotate, .rotate, .rotate])
  }

  @Test("An event at 0 changes the initial format") func atZero() throws {
    let plan = try plan("{}", "{'at': 0, 'device': 'landscapeLeft'}")
    #expect(plan.formats.map(\.from) == [0])
    #expect(plan.formats[0].format.appOrientation == .landscapeRight)
    #expect(plan.timeline.points.count == 1)
    #expect(plan.timeline.points[0].device == .landscapeLeft)
  }

  @Test("One entry per event, in order, even if one is decided later") func entries() throws {
    let plan = try plan(
      PhaseTests.slow,
      """
      {'at': 1, 'device': 'landscapeLeft'}
      {'at': 1.1, 'device': 'portrait'}
      {'at': 1.2, 'active': false}
      {'at': 1.3, 'device': 'landscapeRight'}
      {'at': 1.4, 'active': true}
      {'at': 1.5, 'active': true}
      """)
    #expect(plan.entries.map(\.eventIndex) == [0, 1, 2, 3, 4, 5])
    #expect(
      plan.entries.map(\.short)
        == [
          "rotate landscapeRight", "keep superseded", "keep", "keep superseded",
          "rotate landscapeLeft", "keep",
        ])
    #expect(plan.formats.map(\.from) == [0, 2, 3])
  }

  @Test("A live session gives the same plan as the complete list") func incremental()
    throws
  {
    let events = try RotationEvent.parse(
      jsonLines: json(
        """
        {'at': 1, 'device': 'landscapeLeft'}
        {'at': 1.1, 'device': 'portrait'}
        {'at': 1.2, 'active': false}
        {'at': 4, 'device': 'landscapeRight'}
        """))
    let whole = try OrientationPlan(document(PhaseTests.slow), events: events)
    var live = try OrientationPlan(document(PhaseTests.slow))
    var entries: [RotationDecision] = []
    var formats: [FormatChange] = []
    var next = 0
    for frame in 0..<200 {
      let seconds = Double(frame) * 0.033
      while next < events.count, events[next].at <= seconds {
        try live.push(events[next])
        next += 1
      }
      live.advance(to: seconds)
      entries += live.takeEntries()
      formats += live.takeFormats(before: seconds)
    }
    #expect(entries == whole.entries)
    #expect(formats == whole.formats)
    #expect(live.timeline == whole.timeline)
    #expect(live.formats == whole.formats)
    live.forget(before: 5.5)
    #expect(live.timeline.points.count == 1)
    #expect(live.formats == Array(whole.formats.suffix(1)))
    #expect(live.takeFormats(before: 100) == [])
  }

  @Test("An invalid event does not change a live session") func refusedLive() throws {
    var plan = try OrientationPlan(PolicyDocument())
    #expect(throws: PolicyError.self) {
      try plan.push(RotationEvent(at: 1, .present("x", style: nil)))
    }
    try plan.push(RotationEvent(at: 1, .device(.landscapeLeft)))
    #expect(plan.entries.count == 1)
    #expect(throws: PolicyError.self) {
      try plan.push(RotationEvent(at: 0.5, .device(.portrait)))
    }
  }

  @Test("A warning has the time of its event") func warnings() throws {
    let plan = try plan("{}", "{'at': 2.5, 'dismiss': true}")
    #expect(plan.warnings == ["event at 2.5: nothing is presented to dismiss"])
  }

  @Test("The JSON of an entry has its keys in order") func entryJSON() throws {
    let plan = try plan("{}", "{'at': 3, 'device': 'LANDSCAPELEFT'}\n{'at': 4, 'device': 'faceUp'}")
    #expect(
      plan.entries[0].json.compact
        == #"{"at":3.0,"event":{"device":"landscapeLeft"},"decision":"rotate","reason":null,"#
        + #""target":"landscapeRight","from":"portrait","to":"landscapeRight","#
        + #""allowed":["portrait","landscapeRight","landscapeLeft"],"phases":["#
        + #"{"at":3.0,"phase":"willRotate"},{"at":3.0,"phase":"layout"},"#
        + #"{"at":3.0,"phase":"willAnimate"},{"at":3.0,"phase":"didRotate"}]}"#)
    #expect(
      plan.entries[1].json.compact
        == #"{"at":4.0,"event":{"device":"faceUp"},"decision":"keep","reason":null,"target":null,"#
        + #""from":"landscapeRight","to":"landscapeRight","#
        + #""allowed":["portrait","landscapeRight","landscapeLeft"]}"#)
  }

  @Test("The JSON of an invalid entry has a name") func invalidJSON() throws {
    let plan = try plan(
      "{'root': 'a', 'controllers': {'a': {}, 'b': {'supported': []}}}",
      "{'at': 3, 'present': 'b'}")
    let keys: [String] =
      if case .object(let members) = plan.entries[0].json { members.map(\.key) } else { [] }
    #expect(
      keys == ["at", "event", "decision", "reason", "target", "from", "to", "allowed", "name"])
    #expect(plan.entries[0].json["name"] == "UIApplicationInvalidInterfaceOrientation")
    #expect(plan.entries[0].json["reason"] == .string(nothingInCommon("b")))
  }

  @Test("The JSON of a format, with and without media") func formatJSON() throws {
    let plan = try plan("{'stream': {'size': '360x640', 'captureSize': '1080x1920'}}", "")
    #expect(
      plan.formats[0].json.compact
        == #"{"from":0.0,"appOrientation":"portrait","captureResolution":"1080x1920","#
        + #""encodeResolution":"360x640"}"#)
    var change = plan.formats[0]
    (change.firstFrame, change.turn) = (0, .right)
    change.transform = AffineMatrix(a: 0, b: 1, c: -1, d: 0, tx: 720, ty: 0)
    #expect(
      change.json.compact
        == #"{"from":0.0,"first_frame":0,"appOrientation":"portrait","#
        + #""captureResolution":"1080x1920","encodeResolution":"360x640","turn":"right","#
        + #""transform":[0.0,1.0,-1.0,0.0,720.0,0.0]}"#)
  }

  @Test("The JSON of explain reads back as an equal value") func explainJSON() throws {
    let plan = try plan("{}", "{'at': 3.25, 'gravity': [0.02, -0.98, 0.1]}")
    #expect(try JSONValue(parsing: plan.json.pretty.utf8) == plan.json)
    #expect(try JSONValue(parsing: plan.json.compact.utf8) == plan.json)
  }
}
