import Orientation
import RotationPolicy
import Testing

@Suite("Bad input") struct BadInputTests {
  @Test(
    "a document: the JSON path and the word that was meant",
    arguments: [
      ("{'semantcs': 'ios6'}", "semantcs", "did you mean \"semantics\"?"),
      ("{'semantics': 'ios7'}", "semantics", "did you mean"),
      ("{'semantics': 6}", "semantics", "write"),
      ("{'device': {'idom': 'phone'}}", "device.idom", "did you mean \"idiom\"?"),
      ("{'device': {'idiom': 'tablet'}}", "device.idiom", "use one of phone, pad"),
      ("{'device': {'orientation': 'landscape'}}", "device.orientation", "use one of"),
      (
        "{'device': {'orientation': 'portrate'}}", "device.orientation",
        "did you mean \"portrait\"?"
      ),
      ("{'device': {'rotationLock': 1}}", "device.rotationLock", "write true or false"),
      ("{'device': []}", "device", "write an object"),
      ("{'application': {'infoPlist': 'portrait'}}", "application.infoPlist", "write a list"),
      (
        "{'application': {'delegate': ['all', 'al']}}", "application.delegate[1]",
        "did you mean \"all\"?"
      ),
      ("{'application': {'delegate': ['unknown']}}", "application.delegate[0]", "use one of"),
      ("{'application': {'active': null}}", "application.active", "write true or false"),
      ("{'application': {'actve': true}}", "application.actve", "did you mean \"active\"?"),
      (
        "{'controllers': {'list': {'suported': []}}}", "controllers.list.suported",
        "did you mean \"supported\"?"
      ),
      (
        "{'controllers': {'list': {'Supported': []}}}", "controllers.list.Supported",
        "did you mean \"supported\"?"
      ),
      (
        "{'controllers': {'list': {'supported': ['portrait', 'landscapeleftt']}}}",
        "controllers.list.supported[1]", "did you mean \"landscapeLeft\"?"
      ),
      (
        "{'controllers': {'list': {'supported': ['faceUp']}}}", "controllers.list.supported[0]",
        "use one of"
      ),
      ("{'controllers': {'list': {'supported': [[]]}}}", "controllers.list.supported[0]", "write"),
      (
        "{'controllers': {'list': {'preferred': ['portrait', 'landscapeLeft']}}}",
        "controllers.list.preferred", "only one"
      ),
      (
        "{'controllers': {'list': {'preferred': 'landscape'}}}", "controllers.list.preferred",
        "only one"
      ),
      (
        "{'controllers': {'list': {'preferred': 'unknown'}}}", "controllers.list.preferred",
        "use one of"
      ),
      (
        "{'controllers': {'list': {'shouldAutorotate': 'manuel'}}}",
        "controllers.list.shouldAutorotate", "did you mean \"manual\"?"
      ),
      (
        "{'controllers': {'list': {'shouldAutorotate': 0}}}", "controllers.list.shouldAutorotate",
        "write"
      ),
      (
        "{'controllers': {'list': {'kind': 'navgation'}}}", "controllers.list.kind",
        "did you mean \"navigation\"?"
      ),
      (
        "{'controllers': {'list': {'authority': 'visiblechld', 'kind': 'tab'}}}",
        "controllers.list.authority", "did you mean \"visibleChild\"?"
      ),
      ("{'controllers': {'list': {'children': ['x']}}}", "controllers.list.children", "kind"),
      ("{'controllers': {'list': {'selected': 'x'}}}", "controllers.list.selected", "kind"),
      (
        "{'controllers': {'list': {'authority': 'visibleChild'}}}", "controllers.list.authority",
        "kind"
      ),
      ("{'controllers': {'application': {}}}", "controllers.application", "another name"),
      ("{'controllers': {'': {}}}", "controllers[\"\"]", "another name"),
      ("{'controllers': {'a.b': {'x': 1}}}", "controllers[\"a.b\"].x", "use one of"),
      ("{'controllers': ['a']}", "controllers", "write an object"),
      ("{'transition': {'style': 'fade'}}", "transition.style", "use one of"),
      ("{'transition': {'duration': -0.1}}", "transition.duration", "seconds from 0"),
      ("{'transition': {'duration': 1e300}}", "transition.duration", "seconds from 0"),
      ("{'transition': {'duration': '1'}}", "transition.duration", "write a number"),
      ("{'stream': {'size': 720}}", "stream.size", "720x1280"),
      ("{'stream': {'sizes': '2x2'}}", "stream.sizes", "did you mean \"size\"?"),
      ("{'root': 'lst', 'controllers': {'list': {}}}", "root", "did you mean \"list\"?"),
      ("{'root': 'list'}", "root", "add it"),
      ("{'root': 3}", "root", "write"),
      ("[]", "the document", "write an object"),
    ]) func documents(text: String, path: String, remedy: String) throws
  {
    let error = try policyError { _ = try document(text) }
    #expect(error.path == path)
    #expect(error.remedy.contains(remedy), "\(error)")
    #expect(!"\(error)".contains("\n"))
  }

