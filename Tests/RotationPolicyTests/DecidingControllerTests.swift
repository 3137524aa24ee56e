import UprightOrientation
import UprightPolicy
import Testing

@Suite("The deciding controller") struct DecidingControllerTests {
  /// A container `c` with `authority`, a portrait-only child and one without that restriction.
  private func container(_ kind: String, _ authority: String?, extra: String = "") -> String {
    let authority = authority.map { "'authority': '\($0)', " } ?? ""
    return """
      {'root': 'c', 'device': {'orientation': 'landscapeLeft'}, 'controllers': {
        'c': {'kind': '\(kind)', \(authority) 'children': ['free', 'narrow']\(extra)},
        'free': {'supported': ['allButUpsideDown']}, 'narrow': {'supported': ['portrait']}}}
      """
  }

  private func deciding(_ policy: String) throws -> RotationDecision.Why {
    var scene = try Scene(policy)
    try scene.send("'device': 'landscapeRight'")
    return try scene.last.why
  }

  @Test(
    "container: the container decides; the default of navigation", arguments: [nil, "container"])
  func navigation(authority: String?) throws {
    let policy = container("navigation", authority)
    #expect(try start(policy) == "landscapeRight")
    let why = try deciding(policy)
    #expect(why.controller == "c")
    #expect(why.containers == [])
    #expect(why.controllerMask == .allButUpsideDown)
  }

  @Test("visibleChild: the top of the stack decides") func topOfStack() throws {
    let policy = container("navigation", "visibleChild")
    #expect(try start(policy) == "portrait")
    let why = try deciding(policy)
    #expect(why.controller == "narrow")
    #expect(why.containers == ["c"])
  }

