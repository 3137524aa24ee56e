import UprightOrientation
import UprightPolicy
import Testing

@Suite("Manual rotation") struct ManualTurnTests {
  @Test("The device orientation does not change") func deviceUntouched() throws {
    var scene = try Scene()
    #expect(try scene.answer("'rotate': 'landscapeRight'") == "rotate landscapeRight")
    #expect(scene.state.device == .portrait)
    #expect(scene.state.hold.isManual)
  }

  @Test("The rotation lock does not prevent it") func lockDoesNotStopIt() throws {
    #expect(
      try answers("{'device': {'rotationLock': true}}", "'rotate': 'landscapeLeft'")
        == ["rotate landscapeLeft"])
  }

  @Test("Rule 4 applies") func inactive() throws {
    #expect(
      try answers(AutomaticTurnTests.lazy, "'rotate': 'landscapeLeft'")
        == ["refuse applicationInactive"])
  }

  @Test("Rule 5: shouldAutorotate manual allows it, false does not") func autorotation() throws {
    func policy(_ value: String) -> String {
      "{'controllers': {'a': {'shouldAutorotate': \(value)}}}"
    }
    #expect(
      try answers(policy("'manual'"), "'rotate': 'landscapeLeft'") == ["rotate landscapeLeft"])
    #expect(
      try answers(policy("false"), "'rotate': 'landscapeLeft'") == ["refuse autorotationDisabled"])
  }

  @Test("Rules 6, 7 and 8 apply") func masks() throws {
    #expect(
      try answers(
        "{'controllers': {'a': {}}}", "'set': 'a', 'supported': []", "'rotate': 'landscapeLeft'")
        == ["keep", "invalid common"])
    #expect(try answers("{}", "'rotate': 'portraitUpsideDown'") == ["refuse notSupported"])
    #expect(try answers("{}", "'rotate': 'portrait'") == ["keep"])
  }

  @Test("Rules 4, 5 and 6 are checked in order") func precedence() throws {
    func policy(lazy: Bool, autorotate: Bool) -> String {
      """
      {'application': {'active': false}, 'controllers': {'a': {
        'ignoresRotationWhileInactive': \(lazy), 'shouldAutorotate': \(autorotate)}}}
      """
    }
    let empty = "'set': 'a', 'supported': []"
    let turn = "'rotate': 'landscapeLeft'"
    #expect(
      try answers(policy(lazy: true, autorotate: false), empty, turn)
        == ["keep", "refuse applicationInactive"])
    #expect(
      try answers(policy(lazy: false, autorotate: false), empty, turn)
        == ["keep", "refuse autorotationDisabled"])
  }

  @Test("A decision keep starts a hold too") func keepHolds() throws {
    #expect(
      try answers(
        "{'device': {'rotationLock': true, 'orientation': 'landscapeLeft'}}",
        "'rotate': 'portrait'", "'lock': false", "'device': 'landscapeLeft'")
        == ["keep", "keep", "keep"])
  }

  @Test("The hold ends when the device moves to another upright orientation")
  func untilTheDeviceMoves() throws {
    var scene = try Scene()
    #expect(try scene.answer("'rotate': 'landscapeRight'") == "rotate landscapeRight")
    for device in ["portrait", "faceUp", "portrait", "unknown", "portrait"] {
      #expect(try scene.answer("'device': '\(device)'") == "keep")
    }
    #expect(try scene.answer("'device': 'landscapeRight'") == "rotate landscapeLeft")
    #expect(!scene.state.hold.isOn)
    #expect(try scene.answer("'device': 'portrait'") == "rotate portrait")
  }

  @Test("The hold ends even if the automatic rotation is refused") func endsWhereRefused() throws {
    #expect(
      try answers(
        "{}", "'rotate': 'landscapeRight'", "'device': 'portraitUpsideDown'",
        "'device': 'portrait'")
        == ["rotate landscapeRight", "refuse notSupported", "rotate portrait"])
  }

  @Test("A refused manual rotation does not start a hold") func refusedDoesNotHold() throws {
    var scene = try Scene("{'device': {'orientation': 'landscapeLeft', 'rotationLock': true}}")
    #expect(try scene.answer("'rotate': 'portraitUpsideDown'") == "refuse notSupported")
    #expect(!scene.state.hold.isOn)
    #expect(try scene.answer("'lock': false") == "rotate landscapeRight")
  }

  @Test("A rotation by the lock ends the hold") func lockEndsIt() throws {
    var scene = try Scene("{'device': {'orientation': 'landscapeRight'}}")
    #expect(try scene.answer("'rotate': 'landscapeRight'") == "rotate landscapeRight")
    #expect(try scene.answer("'lock': true") == "rotate portrait")
    #expect(!scene.state.hold.isOn)
    #expect(try scene.answer("'lock': false") == "rotate landscapeLeft")
  }

  @Test("A refused rotation by the lock does not end the hold") func refusedLock() throws {
    var scene = try Scene("{'controllers': {'a': {'supported': ['landscape']}}}")
    #expect(try scene.answer("'rotate': 'landscapeLeft'") == "rotate landscapeLeft")
    #expect(try scene.answer("'lock': true") == "refuse notSupported")
    #expect(scene.state.hold.isManual)
  }

  @Test("Showing a controller that must rotate ends the hold") func showEndsIt() throws {
    let policy = """
      {'root': 'n', 'controllers': {
        'n': {'kind': 'navigation', 'children': ['a'], 'authority': 'visibleChild'}, 'a': {},
        'p': {'supported': ['portrait']}, 'q': {}}}
      """
    var scene = try Scene(policy)
    try scene.send("'rotate': 'landscapeRight'")
    #expect(try scene.answer("'push': 'q', 'onto': 'n'") == "keep")
    #expect(scene.state.hold.isManual)
    #expect(try scene.answer("'push': 'p', 'onto': 'n'") == "rotate portrait")
    #expect(!scene.state.hold.isOn)
  }
}
