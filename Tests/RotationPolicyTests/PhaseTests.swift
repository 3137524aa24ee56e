import UprightOrientation
import UprightPolicy
import Testing

@Suite("Phases of a rotation") struct PhaseTests {
  /// A root that rotates with the device, in a stack, and rotations that take a second.
  static let slow = """
    {'transition': {'style': 'spin', 'duration': 1}, 'root': 'n', 'controllers': {
      'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['a']}, 'a': {},
      'p': {'supported': ['portrait']}, 'q': {}, 'bad': {'supported': []},
      'x': {'preferred': 'landscapeLeft'}}}
    """

  @Test("willRotate, layout, willAnimate, after the duration didRotate, then the format change")
  func order() throws {
    var scene = try Scene(Self.slow)
    #expect(try scene.send("'device': 'landscapeLeft'", at: 3) == ["rotate landscapeRight"])
    #expect(scene.phases.map(\.kind) == [.willRotate, .layout, .willAnimate])
    #expect(scene.phases.map(\.at) == [3, 3, 3])
    // For the reducer, the new orientation is current from the decision on.
    #expect(scene.state.appOrientation == .landscapeRight)
    #expect(scene.state.layoutOrientation == .portrait)
    #expect(scene.reducer.nextDue == 4)
    scene.advance(to: 3.99)
    #expect(scene.state.layoutOrientation == .portrait)
    scene.advance(to: 4)
    #expect(scene.phases.map(\.kind) == [.willRotate, .layout, .willAnimate, .didRotate])
    #expect(
      scene.phases.map(\.orientation) == [
        .landscapeRight, .landscapeRight, .landscapeRight, .portrait,
      ])
    #expect(scene.phases.last?.at == 4)
    #expect(scene.state.layoutOrientation == .landscapeRight)
    #expect(scene.outputs.last == .layout(at: 4, .landscapeRight))
    #expect(scene.reducer.nextDue == nil)
  }

  @Test(
    "With style cut or duration 0, all phases have the same time",
    arguments: [
      "'style': 'cut', 'duration': 5", "'style': 'spin', 'duration': 0", "'duration': 3",
    ]) func cut(transition: String) throws
  {
    var scene = try Scene("{'transition': {\(transition)}}")
    try scene.send("'device': 'landscapeLeft'", at: 3)
    #expect(scene.phases.map(\.kind) == RotationPhase.Kind.allCases)
    #expect(scene.phases.map(\.at) == [3, 3, 3, 3])
    #expect(scene.outputs.last == .layout(at: 3, .landscapeRight))
    #expect(scene.state.turn == nil)
  }

  @Test("The decision has all phases, including didRotate") func decisionPhases() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 3)
    #expect(try scene.last.phases.map(\.at) == [3, 3, 3, 4])
    try scene.send("'device': 'faceUp'", at: 3.5)
    #expect(try scene.last.phases == [])
  }

  @Test("The receivers are the deciding controller and its visible descendants")
  func receivers() throws {
    let policy = """
      {'root': 't', 'controllers': {
        't': {'kind': 'tab', 'children': ['n', 'b']},
        'n': {'kind': 'navigation', 'children': ['a', 'c']}, 'a': {}, 'b': {}, 'c': {}, 'p': {}}}
      """
    var scene = try Scene(policy)
    try scene.send("'device': 'landscapeLeft'")
    #expect(scene.phases.last?.turn.receivers == ["t", "n", "c"])
    try scene.send("'present': 'p'")
    try scene.send("'device': 'portrait'")
    #expect(scene.phases.last?.turn.receivers == ["p"])
    var below = try Scene(Self.slow)
    try below.send("'device': 'landscapeLeft'")
    #expect(below.phases.last?.turn.receivers == ["a"])
  }

  @Test("During a rotation, state changes apply immediately but rotations wait")
  func waits() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    #expect(try scene.send("'device': 'landscapeRight'", at: 1.5) == [])
    #expect(scene.state.device == .landscapeRight)
    #expect(scene.state.appOrientation == .landscapeRight)
    #expect(scene.advance(to: 2) == ["rotate landscapeLeft"])
    let decision = try scene.last
    #expect(decision.at == 1.5)
    #expect(decision.decidedAt == 2)
    #expect(decision.phases.map(\.at) == [2, 2, 2, 3])
    #expect(decision.from == .landscapeRight)
  }

  @Test("Only the latest request counts; the others give keep, superseded")
  func superseded() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    #expect(try scene.send("'device': 'portrait'", at: 1.2) == [])
    #expect(try scene.send("'rotate': 'landscapeLeft'", at: 1.4) == ["keep superseded"])
    #expect(try scene.last.eventIndex == 1)
    #expect(try scene.last.target == .portrait)
    #expect(try scene.send("'device': 'landscapeLeft'", at: 1.6) == ["keep superseded"])
    #expect(try scene.last.eventIndex == 2)
    // The app is already rotating to this orientation. The superseded manual rotation starts no hold.
    #expect(scene.advance(to: 2) == ["keep"])
    #expect(!scene.state.hold.isOn)
  }

  @Test("Events that request no rotation are decided immediately") func others() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    try scene.send("'device': 'landscapeRight'", at: 1.1)
    for body in [
      "'device': 'faceUp'", "'active': false", "'set': 'a', 'supported': ['all']",
      "'set': 'application', 'delegate': ['all']", "'dismiss': true", "'pop': 'n'",
      "'gravity': [0, -1, 0]", "'active': false", "'lock': false",
    ] {
      #expect(try scene.send(body, at: 1.2) == ["keep"], "\(body)")
    }
    // The waiting request is unchanged.
    #expect(scene.advance(to: 2) == ["rotate landscapeLeft"])
    #expect(scene.decisions.map(\.eventIndex) == [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1])
  }

  @Test("A waiting request is decided at didRotate, with the answers at that time")
  func answersOfThen() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    try scene.send("'device': 'landscapeRight'", at: 1.1)
    try scene.send("'set': 'a', 'shouldAutorotate': false", at: 1.2)
    #expect(scene.advance(to: 2) == ["refuse autorotationDisabled"])
  }

  @Test("A lock during a rotation stops the waiting one") func lockDuringTurn() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    try scene.send("'device': 'landscapeRight'", at: 1.1)
    #expect(try scene.send("'lock': true", at: 1.2) == ["keep superseded"])
    #expect(scene.advance(to: 2) == ["rotate portrait"])
    #expect(scene.advance(to: 3) == [])
    #expect(scene.state.layoutOrientation == .portrait)
  }

  @Test("didRotate precedes events of the same time") func ownInstant() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    #expect(try scene.send("'device': 'portrait'", at: 2) == ["rotate portrait"])
    #expect(
      scene.phases.map(\.kind) == RotationPhase.Kind.allCases + [
        .willRotate, .layout, .willAnimate,
      ])
  }

  @Test("didRotate is not late because of rounding errors") func rounding() throws {
    var scene = try Scene("{'transition': {'style': 'hold', 'duration': 0.2}}")
    try scene.send("'device': 'landscapeLeft'", at: 0.1)
    #expect(scene.reducer.nextDue == 0.3)
    #expect(try scene.send("'device': 'portrait'", at: 0.3) == ["rotate portrait"])
  }

  @Test("Waiting rotations follow each other") func chain() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    try scene.send("'device': 'landscapeRight'", at: 1.5)
    scene.advance(to: 2.5)
    try scene.send("'device': 'portrait'", at: 2.5)
    #expect(scene.advance(to: .infinity) == ["rotate portrait"])
    #expect(scene.phases.filter { $0.kind == .didRotate }.map(\.at) == [2, 3, 4])
  }

  @Test("Showing is validated immediately, even during a rotation")
  func invalidDuringTurn() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    #expect(try scene.send("'present': 'bad'", at: 1.1) == ["invalid common"])
    #expect(scene.state.presentations.isEmpty)
    #expect(scene.state.turn != nil)
  }

  @Test("Showing without rotation is decided immediately during a rotation")
  func showDuringTurn() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    #expect(try scene.send("'present': 'q'", at: 1.1) == ["keep"])
    #expect(scene.state.presentations.count == 1)
  }

  @Test("Showing with rotation changes the tree immediately and rotates at didRotate")
  func showWaits()
    throws
  {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    #expect(try scene.send("'push': 'p', 'onto': 'n'", at: 1.1) == [])
    #expect(scene.advance(to: 2) == ["rotate portrait"])
    #expect(try scene.last.why.controller == "p")
    #expect(try scene.last.allowed == [.portrait])
  }

  @Test("A superseded show still ends in a supported orientation") func supersededShow()
    throws
  {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    try scene.send("'push': 'p', 'onto': 'n'", at: 1.1)
    #expect(try scene.send("'device': 'landscapeRight'", at: 1.2) == ["keep superseded"])
    // The automatic rotation is refused, but the shown controller must still be placed in portrait.
    #expect(scene.advance(to: 2) == ["rotate portrait"])
    #expect(try scene.last.eventIndex == 2)
  }

  @Test("A waiting show whose controller was removed requests nothing") func showGone() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    #expect(try scene.send("'present': 'x'", at: 1.1) == [])
    #expect(try scene.send("'dismiss': true", at: 1.2) == ["keep"])
    #expect(scene.advance(to: 2) == ["keep"])
    #expect(!scene.state.hold.isOn)
  }

  @Test("The hold of a presentation starts with its rotation") func presentationHolds() throws {
    var scene = try Scene(Self.slow)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    try scene.send("'present': 'x'", at: 1.1)
    #expect(scene.advance(to: 2) == ["rotate landscapeLeft"])
    #expect(scene.state.hold.presentations == 1)
    #expect(try scene.send("'device': 'landscapeLeft'", at: 4) == ["keep"])
  }

  @Test("captureEnabledIn applies at willAnimate, for the new orientation") func capture()
    throws
  {
    var scene = try Scene(
      """
      {'transition': {'style': 'spin', 'duration': 1}, 'controllers':
        {'a': {'captureEnabledIn': ['portrait']}}}
      """)
    try scene.send("'device': 'landscapeLeft'", at: 1)
    #expect(scene.outputs.contains(.captureEnabled(at: 1, false)))
    let names = scene.outputs.map { output in
      switch output {
      case .device: "device"
      case .decision: "decision"
      case .phase(let phase): phase.kind.rawValue
      case .layout: "format"
      case .focus: "focus"
      case .captureEnabled: "capture"
      }
    }
    #expect(names == ["device", "decision", "willRotate", "layout", "willAnimate", "capture"])
  }
}