  @Test("visibleChild: the selected tab decides") func selectedTab() throws {
    #expect(try start(container("tab", "visibleChild")) == "landscapeRight")
    #expect(
      try start(container("tab", "visibleChild", extra: ", 'selected': 'narrow'")) == "portrait")
  }

  @Test(
    "everyChild, the default of tab: the intersection of the tabs' answers",
    arguments: [nil, "everyChild"])
  func everyChild(authority: String?) throws {
    let policy = container("tab", authority)
    #expect(try start(policy) == "portrait")
    let why = try deciding(policy)
    #expect(why.controller == "c")
    #expect(why.controllerMask == .portrait)
  }

  @Test("everyChild: the container gives the other two answers") func theOtherTwo() throws {
    let still = """
      {'root': 't', 'controllers': {
        't': {'kind': 'tab', 'children': ['a'], 'shouldAutorotate': false,
              'preferred': 'landscapeLeft'},
        'a': {'preferred': 'portrait'}, 'r': {}}}
      """
    #expect(try answers(still, "'device': 'landscapeLeft'") == ["refuse autorotationDisabled"])
    let presented = """
      {'root': 'r', 'controllers': {
        't': {'kind': 'tab', 'children': ['a'], 'preferred': 'landscapeLeft'},
        'a': {'shouldAutorotate': false, 'preferred': 'portrait'}, 'r': {}}}
      """
    #expect(
      try answers(presented, "'present': 't'", "'device': 'landscapeLeft'")
        == ["rotate landscapeLeft", "rotate landscapeRight"])
  }

  @Test("everyChild uses the resolved answer of each tab") func resolved() throws {
    let policy = """
      {'root': 't', 'device': {'idiom': 'pad'}, 'controllers': {
        't': {'kind': 'tab', 'children': ['n', 'u', 'm']},
        'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['a', 'b'],
              'supported': ['portraitUpsideDown']},
        'a': {'supported': ['portrait']},
        'b': {'supported': ['portrait', 'landscape']},
        'm': {'kind': 'navigation', 'children': ['c'], 'supported': ['all']},
        'c': {'supported': ['portraitUpsideDown']},
        'u': {'kind': 'tab', 'children': ['d', 'e']},
        'd': {'supported': ['portrait', 'landscapeLeft']}, 'e': {}}}
      """
    let why = try deciding(policy)
    #expect(why.controllerMask == [.portrait, .landscapeLeft])
  }

  @Test("visibleChild: the child gives all three answers") func threeAnswers() throws {
    let policy = """
      {'root': 'r', 'controllers': {'r': {},
        'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['a'],
              'supported': ['portrait'], 'preferred': 'portrait', 'shouldAutorotate': true},
        'a': {'supported': ['landscape'], 'preferred': 'landscapeLeft',
              'shouldAutorotate': false}}}
      """
    #expect(
      try answers(policy, "'present': 'n'", "'device': 'landscapeLeft'")
        == ["rotate landscapeLeft", "refuse autorotationDisabled"])
  }

  @Test(
    "A visibleChild container without a child is invalid, with the preferred message",
    arguments: ["navigation", "tab"])
  func noChild(kind: String) throws {
    let error = try policyError {
      _ = try Scene(
        "{'controllers': {'n': {'kind': '\(kind)', 'authority': 'visibleChild'}}}")
    }
    #expect(error.message == preferredMessage)
    #expect(error.path == "controllers.n")
    let policy = """
      {'root': 'a', 'controllers': {'a': {},
        'n': {'kind': '\(kind)', 'authority': 'visibleChild'}}}
      """
    var scene = try Scene(policy)
    #expect(try scene.answer("'present': 'n'") == "invalid preferred")
    #expect(scene.state.presentations.isEmpty)
  }

  @Test("The way from the root through containers, by authority") func nested() throws {
    let policy = """
      {'root': 't', 'controllers': {
        't': {'kind': 'tab', 'authority': 'visibleChild', 'children': ['n', 'x']},
        'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['a']},
        'a': {}, 'x': {}}}
      """
    let why = try deciding(policy)
    #expect(why.controller == "a")
    #expect(why.containers == ["t", "n"])
    #expect(!why.isPresented)
  }

  static let presentations = """
    {'device': {'idiom': 'IDIOM'}, 'root': 'a', 'controllers': {
      'a': {'supported': ['portrait']}, 'b': {'supported': ['landscapeLeft']},
      'c': {'supported': ['landscapeRight']}}}
    """

  @Test("The topmost full-screen presentation decides") func topmost() throws {
    var scene = try Scene(Self.presentations.replacing("IDIOM", with: "pad"))
    #expect(try scene.answer("'present': 'b'") == "rotate landscapeLeft")
    #expect(try scene.answer("'present': 'c', 'style': 'fullScreen'") == "rotate landscapeRight")
    #expect(try scene.last.why.isPresented)
    #expect(try scene.answer("'dismiss': true") == "rotate landscapeLeft")
    #expect(try scene.answer("'dismiss': true") == "rotate portrait")
    #expect(try scene.answer("'dismiss': true") == "keep")
    #expect(try scene.last.warning != nil)
  }

  @Test("On a pad, popovers and sheets do not decide", arguments: ["popover", "sheet"])
  func padPopover(style: String) throws {
    var scene = try Scene(Self.presentations.replacing("IDIOM", with: "pad"))
    #expect(try scene.answer("'present': 'b', 'style': '\(style)'") == "keep")
    #expect(try scene.last.why.rule == .treeOnly)
    #expect(try scene.last.allowed == [.portrait])
    #expect(scene.state.presentations.count == 1)
    // A full-screen presentation over it decides. After its dismissal, the root decides again.
    #expect(try scene.answer("'present': 'c'") == "rotate landscapeRight")
    #expect(scene.state.presentations.map(\.isFullScreen) == [false, true])
    #expect(try scene.answer("'dismiss': true") == "rotate portrait")
    #expect(try scene.answer("'dismiss': true") == "keep")
    #expect(scene.state.presentations.isEmpty)
  }

  @Test("On a pad, a popover over a presentation changes nothing") func popoverOverFullScreen()
    throws
  {
    var scene = try Scene(Self.presentations.replacing("IDIOM", with: "pad"))
    try scene.send("'present': 'b'")
    #expect(try scene.answer("'present': 'c', 'style': 'popover'") == "keep")
    #expect(try scene.last.why.controller == "b")
    #expect(try scene.answer("'dismiss': true") == "keep")
    #expect(try scene.last.warning == nil)
    #expect(scene.app == "landscapeLeft")
  }

  @Test(
    "On a phone, every presentation is full screen",
    arguments: [
      "fullScreen", "popover", "sheet",
    ]) func phonePopover(style: String) throws
  {
    var scene = try Scene(Self.presentations.replacing("IDIOM", with: "phone"))
    #expect(try scene.answer("'present': 'b', 'style': '\(style)'") == "rotate landscapeLeft")
  }

  @Test("everyChild: invalid if a tab has no child to ask") func nobodyToAsk() throws {
    let policy = """
      {'root': 'a', 'controllers': {'a': {}, 't': {'kind': 'tab', 'children': ['b', 'n']}, 'b': {},
        'n': {'kind': 'navigation', 'authority': 'visibleChild'}, 'c': {}}}
      """
    #expect(
      try answers(policy, "'present': 't'", "'push': 'c', 'onto': 'n'", "'present': 't'")
        == ["invalid preferred", "keep", "keep"])
  }

  @Test("everyChild without tabs: the container answers") func noTabs() throws {
    #expect(
      try answers(
        "{'controllers': {'t': {'kind': 'tab', 'supported': ['portrait', 'landscapeLeft']}}}",
        "'device': 'landscapeLeft'", "'device': 'landscapeRight'")
        == ["refuse notSupported", "rotate landscapeLeft"])
  }
}