  @Test("words are read in upper and lower case") func caseInsensitive() throws {
    let document = try document(
      """
      {'semantics': 'IOS6', 'device': {'idiom': 'PAD', 'orientation': 'LandscapeLEFT'},
       'controllers': {'a': {'supported': ['ALLBUTUPSIDEDOWN'], 'shouldAutorotate': 'Manual',
       'preferred': 'LANDSCAPELEFT'}}, 'transition': {'style': 'CrossFade'}}
      """)
    #expect(document.device.orientation == .landscapeLeft)
    #expect(document.controllers[0].supported == .allButUpsideDown)
    #expect(document.controllers[0].preferred == .landscapeLeft)
    #expect(document.transition.style == .crossfade)
  }

  @Test(
    "a cycle",
    arguments: [
      "{'root': 'a', 'controllers': {'a': {}, 'b': {'kind': 'navigation', 'children': ['b']}}}",
      """
      {'root': 'a', 'controllers': {'a': {'kind': 'tab', 'children': ['b']},
        'b': {'kind': 'navigation', 'children': ['c']}, 'c': {'kind': 'tab', 'children': ['a']}}}
      """,
    ]) func cycle(text: String) throws
  {
    let error = try policyError { _ = try document(text) }
    #expect(error.message.contains("contains itself"))
    #expect(error.path.contains(".children[0]"))
  }

  @Test("a missing controller") func missing() throws {
    let error = try policyError {
      _ = try document(
        "{'root': 'a', 'controllers': {'a': {}, 'n': {'kind': 'tab', 'children': ['a', 'lost']}}}")
    }
    #expect(error.path == "controllers.n.children[1]")
    #expect(error.message == "there is no controller \"lost\"")
  }

  @Test(
    "a controller that stands twice",
    arguments: [
      "{'controllers': {'n': {'kind': 'tab', 'children': ['a', 'a']}, 'a': {}}, 'root': 'n'}",
      """
      {'controllers': {'t': {'kind': 'tab', 'children': ['n', 'a']},
       'n': {'kind': 'navigation', 'children': ['a']}, 'a': {}}, 'root': 't'}
      """,
    ]) func twice(text: String) throws
  {
    #expect(try policyError { _ = try document(text) }.code == .controller)
  }

  @Test("a selected tab that is none") func selected() throws {
    let error = try policyError {
      _ = try document(
        "{'root': 't', 'controllers': {'t': {'kind': 'tab', 'children': ['a'], 'selected': 'b'}, 'a': {}, 'b': {}}}"
      )
    }
    #expect(error.path == "controllers.t.selected")
  }

  @Test("two roots: the key stands twice") func twoRoots() throws {
    let error = try policyError {
      _ = try document("{'root': 'a', 'controllers': {'a': {}, 'b': {}}, 'root': 'b'}")
    }
    #expect(error.message.contains("stands twice"))
  }

