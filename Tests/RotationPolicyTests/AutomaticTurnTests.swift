import UprightOrientation
import UprightPolicy
import Testing

@Suite("Automatic rotation") struct AutomaticTurnTests {
  @Test(
    "Left and right are opposite",
    arguments: [
      ("landscapeLeft", "landscapeRight"), ("landscapeRight", "landscapeLeft"),
    ]) func opposite(device: String, app: String) throws
  {
    #expect(try answers("{}", "'device': '\(device)'") == ["rotate \(app)"])
  }

  @Test(
    "Rule 1: a flat or unknown device orientation gives keep",
    arguments: ["faceUp", "faceDown", "unknown"])
  func flat(device: String) throws {
    var scene = try Scene()
    try scene.send("'device': 'landscapeLeft'")
    #expect(try scene.answer("'device': '\(device)'") == "keep")
    #expect(scene.app == "landscapeRight")
    #expect(scene.state.device.name == device)
    #expect(scene.state.lastUprightDevice == .landscapeLeft)
    #expect(try scene.last.target == nil)
    #expect(try scene.last.why.rule.number == 1)
  }

  @Test("Rule 2: a manual hold gives keep") func held() throws {
    var scene = try Scene("{'device': {'orientation': 'landscapeLeft'}}")
    try scene.send("'rotate': 'portrait'")
    #expect(try scene.answer("'device': 'landscapeLeft'") == "keep")
    #expect(scene.app == "portrait")
    #expect(try scene.last.why.rule == .held)
  }

  @Test("Rule 2: another upright device orientation ends the hold first")
  func holdEnds() throws {
    var scene = try Scene()
    try scene.send("'rotate': 'landscapeRight'")
    #expect(try scene.answer("'device': 'faceUp'") == "keep")
    #expect(try scene.answer("'device': 'portrait'") == "keep")
    #expect(scene.app == "landscapeRight")
    #expect(try scene.answer("'device': 'landscapeLeft'") == "keep")
    #expect(try scene.answer("'device': 'portrait'") == "rotate portrait")
  }

  @Test("Rule 3: the system rotation lock gives refuse rotationLocked") func locked() throws {
    var scene = try Scene("{'device': {'rotationLock': true}}")
    #expect(try scene.answer("'device': 'landscapeLeft'") == "refuse rotationLocked")
    #expect(try scene.last.target == .landscapeRight)
    #expect(try scene.last.why.rule.number == 3)
  }

  static let lazy = """
    {'application': {'active': false}, 'controllers':
      {'a': {'ignoresRotationWhileInactive': true}}}
    """

