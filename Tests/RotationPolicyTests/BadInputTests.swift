import UprightOrientation
import UprightPolicy
import Testing

@Suite("Invalid input") struct BadInputTests {
  @Test(
    "An error in a document gives the JSON path and a suggestion",
    arguments: BadInput.documents)
  func documents(text: String, path: String, remedy: String) throws {
    let error = try policyError { _ = try document(text) }
    #expect(error.path == path)
    #expect(remedy.isEmpty || error.remedy.contains(remedy), "\(error)")
    #expect(!"\(error)".contains("\n"))
  }

  @Test(
    "The code of an error gives its kind",
    arguments: [
      ("{'polisy': {}}", PolicyError.Code.unknownKey), ("{'semantics': 'ios7'}", .unknownWord),
      ("{'root': }", .syntax),
    ]) func codes(text: String, code: PolicyError.Code) throws
  {
    #expect(try policyError { _ = try document(text) }.code == code)
  }

  @Test("Words are read ignoring case") func caseInsensitive() throws {
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
    "A cycle",
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

  @Test("A missing controller") func missing() throws {
    let error = try policyError {
      _ = try document(
        "{'root': 'a', 'controllers': {'a': {}, 'n': {'kind': 'tab', 'children': ['a', 'lost']}}}")
    }
    #expect(error.path == "controllers.n.children[1]")
    #expect(error.message == "there is no controller \"lost\"")
  }

  @Test(
    "A controller that appears twice",
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

  @Test("A selected controller that is not a tab") func selected() throws {
    let error = try policyError {
      _ = try document(
        "{'root': 't', 'controllers': {'t': {'kind': 'tab', 'children': ['a'], 'selected': 'b'}, 'a': {}, 'b': {}}}"
      )
    }
    #expect(error.path == "controllers.t.selected")
  }

  @Test("Two roots: the key appears twice") func twoRoots() throws {
    let error = try policyError {
      _ = try document("{'root': 'a', 'controllers': {'a': {}, 'b': {}}, 'root': 'b'}")
    }
    #expect(error.message.contains("appears twice"))
  }

  @Test(
    "A JSON error gives the line and column",
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

  @Test("Text that is not UTF-8") func notUTF8() throws {
    let error = try policyError {
      _ = try PolicyDocument(json: [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D])
    }
    #expect(error.code == .syntax)
  }

  @Test("A megabyte of nesting", arguments: ["[", "{\"a\":", "{\"controllers\":{\"a\":["])
  func nesting(unit: String) throws {
    let bytes = Array(String(repeating: unit, count: 1_000_000 / unit.utf8.count).utf8)
    #expect(try policyError { _ = try PolicyDocument(json: bytes) }.code == .syntax)
    #expect(
      try policyError { _ = try RotationEvent.parse(jsonLines: bytes) }.path.hasPrefix("line 1"))
  }

  @Test("Containers can be nested 1024 deep; more than 1024 controllers are rejected")
  func deepContainers() throws {
    var document = PolicyDocument()
    let depth = 1024
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
    document.controllers = (0...1024).map { PolicyDocument.Controller(name: "c\($0)") }
    let refusal = #expect(throws: PolicyError.self) { try RotationReducer(document) }
    #expect(refusal?.path == "controllers" && refusal?.message.contains("1025") == true)
  }

  @Test("A document that is created in code is validated like one from JSON") func inCode() throws {
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
    "An error in an event gives the line and a suggestion",
    arguments: BadInput.events)
  func events(text: String, path: String, remedy: String) throws {
    let error = try policyError { _ = try RotationEvent.parse(jsonLines: json(text)) }
    #expect(error.path == path, "\(error)")
    #expect(remedy.isEmpty || error.remedy.contains(remedy), "\(error)")
  }

  @Test("A time that goes backwards gives the line") func backwards() throws {
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
    "Invalid times of events created in code: NaN, infinite, negative, backwards",
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

  @Test("A NaN or infinite gravity reading is invalid", arguments: [Double.nan, .infinity])
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

  @Test("A message is one line, whatever the file contains") func oneLine() throws {
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
