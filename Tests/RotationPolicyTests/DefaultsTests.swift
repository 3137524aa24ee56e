import UprightOrientation
import UprightPolicy
import Testing

@Suite("Defaults of the policy document") struct DefaultsTests {
  @Test("Semantics, device and application") func empty() throws {
    let empty = try document("{}")
    #expect(empty.semantics == .ios6)
    #expect(empty.device.idiom == .phone)
    #expect(empty.device.orientation == .portrait)
    #expect(!empty.device.rotationLock)
    #expect(empty.application.active)
    #expect(empty == PolicyDocument())
  }

  @Test("An empty mask of the application means absent")
  func emptyApplicationMask() throws {
    let policy = "{'application': {'infoPlist': [], 'delegate': []}}"
    #expect(try answers(policy, "'device': 'landscapeLeft'") == ["rotate landscapeRight"])
    let plist = "{'application': {'infoPlist': ['portrait'], 'delegate': []}}"
    #expect(try answers(plist, "'device': 'landscapeLeft'") == ["refuse notSupported"])
  }

  @Test("Without controllers, there is one with default answers") func noControllers() throws {
    let scene = try Scene("{'controllers': {}}")
    #expect(scene.app == "portrait")
  }

  @Test("Without root, the only controller; an error if there are several") func noRoot() throws {
    #expect(
      try answers(
        "{'controllers': {'a': {'supported': ['portrait']}}}", "'rotate': 'landscapeLeft'") == [
          "refuse notSupported"
        ])
    let error = try policyError { _ = try document("{'controllers': {'a': {}, 'b': {}}}") }
    #expect(error.code == .missing)
    #expect(error.remedy.contains("root"))
  }

  @Test(
    "Without infoPlist and delegate: all on a pad, allButUpsideDown on a phone",
    arguments: [
      ("phone", "refuse notSupported"), ("pad", "rotate portraitUpsideDown"),
    ]) func idiomMask(idiom: String, answer: String) throws
  {
    let policy = "{'device': {'idiom': '\(idiom)'}}"
    #expect(try answers(policy, "'device': 'portraitUpsideDown'") == [answer])
  }

  @Test("delegate takes precedence over infoPlist") func delegateWins() throws {
    let wider = "{'application': {'infoPlist': ['portrait'], 'delegate': ['all']}}"
    #expect(try answers(wider, "'device': 'landscapeLeft'") == ["rotate landscapeRight"])
    let narrower = "{'application': {'infoPlist': ['all'], 'delegate': ['portrait']}}"
    #expect(try answers(narrower, "'device': 'landscapeLeft'") == ["refuse notSupported"])
  }

  @Test("An explicit all allows upside down on a phone") func upsideDownOnPhone() throws {
    let policy = """
      {'application': {'delegate': ['all']}, 'controllers': {'a': {'supported': ['all']}}}
      """
    #expect(
      try answers(policy, "'device': 'portraitUpsideDown'") == ["rotate portraitUpsideDown"])
  }

  @Test("A controller autorotates and supports the default of the idiom")
  func controllerDefaults() throws {
    let phone = "{'application': {'delegate': ['all']}, 'controllers': {'a': {}}}"
    #expect(
      try answers(phone, "'device': 'landscapeRight'", "'device': 'portraitUpsideDown'")
        == ["rotate landscapeLeft", "refuse notSupported"])
  }

  @Test("An empty list is an empty mask for a controller") func emptyControllerMask() throws {
    let error = try policyError { _ = try Scene("{'controllers': {'a': {'supported': []}}}") }
    #expect(error.message == nothingInCommon("a"))
    #expect(error.code == .invalidOrientation)
    #expect(error.path == "controllers.a")
  }

  @Test("Without preferred: the current app orientation if supported")
  func preferredIsCurrent() throws {
    let policy = """
      {'root': 'a', 'controllers': {'a': {}, 'b': {'shouldAutorotate': false}}}
      """
    #expect(
      try answers(policy, "'device': 'landscapeLeft'", "'present': 'b'")
        == ["rotate landscapeRight", "keep"])
  }

  @Test("Without preferred: else portrait if supported, else the lowest raw value")
  func preferredFallsBack() throws {
    let policy = """
      {'root': 'a', 'controllers': {'a': {},
        'p': {'shouldAutorotate': false, 'supported': ['portrait', 'landscapeLeft']},
        'l': {'shouldAutorotate': false, 'supported': ['landscape']}}}
      """
    #expect(
      try answers(policy, "'device': 'landscapeLeft'", "'present': 'p'")
        == ["rotate landscapeRight", "rotate portrait"])
    #expect(try answers(policy, "'present': 'l'") == ["rotate landscapeRight"])
  }

  @Test("shouldAutorotate manual means yes only for rotate events")
  func manual() throws {
    let policy = "{'controllers': {'a': {'shouldAutorotate': 'manual'}}}"
    #expect(
      try answers(policy, "'device': 'landscapeLeft'", "'rotate': 'landscapeRight'", "'lock': true")
        == ["refuse autorotationDisabled", "rotate landscapeRight", "refuse autorotationDisabled"])
  }

  @Test("Without selected, a tab container selects its first child") func firstTab() throws {
    let policy = """
      {'root': 't', 'controllers': {
        't': {'kind': 'tab', 'children': ['a', 'b'], 'authority': 'visibleChild'},
        'a': {'supported': ['portrait']}, 'b': {}}}
      """
    #expect(
      try answers(policy, "'device': 'landscapeLeft'", "'select': 'b', 'in': 't'")
        == ["refuse notSupported", "rotate landscapeRight"])
  }

  @Test("Transition: cut, with a duration of 0.3") func transition() throws {
    let document = try document("{}")
    #expect(document.transition.style == .cut)
    #expect(document.transition.duration == 0.3)
    #expect(document.transition.effectiveDuration == 0)
  }

  @Test("Initial orientation: portrait if the application allows it, else the lowest")
  func beforeTheRoot() throws {
    #expect(
      try start("{'application': {'infoPlist': ['landscapeLeft', 'portrait']}}") == "portrait")
    // There is no re-evaluation, so the initial orientation is kept.
    #expect(
      try start(
        """
        {'application': {'infoPlist': ['landscape']},
         'controllers': {'a': {'shouldAutorotate': false}}}
        """) == "landscapeRight")
    #expect(
      try start(
        """
        {'application': {'infoPlist': ['landscapeLeft', 'portraitUpsideDown']},
         'controllers': {'a': {'shouldAutorotate': false, 'supported': ['all']}}}
        """) == "portraitUpsideDown")
  }

  @Test("The root follows the device at the start") func rootReevaluates() throws {
    #expect(try start("{'device': {'orientation': 'landscapeLeft'}}") == "landscapeRight")
    #expect(try start("{'device': {'orientation': 'faceUp'}}") == "portrait")
    #expect(
      try start("{'device': {'orientation': 'landscapeLeft', 'rotationLock': true}}") == "portrait")
  }

  @Test("A document with all keys loads") func example() throws {
    let text = """
      {
        "semantics": "ios6",
        "device": { "idiom": "phone", "orientation": "portrait", "rotationLock": false },
        "application": { "infoPlist": ["portrait", "landscapeLeft", "landscapeRight"], "delegate": ["all"], "active": true },
        "root": "tabs",
        "controllers": {
          "tabs":   { "kind": "tab", "children": ["live", "mine"], "selected": "live", "authority": "visibleChild" },
          "live":   { "kind": "navigation", "children": ["list"], "authority": "visibleChild" },
          "list":   { "shouldAutorotate": false, "supported": ["portrait"], "preferred": "portrait" },
          "mine":   { },
          "player": { "shouldAutorotate": true, "supported": ["allButUpsideDown"], "preferred": "landscapeRight",
                      "ignoresRotationWhileInactive": true, "captureEnabledIn": ["portrait"] }
        },
        "transition": { "style": "cut", "duration": 0.3 },
        "stream": { "size": "720x1280", "captureSize": "720x1280" }
      }
      """
    let document = try PolicyDocument(json: text.utf8)
    #expect(document.controllers.map(\.name) == ["tabs", "live", "list", "mine", "player"])
    #expect(document.stream?.encodeSize == PixelSize(720, 1280))
    let reducer = try RotationReducer(document)
    #expect(reducer.state.appOrientation == .portrait)
  }

  @Test(
    "Every built-in policy loads by its name",
    arguments: [
      "phone", "pad", "portrait", "landscape", "fullscreen-player", "manual",
    ]) func builtIns(name: String) throws
  {
    #expect(PolicyDocument.builtInNames.contains(name))
    let document = try #require(PolicyDocument.builtIn(name))
    let text = try #require(PolicyDocument.builtInJSON(name))
    #expect(try PolicyDocument(json: text.utf8) == document)
    _ = try RotationReducer(document)
  }

  @Test("The behavior of the built-in policies") func builtInBehaviour() throws {
    func run(_ name: String, _ events: String...) throws -> [String] {
      var scene = try Scene(PolicyDocument.builtInJSON(name) ?? "")
      return try [scene.app] + events.map { try scene.answer($0) }
    }
    let turn = "'device': 'landscapeLeft'"
    let upsideDown = "'device': 'portraitUpsideDown'"
    #expect(
      try run("phone", turn, upsideDown)
        == ["portrait", "rotate landscapeRight", "refuse notSupported"])
    #expect(
      try run("pad", turn, upsideDown)
        == ["portrait", "rotate landscapeRight", "rotate portraitUpsideDown"])
    #expect(try run("portrait", turn) == ["portrait", "refuse notSupported"])
    #expect(
      try run("landscape", turn, "'device': 'portrait'", "'device': 'landscapeRight'")
        == ["landscapeRight", "keep", "refuse notSupported", "rotate landscapeLeft"])
    #expect(
      try run("fullscreen-player", turn, "'present': 'player'", "'dismiss': true")
        == ["portrait", "refuse autorotationDisabled", "rotate landscapeRight", "rotate portrait"])
    #expect(
      try run("manual", turn, "'rotate': 'landscapeLeft'")
        == ["portrait", "refuse autorotationDisabled", "rotate landscapeLeft"])
    #expect(PolicyDocument.builtInNames.first == "phone")
    #expect(PolicyDocument.builtIn("phones") == nil)
  }
}
