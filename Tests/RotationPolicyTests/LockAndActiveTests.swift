import Orientation
import RotationPolicy
import Testing

@Suite("lock and active") struct LockAndActiveTests {
  @Test("lock true on a phone in any orientation but portrait asks 4 to 8 with target portrait")
  func phoneTurnsToPortrait() throws {
    var scene = try Scene()
    try scene.send("'device': 'landscapeLeft'")
    #expect(try scene.answer("'lock': true") == "rotate portrait")
    #expect(try scene.last.target == .portrait)
    #expect(scene.state.rotationLock)
  }

  @Test("refused: it stays; that is how an app avoids it") func avoided() throws {
    let landscapeOnly = "{'controllers': {'a': {'supported': ['landscape']}}}"
    #expect(try answers(landscapeOnly, "'lock': true") == ["refuse notSupported"])
    var scene = try Scene("{'controllers': {'a': {'supported': ['landscape']}}}")
    try scene.send("'set': 'a', 'shouldAutorotate': false")
    #expect(try scene.answer("'lock': true") == "refuse autorotationDisabled")
    #expect(scene.app == "landscapeRight")
    #expect(scene.state.rotationLock)
  }

  @Test("4 to 8: inactive, and an empty mask") func otherRules() throws {
    var scene = try Scene("{'controllers': {'a': {'ignoresRotationWhileInactive': true}}}")
    try scene.send("'device': 'landscapeLeft'")
    try scene.send("'active': false")
    #expect(try scene.answer("'lock': true") == "refuse applicationInactive")
    try scene.send("'lock': false")
    try scene.send("'active': true")
    try scene.send("'set': 'a', 'supported': []")
    #expect(try scene.answer("'lock': true") == "invalid common")
    // device, lock, active and set stay.
    #expect(scene.state.rotationLock)
  }

  @Test("otherwise keep; on a pad keep") func keeps() throws {
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

  @Test("lock false with the device flat: keep") func unlockFlat() throws {
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

  @Test("active false: keep") func inactive() throws {
    var scene = try Scene()
    #expect(try scene.answer("'active': false") == "keep")
    #expect(!scene.state.active)
  }

  @Test("a controller that does not ignore it turns while inactive") func turnsInactive() throws {
    #expect(
      try answers("{}", "'active': false", "'device': 'landscapeLeft'", "'active': true")
        == ["keep", "rotate landscapeRight", "keep"])
  }

  @Test("repeating a lock or active: keep") func repeating() throws {
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

  @Test("the same device orientation again asks again") func deviceAgain() throws {
    #expect(
      try answers(
        "{'controllers': {'a': {'supported': ['portrait']}}}", "'device': 'landscapeLeft'",
        "'set': 'a', 'supported': ['all']", "'device': 'landscapeLeft'")
        == ["refuse notSupported", "keep", "rotate landscapeRight"])
  }
}
