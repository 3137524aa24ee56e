import UprightOrientation
import UprightPolicy
import Testing

@Suite("Tree events and set") struct TreeEventTests {
  static let policy = """
    {'root': 't', 'controllers': {
      't': {'kind': 'tab', 'authority': 'visibleChild', 'children': ['n', 'b']},
      'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['a']},
      'a': {}, 'b': {}, 'c': {}, 'd': {},
      'm': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['e']}, 'e': {}}}
    """

  @Test("dismiss without presentation gives keep and a warning") func nothingPresented() throws {
    var scene = try Scene(Self.policy)
    #expect(try scene.answer("'dismiss': true") == "keep")
    #expect(try scene.last.warning?.contains("dismiss") == true)
  }

  @Test("pop of the last controller gives keep and a warning") func oneLeft() throws {
    var scene = try Scene(Self.policy)
    #expect(try scene.answer("'pop': 'n'") == "keep")
    #expect(try scene.last.warning?.contains("\"n\"") == true)
    try scene.send("'push': 'c', 'onto': 'n'")
    try scene.send("'pop': 'n'")
    #expect(try scene.last.warning == nil)
    #expect(try scene.last.why.controller == "a")
  }

  @Test("Presentations are stacked; dismiss removes the topmost") func stack() throws {
    var scene = try Scene(Self.policy)
    try scene.send("'present': 'c'")
    try scene.send("'present': 'm'")
    #expect(scene.state.presentations.map(\.controller) == ["c", "m"])
    #expect(try scene.last.why.controller == "e")
    #expect(try scene.last.why.containers == ["m"])
    try scene.send("'dismiss': true")
    #expect(scene.state.presentations.map(\.controller) == ["c"])
  }

  @Test(
    "Invalid events",
    arguments: [
      ("'present': 'nobody'", "there is no controller \"nobody\""),
      ("'push': 'c', 'onto': 'nobody'", "there is no controller \"nobody\""),
      ("'push': 'nobody', 'onto': 'n'", "there is no controller \"nobody\""),
      ("'pop': 'nobody'", "there is no controller \"nobody\""),
      ("'select': 'nobody', 'in': 't'", "there is no controller \"nobody\""),
      ("'select': 'b', 'in': 'nobody'", "there is no controller \"nobody\""),
      ("'set': 'nobody', 'supported': []", "there is no controller \"nobody\""),
      ("'push': 'c', 'onto': 't'", "\"t\" is not a navigation controller"),
      ("'push': 'c', 'onto': 'a'", "\"a\" is not a navigation controller"),
      ("'pop': 't'", "\"t\" is not a navigation controller"),
      ("'select': 'a', 'in': 'n'", "\"n\" is not a tab controller"),
      ("'select': 'c', 'in': 't'", "\"c\" is not a tab of \"t\""),
      ("'present': 't'", "\"t\" is already in the tree"),
      ("'present': 'a'", "\"a\" is already in the tree"),
      ("'push': 'a', 'onto': 'n'", "\"a\" is already in the tree"),
      ("'push': 'b', 'onto': 'n'", "\"b\" is already in the tree"),
      ("'push': 'n', 'onto': 'n'", "\"n\" is already in the tree"),
      ("'push': 't', 'onto': 'm'", "\"t\" is already in the tree"),
      ("'push': 'm', 'onto': 'm'", "\"m\" is already in the tree"),
    ]) func badInput(body: String, message: String) throws
  {
    var scene = try Scene(Self.policy)
    let before = scene.state
    let error = try policyError { try scene.send(body) }
    #expect(error.message == message)
    #expect(error.path == "line 1")
    #expect(scene.state == before)
    // The event is rejected and the session continues.
    #expect(try scene.answer("'device': 'landscapeLeft'") == "rotate landscapeRight")
    #expect(try scene.last.eventIndex == 0)
  }

  @Test("A popped or dismissed controller can be used again") func again() throws {
    var scene = try Scene(Self.policy)
    try scene.send("'push': 'c', 'onto': 'n'")
    try scene.send("'pop': 'n'")
    try scene.send("'present': 'c'")
    let error = try policyError { try scene.send("'push': 'c', 'onto': 'n'") }
    #expect(error.message == "\"c\" is already in the tree")
    try scene.send("'dismiss': true")
    try scene.send("'push': 'c', 'onto': 'n'")
    #expect(try scene.last.why.controller == "c")
  }

