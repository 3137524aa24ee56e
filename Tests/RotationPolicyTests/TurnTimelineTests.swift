import UprightOrientation
import UprightPolicy
import Testing

@Suite("Timeline of rotations and camera") struct TurnTimelineTests {
  private typealias Turn = OrientationTimeline.Turn

  private func timeline(_ policy: String, _ events: String) throws -> OrientationTimeline {
    try OrientationPlan(document(policy), events: RotationEvent.parse(jsonLines: json(events)))
      .timeline
  }

  private static let spin = "{'transition': {'style': 'spin', 'duration': 0.5}}"

  @Test("A rotation is in progress from willRotate to didRotate, to the frame") func span() throws {
    let timeline = try timeline(Self.spin, "{'at': 1, 'device': 'landscapeLeft'}")
    let turn = Turn(
      from: .portrait, to: .landscapeRight, style: .spin, starts: 1, ends: 1.5)
    let rows: [(Double, Turn?, InterfaceOrientation)] = [
      (0, nil, .portrait), (0.9989, nil, .portrait), (0.999, turn, .portrait),
      (1, turn, .portrait), (1.25, turn, .portrait), (1.4989, turn, .portrait),
      (1.499, nil, .landscapeRight), (1.5, nil, .landscapeRight), (9, nil, .landscapeRight),
    ]
    for (seconds, turn, app) in rows {
      let point = timeline.point(at: seconds)
      #expect(point.turn == turn, "at \(seconds)")
      #expect(point.appOrientation == app, "at \(seconds)")
    }
  }

  @Test("Progress goes from 0 up to, but not including, 1") func progress() {
    let turn = Turn(from: .portrait, to: .landscapeRight, style: .spin, starts: 1, ends: 1.5)
    let rows: [(Double, Double)] = [
      (0.999, 0), (1, 0), (1.125, 0.25), (1.25, 0.5), (1.375, 0.75), (-5, 0), (.nan, 0),
    ]
    for (seconds, progress) in rows { #expect(turn.progress(at: seconds) == progress) }
    for seconds in [1.5, 1.499999, 2, .infinity] { #expect(turn.progress(at: seconds) < 1) }
    #expect(turn.progress(at: 1.4999) > 0.999)
  }

  @Test("The interface rotates the shortest way; a half turn is clockwise") func angle() {
    let ring: [InterfaceOrientation] = [
      .portrait, .landscapeRight, .portraitUpsideDown, .landscapeLeft,
    ]
    for (index, from) in ring.enumerated() {
      for (steps, degrees) in [(0, 0), (1, 90), (2, 180), (3, -90)] {
        let to = ring[(index + steps) % 4]
        let turn = Turn(from: from, to: to, style: .spin, starts: 0, ends: 1)
        #expect(turn.clockwiseDegrees == degrees, "\(from) to \(to)")
        // The transform of the view gives the same orientation.
        let view = AffineMatrix(from).concatenating(
          AffineMatrix(quarterTurnsClockwise: degrees / 90))
        #expect(view == AffineMatrix(to), "\(from) to \(to)")
      }
    }
  }

  @Test("Cuts and rotations without duration are not in the timeline") func cuts() throws {
    for policy in ["{}", "{'transition': {'style': 'spin', 'duration': 0}}"] {
      let timeline = try timeline(policy, "{'at': 1, 'device': 'landscapeLeft'}")
      #expect(timeline.points.allSatisfy { $0.turn == nil })
      #expect(timeline.points.count == 2)
    }
  }

  @Test("A rotation requested during another starts at its didRotate; only the latest counts")
  func superseded() throws {
    let timeline = try timeline(
      Self.spin,
      """
      {'at': 1, 'device': 'landscapeLeft'}
      {'at': 1.2, 'device': 'portrait'}
      {'at': 1.3, 'device': 'landscapeRight'}
      """)
    let first = Turn(from: .portrait, to: .landscapeRight, style: .spin, starts: 1, ends: 1.5)
    let second = Turn(
      from: .landscapeRight, to: .landscapeLeft, style: .spin, starts: 1.5, ends: 2)
    #expect(timeline.point(at: 1.45).turn == first)
    #expect(timeline.point(at: 1.45).device == .landscapeRight)
    #expect(timeline.point(at: 1.5).turn == second)
    #expect(timeline.point(at: 1.5).appOrientation == .landscapeRight)
    #expect(timeline.point(at: 1.99).turn == second)
    #expect(timeline.point(at: 2).turn == nil)
    #expect(timeline.points.map(\.at) == [0, 1, 1.2, 1.3, 1.5, 2])
  }

  @Test("captureEnabledIn applies from willAnimate on, and at the start")
  func capture() throws {
    let policy = """
      {'transition': {'style': 'hold', 'duration': 0.5},
       'controllers': {'a': {'captureEnabledIn': ['portrait']}}}
      """
    let events = """
      {'at': 1, 'device': 'landscapeLeft'}
      {'at': 2, 'device': 'portrait'}
      """
    let turning = try timeline(policy, events)
    for (seconds, isEnabled) in [(0.5, true), (1, false), (1.4, false), (1.9, false), (2, true)] {
      #expect(turning.point(at: seconds).isCaptureEnabled == isEnabled, "at \(seconds)")
    }
    let landscape = """
      {'controllers': {'a': {'supported': ['landscapeRight'], 'captureEnabledIn': ['portrait']}}}
      """
    #expect(try !timeline(landscape, "").point(at: 0).isCaptureEnabled)
  }

  @Test("Points and rotations that no frame needs are removed") func memory() throws {
    var plan = try OrientationPlan(document(Self.spin))
    var most = 0
    for step in 0..<4000 {
      let seconds = Double(step) * 0.2
      try plan.push(
        RotationEvent(
          at: seconds, .device(step.isMultiple(of: 2) ? .landscapeLeft : .portrait)))
      plan.advance(to: seconds)
      plan.forget(before: seconds)
      most = max(most, plan.timeline.points.count)
    }
    #expect(most <= 4)
  }
}