  @Test(
    "not JSON: line and column",
    arguments: [
      ("{", "line 1, column 2"), ("{'a': 1,}", "line 1, column 9"),
      ("{\n  'a' 1}", "line 2, column 7"),
      ("", "line 1, column 1"), ("{} {}", "line 1, column 4"), ("{'at': NaN}", "line 1, column 8"),
      ("{'at': -Infinity}", "line 1, column 8"), ("{'at': 01}", "line 1, column 8"),
      ("{'at': 1e999}", "line 1, column 8"), ("{'at': 1.}", "line 1, column 8"),
      ("{'at': .5}", "line 1, column 8"), ("{'at': +5}", "line 1, column 8"),
      ("{'a': 'b", "line 1, column 9"), ("{'a': '\t'}", "line 1, column 8"),
      (#"{'a': '\x'}"#, "line 1, column 10"), (#"{'a': '\ud800'}"#, "line 1, column 14"),
      (#"{'a': '\u12g4'}"#, "line 1, column 10"), ("[1 2]", "line 1, column 4"),
      ("{'a': tru}", "line 1, column 7"), ("{1: 2}", "line 1, column 2"),
    ]) func syntax(text: String, path: String) throws
  {
    let error = try policyError { _ = try document(text) }
    #expect(error.code == .syntax)
    #expect(error.path == path, "\(error)")
  }

  @Test("not UTF-8") func notUTF8() throws {
    let error = try policyError {
      _ = try PolicyDocument(json: [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D])
    }
    #expect(error.code == .syntax)
  }

  @Test("a megabyte of nesting", arguments: ["[", "{\"a\":", "{\"controllers\":{\"a\":["])
  func nesting(unit: String) throws {
    let bytes = Array(String(repeating: unit, count: 1_000_000 / unit.utf8.count).utf8)
    #expect(try policyError { _ = try PolicyDocument(json: bytes) }.code == .syntax)
    #expect(
      try policyError { _ = try RotationEvent.parse(jsonLines: bytes) }.path.hasPrefix("line 1"))
  }

  @Test("containers nested ten thousand deep are only slow input") func deepContainers() throws {
    var document = PolicyDocument()
    let depth = 10_000
    for index in 0..<depth {
      var controller = PolicyDocument.Controller(name: "c\(index)")
      if index < depth - 1 {
        controller.kind = index % 2 == 0 ? .navigation : .tab
        controller.authority = index % 3 == 0 ? .everyChild : .visibleChild
        controller.children = ["c\(index + 1)"]
      }
      document.controllers.append(controller)
    }
    document.root = "c0"
    var reducer = try RotationReducer(document)
    _ = try reducer.reduce(RotationEvent(at: 1, .device(.landscapeLeft)))
    #expect(reducer.state.appOrientation == .landscapeRight)
    document.controllers[depth - 1].kind = .tab
    document.controllers[depth - 1].children = ["c0"]
    #expect(throws: PolicyError.self) { try RotationReducer(document) }
  }

  @Test("a document made in code is judged like one that was read") func inCode() throws {
    var document = PolicyDocument()
    document.transition.duration = .nan
    #expect(throws: PolicyError.self) { try RotationReducer(document) }
    document.transition.duration = .infinity
    #expect(throws: PolicyError.self) { try RotationReducer(document) }
    document = PolicyDocument()
    document.controllers = [.init(name: "a"), .init(name: "a")]
    document.root = "a"
    #expect(throws: PolicyError.self) { try RotationReducer(document) }
    document.controllers = [.init(name: "application")]
    #expect(throws: PolicyError.self) { try RotationReducer(document) }
    document = PolicyDocument()
    document.application.infoPlist = InterfaceOrientationMask(rawValue: 1 << 40)
    document.controllers = [.init(name: "a")]
    document.root = "a"
    document.controllers[0].supported = InterfaceOrientationMask(rawValue: -1)
    document.controllers[0].preferred = .unknown
    _ = try? RotationReducer(document)
  }

  @Test(
    "events: the line and what was meant",
    arguments: [
      ("{'at': 1, 'devise': 'portrait'}", "line 1, devise", "did you mean \"device\"?"),
      (
        "{'at': 1, 'device': 'landscapeRigth'}", "line 1, device",
        "did you mean \"landscapeRight\"?"
      ),
      ("{'at': 1, 'rotate': 'unknown'}", "line 1, rotate", "use one of"),
      ("{'at': 1, 'rotate': 'faceUp'}", "line 1, rotate", "use one of"),
      ("{'at': 1, 'rotate': 'landscape'}", "line 1, rotate", "only one"),
      ("{'device': 'portrait'}", "line 1", "add \"at\""),
      ("{'at': 1}", "line 1", "add one of"),
      ("{'at': -1, 'device': 'portrait'}", "line 1, at", "seconds from 0"),
      ("{'at': -0.0001, 'lock': true}", "line 1, at", "seconds from 0"),
      ("{'at': 1e300, 'lock': true}", "line 1, at", "seconds from 0"),
      ("{'at': '1', 'lock': true}", "line 1, at", "write a number"),
      ("{'at': true, 'lock': true}", "line 1, at", "write a number"),
      ("{'at': NaN, 'lock': true}", "line 1, column 8", "finite number"),
      ("{'at': 1, 'lock': 'yes'}", "line 1, lock", "write true or false"),
      ("{'at': 1, 'active': 1}", "line 1, active", "write true or false"),
      ("{'at': 1, 'gravity': [0, -1]}", "line 1, gravity", "write three"),
      ("{'at': 1, 'gravity': [0, -1, 0, 0]}", "line 1, gravity", "write three"),
      ("{'at': 1, 'gravity': [0, '1', 0]}", "line 1, gravity[1]", "write a number"),
      ("{'at': 1, 'gravity': 1}", "line 1, gravity", "write a list"),
      (
        "{'at': 1, 'present': 'a', 'style': 'fullscren'}", "line 1, style",
        "did you mean \"fullScreen\"?"
      ),
      ("{'at': 1, 'present': 'a', 'onto': 'b'}", "line 1, onto", "use one of at, present, style"),
      ("{'at': 1, 'present': 1}", "line 1, present", "write"),
      ("{'at': 1, 'present': ''}", "line 1, present", "name one"),
      ("{'at': 1, 'dismiss': false}", "line 1, dismiss", "write true"),
      ("{'at': 1, 'push': 'a'}", "line 1", "add \"onto\""),
      ("{'at': 1, 'push': 'a', 'in': 'b'}", "line 1, in", "use one of"),
      ("{'at': 1, 'select': 'a'}", "line 1", "add \"in\""),
      ("{'at': 1, 'set': 'a'}", "line 1", "add"),
      ("{'at': 1, 'set': 'application'}", "line 1", "add \"delegate\""),
      (
        "{'at': 1, 'set': 'application', 'supported': []}", "line 1, supported",
        "use one of delegate"
      ),
      ("{'at': 1, 'set': 'a', 'delegate': []}", "line 1, delegate", "use one of"),
      ("{'at': 1, 'set': 'a', 'supported': ['upsidedown']}", "line 1, supported[0]", ""),
      ("{'at': 1, 'set': 'a', 'suported': []}", "line 1, suported", "did you mean \"supported\"?"),
      ("{'at': 1, 'device': 'portrait', 'lock': true}", "line 1", "two events"),
      ("'device'", "line 1", "write an object"),
      ("[1]", "line 1", "write an object"),
      ("{'at': 1,", "line 1, column 10", ""),
    ]) func events(text: String, path: String, remedy: String) throws
  {
    let error = try policyError { _ = try RotationEvent.parse(jsonLines: json(text)) }
    #expect(error.path == path, "\(error)")
    #expect(error.remedy.contains(remedy), "\(error)")
  }

  @Test("time going backwards names the line") func backwards() throws {
    let error = try policyError {
      _ = try RotationEvent.parse(
        jsonLines: json(
          "{'at': 2, 'lock': true}\n\n{'at': 2, 'lock': true}\r\n{'at': 1.5, 'lock': true}\n"))
    }
    #expect(error.code == .time)
    #expect(error.path == "line 4")
    #expect(
      "\(error)" == "the time goes backwards, from 2.0 to 1.5: line 4: sort the events by \"at\"")
  }