  @Test("Rule 4: an inactive app whose controller ignores rotation while inactive")
  func inactive() throws {
    #expect(
      try answers(Self.lazy, "'device': 'landscapeLeft'") == ["refuse applicationInactive"])
    #expect(
      try answers("{'application': {'active': false}}", "'device': 'landscapeLeft'")
        == ["rotate landscapeRight"])
  }

  @Test("Rule 5: refuse autorotationDisabled", arguments: ["false", "'manual'"])
  func disabled(value: String) throws {
    let policy = "{'controllers': {'a': {'shouldAutorotate': \(value)}}}"
    #expect(try answers(policy, "'device': 'landscapeLeft'") == ["refuse autorotationDisabled"])
  }

  @Test("Rule 6: no allowed orientation gives invalid, with the first message")
  func nothingAllowed() throws {
    var scene = try Scene("{'controllers': {'list': {}}}")
    #expect(try scene.answer("'set': 'list', 'supported': []") == "keep")
    #expect(try scene.answer("'device': 'landscapeLeft'") == "invalid common")
    let decision = try scene.last
    #expect(decision.reason == nothingInCommon("list"))
    #expect(decision.name == "UIApplicationInvalidInterfaceOrientation")
    #expect(decision.allowed == [])
    #expect(decision.from == .portrait && decision.to == .portrait)
    // The last valid orientation is kept, and the device orientation is stored.
    #expect(scene.app == "portrait")
    #expect(scene.state.device == .landscapeLeft)
    try scene.send("'set': 'list', 'supported': ['all']")
    #expect(try scene.answer("'device': 'landscapeLeft'") == "rotate landscapeRight")
  }

  @Test("Rule 7: a target that is not allowed gives refuse notSupported")
  func notSupported() throws {
    var scene = try Scene("{'controllers': {'a': {'supported': ['portrait', 'landscapeLeft']}}}")
    #expect(try scene.answer("'device': 'landscapeLeft'") == "refuse notSupported")
    #expect(try scene.last.allowed == [.portrait, .landscapeLeft])
    #expect(try scene.answer("'device': 'landscapeRight'") == "rotate landscapeLeft")
  }

  @Test("Rule 8: keep if the target is the current orientation, else rotate")
  func current() throws {
    var scene = try Scene()
    #expect(try scene.answer("'device': 'portrait'") == "keep")
    #expect(try scene.last.target == .portrait)
    #expect(try scene.answer("'device': 'landscapeLeft'") == "rotate landscapeRight")
    let decision = try scene.last
    #expect(decision.from == .portrait && decision.to == .landscapeRight)
    #expect(decision.reason == nil && decision.name == nil)
  }

  @Test("The device orientation is stored even if the rotation is refused")
  func remembered() throws {
    #expect(
      try answers("{}", "'lock': true", "'device': 'landscapeLeft'", "'lock': false")
        == ["keep", "refuse rotationLocked", "rotate landscapeRight"])
  }

  @Test("Rule 1 is checked before rule 3") func flatBeforeLock() throws {
    #expect(try answers("{'device': {'rotationLock': true}}", "'device': 'faceUp'") == ["keep"])
  }

  @Test("Rule 2 is checked before rule 3") func holdBeforeLock() throws {
    #expect(
      try answers(
        "{'device': {'rotationLock': true}}", "'rotate': 'landscapeRight'", "'device': 'portrait'")
        == ["rotate landscapeRight", "keep"])
  }

  /// From the last rule to the first: each line adds the condition of one more rule.
  @Test("Rules 3 to 7 are checked in order") func precedence() throws {
    func policy(lock: Bool, lazy: Bool, autorotate: Bool) -> String {
      """
      {'device': {'rotationLock': \(lock)},
       'application': {'infoPlist': ['portrait'], 'active': false}, 'controllers': {'a':
        {'ignoresRotationWhileInactive': \(lazy), 'shouldAutorotate': \(autorotate)}}}
      """
    }
    let turn = "'device': 'landscapeLeft'"
    let empty = "'set': 'a', 'supported': ['landscapeLeft']"
    #expect(
      try answers(policy(lock: false, lazy: false, autorotate: true), turn)
        == ["refuse notSupported"])
    #expect(
      try answers(policy(lock: false, lazy: false, autorotate: true), empty, turn)
        == ["keep", "invalid common"])
    #expect(
      try answers(policy(lock: false, lazy: false, autorotate: false), empty, turn)
        == ["keep", "refuse autorotationDisabled"])
    #expect(
      try answers(policy(lock: false, lazy: true, autorotate: false), empty, turn)
        == ["keep", "refuse applicationInactive"])
    #expect(
      try answers(policy(lock: true, lazy: true, autorotate: false), empty, turn)
        == ["keep", "refuse rotationLocked"])
  }

  @Test("gravity: one decision per reading, keep unless the classified orientation changes")
  func gravity() throws {
    var scene = try Scene()
    var given: [String] = []
    for step in 0..<40 {
      let body = step < 5 ? "'gravity': [0.02, -0.98, 0.1]" : "'gravity': [-1, 0, 0]"
      given += try scene.send(body, at: Double(step) * 0.05)
    }
    #expect(given.count == 40)
    #expect(given.filter { $0 == "rotate landscapeRight" }.count == 1)
    #expect(given.filter { $0 == "keep" }.count == 39)
    #expect(scene.state.device == .landscapeLeft)
  }

  @Test("gravity: a rejected reading gives keep") func rejectedGravity() throws {
    var scene = try Scene()
    for step in 0..<20 {
      #expect(try scene.send("'gravity': [-5, 0, 0]", at: Double(step) * 0.05) == ["keep"])
    }
    #expect(scene.state.device == .portrait)
  }

  @Test("gravity: a sensor that starts says how the device is held, whatever was said before")
  func startingSensor() throws {
    var scene = try Scene()
    try scene.send("'device': 'landscapeLeft'", at: 1)
    var given: [String] = []
    for step in 0..<20 {
      given += try scene.send("'gravity': [0, -1, 0]", at: 2 + Double(step) * 0.05)
    }
    // A single reading changes nothing.
    #expect(given.first == "keep")
    #expect(given.filter { $0 == "rotate portrait" }.count == 1)
    // Again after a pause.
    try scene.send("'device': 'landscapeRight'", at: 10)
    given = try (0..<20).flatMap {
      try scene.send("'gravity': [0, -1, 0]", at: 10.1 + Double($0) * 0.05)
    }
    #expect(given.filter { $0 == "rotate portrait" }.count == 1)
    #expect(scene.state.device == .portrait)
  }

  @Test("gravity: an active sensor leaves a device event in force until the device is turned")
  func activeSensor() throws {
    var scene = try Scene()
    func read(_ gravity: String, from: Double) throws -> [String] {
      try (0..<20).flatMap {
        try scene.send("'gravity': \(gravity)", at: from + Double($0) * 0.05)
      }
    }
    #expect(try read("[0, -1, 0]", from: 0).allSatisfy { $0 == "keep" })
    try scene.send("'device': 'landscapeLeft'", at: 1)
    #expect(try read("[0, -1, 0]", from: 1.05).allSatisfy { $0 == "keep" })
    #expect(scene.state.device == .landscapeLeft)
    #expect(try read("[1, 0, 0]", from: 2.05).contains("rotate landscapeLeft"))
    #expect(scene.state.device == .landscapeRight)
  }

  @Test("gravity: (0,0,-1) is faceUp") func faceUp() throws {
    var scene = try Scene()
    for step in 0..<60 { try scene.send("'gravity': [0, 0, -1]", at: Double(step) * 0.05) }
    #expect(scene.state.device == .faceUp)
    #expect(scene.app == "portrait")
  }

  @Test("Every change of the device orientation is output, including flat ones")
  func observers() throws {
    var scene = try Scene()
    try scene.send("'device': 'faceUp'")
    try scene.send("'device': 'faceUp'")
    try scene.send("'device': 'landscapeLeft'")
    let seen = scene.outputs.compactMap { output -> DeviceOrientation? in
      if case .device(_, let orientation) = output { orientation } else { nil }
    }
    #expect(seen == [.faceUp, .landscapeLeft])
  }
}
