import UprightOrientation
import UprightPolicy
import Testing

@Suite("lock and active events") struct LockAndActiveTests {
  @Test("lock true on a phone that is not in portrait checks rules 4 to 8 with portrait")
  func phoneTurnsToPortrait() throws {
    var scene = try Scene()
    try scene.send("'device': 'landscapeLeft'")
    #expect(try scene.answer("'lock': true") == "rotate portrait")
    #expect(try scene.last.target == .portrait)
    #expect(scene.state.rotationLock)
  }

  @Test("An app that does not support portrait is not rotated by the lock") func avoided() throws {
    let landscapeOnly = "{'controllers': {'a': {'supported': ['landscape']}}}"
    #expect(try answers(landscapeOnly, "'lock': true") == ["refuse notSupported"])
    var scene = try Scene("{'controllers': {'a': {'supported': ['landscape']}}}")
    try scene.send("'set': 'a', 'shouldAutorotate': false")
    #expect(try scene.answer("'lock': true") == "refuse autorotationDisabled")
    #expect(scene.app == "landscapeRight")
    #expect(scene.state.rotationLock)
  }

  @Test("lock true: an inactive app, and an empty mask") func otherRules() throws {
    var scene = try Scene("{'controllers': {'a': {'ignoresRotationWhileInactive': true}}}")
    try scene.send("'device': 'landscapeLeft'")
    try scene.send("'active': false")
    #expect(try scene.answer("'lock': true") == "refuse applicationInactive")
    try scene.send("'lock': false")
    try scene.send("'active': true")
    try scene.send("'set': 'a', 'supported': []")
    #expect(try scene.answer("'lock': true") == "invalid common")
    // The changes by device, lock, active and set are not undone.
    #expect(scene.state.rotationLock)
  }

  @Test("lock true in portrait or on a pad gives keep") func keeps() throws {
    #expect(try answers("{}", "'lock': true") == ["keep"])
    #expect(
      try answers("{'device': {'idiom': 'pad'}}", "'device': 'landscapeLeft'", "'lock': true")
        == ["rotate landscapeRight", "keep"])
  }

  @Test("lock false re-evaluates", arguments: ["phone", "pad"]) func unlock(idiom: String) throws {
    #expect(
      try answers(
        "{'device': {'idiom': '\(idiom)', 'rotationLock': true}}", "'device': 'landscapeLeft'",
        "'lock': false")
        == ["refuse rotationLocked", "rotate landscapeRight"])
  }

  @Test("lock false with a flat device gives keep") func unlockFlat() throws {
    #expect(
      try answers(
        "{'device': {'rotationLock': true}}", "'device': 'landscapeLeft'", "'device': 'faceUp'",
        "'lock': false")
        == ["refuse rotationLocked", "keep", "keep"])
  }

  @Test("active true re-evaluates") func active() throws {
    #expect(
      try answers(AutomaticTurnTests.lazy, "'device': 'landscapeLeft'", "'active': true")
        == ["refuse applicationInactive", "rotate landscapeRight"])
  }

  @Test("active false gives keep") func inactive() throws {
    var scene = try Scene()
    #expect(try scene.answer("'active': false") == "keep")
    #expect(!scene.state.active)
    #expect(try scene.last.why.rule == .stateOnly)
  }

  @Test("A controller that does not ignore rotation while inactive rotates")
  func turnsInactive() throws {
    #expect(
      try answers("{}", "'active': false", "'device': 'landscapeLeft'", "'active': true")
        == ["keep", "rotate landscapeRight", "keep"])
  }

  @Test("A repeated lock or active event gives keep") func repeating() throws {
    var scene = try Scene("{'controllers': {'a': {}}}")
    try scene.send("'device': 'landscapeLeft'")
    try scene.send("'lock': true")
    try scene.send("'rotate': 'landscapeLeft'")
    #expect(try scene.answer("'lock': true") == "keep")
    #expect(scene.app == "landscapeLeft")
    #expect(try scene.last.why.rule == .repeated)
    #expect(try scene.answer("'active': true") == "keep")
    #expect(try scene.last.why.rule == .repeated)
    try scene.send("'lock': false")
    try scene.send("'set': 'a', 'supported': []")
    #expect(try scene.answer("'lock': false") == "keep")
    try scene.send("'active': false")
    #expect(try scene.answer("'active': false") == "keep")
  }

  @Test("A repeated device orientation is evaluated again") func deviceAgain() throws {
    #expect(
      try answers(
        "{'controllers': {'a': {'supported': ['portrait']}}}", "'device': 'landscapeLeft'",
        "'set': 'a', 'supported': ['all']", "'device': 'landscapeLeft'")
        == ["refuse notSupported", "keep", "rotate landscapeRight"])
  }
}