  @Test(
    "events made in code: NaN, infinite, negative, backwards",
    arguments: [
      Double.nan, .infinity, -.infinity, -1, 1e300, 0.5,
    ]) func codeTimes(at: Double) throws
  {
    var reducer = try RotationReducer(PolicyDocument())
    _ = try reducer.reduce(RotationEvent(at: 1, .device(.portrait)))
    let before = reducer.state
    #expect(throws: PolicyError.self) {
      try reducer.reduce(RotationEvent(at: at, .device(.landscapeLeft)))
    }
    #expect(reducer.state == before)
  }

  @Test("a NaN or infinite gravity reading is bad input", arguments: [Double.nan, .infinity])
  func gravity(value: Double) throws {
    var reducer = try RotationReducer(PolicyDocument())
    #expect(throws: PolicyError.self) {
      try reducer.reduce(RotationEvent(at: 1, .gravity(x: value, y: 0, z: 0)))
    }
    #expect(throws: PolicyError.self) {
      try reducer.reduce(RotationEvent(at: 1, .rotate(.unknown)))
    }
    for extreme in [1e308, -1e308, .leastNonzeroMagnitude, 0] {
      _ = try reducer.reduce(RotationEvent(at: 1, .gravity(x: extreme, y: extreme, z: extreme)))
    }
  }

  @Test("a message stays on one line whatever a file holds") func oneLine() throws {
    let error = try policyError {
      _ = try document(#"{'a\nb\u001b[31m\u2028\u202e': 1}"#)
    }
    #expect(
      !"\(error)".unicodeScalars.contains {
        $0.value < 0x20 || $0 == "\u{2028}" || $0 == "\u{202E}"
      })
    let long = try policyError { _ = try document("{'\(String(repeating: "x", count: 9999))': 1}") }
    #expect("\(long)".utf8.count < 400)
  }
}
