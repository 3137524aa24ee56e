import UprightOrientation
import UprightPolicy
import Testing

/// Rules that no other suite covers.
@Suite("Other rules") struct SentenceTests {
  @Test("The same policy and events always give the same decisions")
  func noClock() throws {
    for name in SamplePolicies.withEvents {
      #expect(
        try SamplePolicies.plan(name).json.compact == SamplePolicies.plan(name).json.compact)
    }
  }

  @Test(
    "device accepts the seven device orientations",
    arguments: DeviceOrientation.allCases.map(\.name))
  func deviceWords(word: String) throws {
    #expect(try document("{'device': {'orientation': '\(word)'}}").device.orientation.name == word)
    var scene = try Scene()
    try scene.send("'device': '\(word)'")
    #expect(scene.state.device.name == word)
  }

  @Test(
    "Lists accept interface orientations and masks",
    arguments: [
      ("'portrait'", 2), ("'portraitUpsideDown'", 4), ("'landscapeRight'", 8),
      ("'landscapeLeft'", 16), ("'landscape'", 24), ("'all'", 30), ("'allButUpsideDown'", 26),
      ("'portrait', 'landscape'", 26), ("", 0),
    ]) func maskWords(words: String, raw: Int) throws
  {
    let document = try document(
      """
      {'application': {'infoPlist': [\(words)], 'delegate': [\(words)]}, 'controllers': {'a': {
        'supported': [\(words)], 'accepts': [\(words)], 'captureEnabledIn': [\(words)]}}}
      """)
    let mask = InterfaceOrientationMask(rawValue: raw)
    #expect(document.application.infoPlist == mask && document.application.delegate == mask)
    let controller = document.controllers[0]
    #expect(controller.supported == mask && controller.accepts == mask)
    #expect(controller.captureEnabledIn == mask)
  }

  @Test("gravity: (-1,0,0) is landscapeLeft, (0,0,-1) is faceUp")
  func gravityDirection() throws {
    for (vector, device) in [
      ("[-1, 0, 0]", "landscapeLeft"), ("[1, 0, 0]", "landscapeRight"), ("[0, 0, -1]", "faceUp"),
      ("[0, 0, 1]", "faceDown"), ("[0, 1, 0]", "portraitUpsideDown"),
    ] {
      var scene = try Scene()
      for step in 0..<80 { try scene.send("'gravity': \(vector)", at: Double(step) * 0.05) }
      #expect(scene.state.device.name == device)
    }
  }

  @Test("gravity: settling is checked only at readings") func settlingAtReadings() throws {
    var scene = try Scene()
    try scene.send("'gravity': [0, -1, 0]", at: 1)
    try scene.send("'gravity': [-1, 0, 0]", at: 3)
    // The readings have settled, but other events and the time don't check this.
    #expect(scene.advance(to: 8) == [])
    try scene.send("'active': true", at: 8)
    #expect(scene.state.device == .portrait)
    #expect(try scene.answer("'gravity': [-1, 0, 0]", at: 9) == "rotate landscapeRight")
  }

  @Test("rotate: the device orientation does not change, and the decision has the target")
  func target() throws {
    var scene = try Scene()
    try scene.send("'rotate': 'portraitUpsideDown'")
    let decision = try scene.last
    #expect(decision.outcome == .refuse && decision.target == .portraitUpsideDown)
    #expect(decision.from == .portrait && decision.to == .portrait)
    #expect(scene.state.device == .portrait)
    try scene.send("'device': 'faceUp'")
    #expect(try scene.last.target == nil)
  }

  @Test("allowed: the allowed orientations after the event, in raw order")
  func allowedAfter() throws {
    var scene = try Scene(
      """
      {'application': {'delegate': ['all']}, 'root': 'a', 'controllers': {'a': {},
        'b': {'supported': ['landscapeLeft', 'portraitUpsideDown', 'landscapeRight']}}}
      """)
    try scene.send("'present': 'b'")
    #expect(try scene.last.allowed == [.portraitUpsideDown, .landscapeRight, .landscapeLeft])
    try scene.send("'set': 'b', 'supported': ['portrait']")
    #expect(try scene.last.allowed == [.portrait])
    try scene.send("'dismiss': true")
    #expect(try scene.last.allowed == [.portrait, .landscapeRight, .landscapeLeft])
  }

  @Test("Invalid events: changes by device, lock, active and set are not undone")
  func stateStays() throws {
    var scene = try Scene(
      "{'controllers': {'a': {}}, 'device': {'orientation': 'landscapeLeft'}}")
    try scene.send("'set': 'a', 'supported': []")
    #expect(try scene.answer("'device': 'landscapeRight'") == "invalid common")
    #expect(scene.state.device == .landscapeRight)
    #expect(try scene.answer("'lock': true") == "invalid common")
    #expect(scene.state.rotationLock)
    #expect(try scene.answer("'lock': false") == "invalid common")
    #expect(!scene.state.rotationLock)
    #expect(try scene.answer("'active': false") == "keep")
    #expect(try scene.answer("'active': true") == "invalid common")
    #expect(scene.state.active)
    // The last valid orientation is kept.
    #expect(scene.app == "landscapeRight")
    #expect(try scene.last.allowed == [])
  }

  @Test("Showing ends a hold only if it must rotate") func showAndHold() throws {
    let policy = """
      {'root': 'n', 'controllers': {
        'n': {'kind': 'navigation', 'children': ['a'], 'authority': 'visibleChild'}, 'a': {},
        'same': {}, 'tall': {'supported': ['portrait']}}}
      """
    var scene = try Scene(policy)
    try scene.send("'rotate': 'landscapeRight'")
    #expect(try scene.answer("'push': 'same', 'onto': 'n'") == "keep")
    #expect(scene.state.hold.isManual)
    #expect(try scene.answer("'push': 'tall', 'onto': 'n'") == "rotate portrait")
    #expect(!scene.state.hold.isManual)
  }

  @Test("During a rotation, the new orientation is current from the decision on")
  func currentFromTheDecision() throws {
    var scene = try Scene(
      "{'transition': {'style': 'crossfade', 'duration': 1}, 'controllers': {'a': {}}}")
    try scene.send("'device': 'landscapeLeft'", at: 1)
    #expect(scene.app == "landscapeRight")
    #expect(scene.state.layoutOrientation == .portrait)
    // The app is in landscape now, so a lock requests portrait.
    #expect(try scene.send("'lock': true", at: 1.5) == [])
    #expect(scene.advance(to: 2) == ["rotate portrait"])
  }

  @Test("dismiss and pop with nothing to remove give a warning") func nothingToRemove()
    throws
  {
    let plan = try OrientationPlan(
      document("{'controllers': {'n': {'kind': 'navigation'}}}"),
      events: RotationEvent.parse(
        jsonLines: json("{'at': 1, 'dismiss': true}\n{'at': 2, 'pop': 'n'}")))
    #expect(plan.entries.map(\.short) == ["keep", "keep"])
    #expect(plan.warnings.count == 2)
  }

  @Test("A controller can be presented only once; another one is presented over it")
  func twoPresentations() throws {
    var scene = try Scene("{'root': 'a', 'controllers': {'a': {}, 'b': {}, 'c': {}}}")
    try scene.send("'present': 'b'")
    let error = try policyError { try scene.send("'present': 'b'") }
    #expect(error.code == .controller && error.remedy == "pop or dismiss it first")
    #expect(try scene.answer("'present': 'c'") == "keep")
    #expect(scene.state.presentations.map(\.controller) == ["b", "c"])
  }
}