  @Test("A navigation controller can be filled before it is in the tree") func detached() throws {
    var scene = try Scene(Self.policy)
    #expect(try scene.answer("'push': 'c', 'onto': 'm'") == "keep")
    #expect(throws: PolicyError.self) { try scene.send("'push': 'c', 'onto': 'm'") }
    try scene.send("'push': 'c', 'onto': 'n'")
    // Now c would have two parents.
    let error = try policyError { try scene.send("'present': 'm'") }
    #expect(error.message == "\"c\" is already in the tree")
    try scene.send("'pop': 'n'")
    try scene.send("'present': 'm'")
    #expect(try scene.last.why.controller == "c")
  }

  @Test("set causes no rotation or validation; new answers apply at the next evaluation") func set()
    throws
  {
    var scene = try Scene(Self.policy)
    try scene.send("'device': 'landscapeLeft'")
    #expect(try scene.answer("'set': 'a', 'supported': ['portrait']") == "keep")
    #expect(try scene.last.allowed == [.portrait])
    #expect(scene.app == "landscapeRight")
    #expect(try scene.answer("'set': 'a', 'supported': [], 'preferred': 'portrait'") == "keep")
    #expect(try scene.answer("'device': 'landscapeLeft'") == "invalid common")
    #expect(
      try scene.answer("'set': 'a', 'supported': ['all'], 'shouldAutorotate': false") == "keep")
    #expect(try scene.answer("'device': 'landscapeRight'") == "refuse autorotationDisabled")
    #expect(try scene.answer("'set': 'a', 'shouldAutorotate': true") == "keep")
    #expect(try scene.answer("'device': 'landscapeRight'") == "rotate landscapeLeft")
  }

  @Test("set application delegate") func setApplication() throws {
    var scene = try Scene("{'application': {'infoPlist': ['portrait']}}")
    #expect(try scene.answer("'set': 'application', 'delegate': ['all']") == "keep")
    #expect(try scene.answer("'device': 'landscapeLeft'") == "rotate landscapeRight")
    #expect(try scene.answer("'set': 'application', 'delegate': []") == "keep")
    #expect(try scene.last.allowed == [.portrait])
    #expect(try scene.answer("'device': 'landscapeRight'") == "refuse notSupported")
  }

  @Test("set ignoresRotationWhileInactive and captureEnabledIn") func setOthers() throws {
    var scene = try Scene(Self.policy)
    try scene.send("'set': 'a', 'ignoresRotationWhileInactive': true")
    try scene.send("'set': 'a', 'captureEnabledIn': ['portrait']")
    try scene.send("'active': false")
    #expect(try scene.answer("'device': 'landscapeLeft'") == "refuse applicationInactive")
    #expect(scene.captures == [])
    #expect(try scene.answer("'active': true") == "rotate landscapeRight")
    #expect(scene.captures == [false])
  }

  @Test("captureEnabledIn applies when a controller is shown and at willAnimate")
  func capture() throws {
    let policy = """
      {'root': 'a', 'controllers': {'a': {}, 'p': {'captureEnabledIn': ['portrait']},
       'none': {'captureEnabledIn': []}}}
      """
    var scene = try Scene(policy)
    try scene.send("'device': 'landscapeLeft'")
    #expect(scene.captures == [])
    try scene.send("'present': 'p'")
    #expect(scene.captures == [false])
    try scene.send("'device': 'portrait'")
    #expect(scene.captures == [false, true])
    try scene.send("'present': 'none'")
    #expect(scene.captures == [false, true, false])
    try scene.send("'dismiss': true")
    try scene.send("'dismiss': true")
    #expect(scene.captures == [false, true, false, true])
    #expect(
      try Scene("{'controllers': {'a': {'captureEnabledIn': []}}}").state.captureEnabled == false)
  }

  @Test("captureEnabledIn is ignored on a pad") func capturePad() throws {
    var scene = try Scene(
      "{'device': {'idiom': 'pad'}, 'controllers': {'a': {'captureEnabledIn': ['portrait']}}}")
    try scene.send("'device': 'landscapeLeft'")
    #expect(scene.captures == [])
    #expect(scene.state.captureEnabled)
  }

  @Test("Events with the same time are decided in file order") func oneInstant() throws {
    var scene = try Scene(Self.policy)
    #expect(try scene.answer("'device': 'landscapeLeft'", at: 2) == "rotate landscapeRight")
    #expect(try scene.answer("'lock': true", at: 2) == "rotate portrait")
    #expect(try scene.answer("'lock': false", at: 2) == "rotate landscapeRight")
    #expect(scene.decisions.map(\.eventIndex) == [0, 1, 2])
  }
}
