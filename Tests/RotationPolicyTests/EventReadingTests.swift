import UprightOrientation
import UprightPolicy
import Testing

@Suite("Reading and writing events") struct EventReadingTests {
  @Test(
    "Every kind of event",
    arguments: [
      ("{'at': 3.2, 'device': 'landscapeLeft'}", RotationEvent.Action.device(.landscapeLeft)),
      ("{'at': 3.2, 'gravity': [0.02, -0.98, 0.1]}", .gravity(x: 0.02, y: -0.98, z: 0.1)),
      ("{'at': 4, 'rotate': 'landscapeRight'}", .rotate(.landscapeRight)),
      ("{'at': 5, 'lock': true}", .lock(true)),
      ("{'at': 6, 'active': false}", .active(false)),
      (
        "{'at': 7, 'present': 'player', 'style': 'fullScreen'}",
        .present("player", style: .fullScreen)
      ),
      ("{'at': 7, 'present': 'player'}", .present("player", style: nil)),
      ("{'at': 8, 'dismiss': true}", .dismiss),
      ("{'at': 8, 'push': 'detail', 'onto': 'live'}", .push("detail", onto: "live")),
      ("{'at': 9, 'pop': 'live'}", .pop("live")),
      ("{'at': 9, 'select': 'mine', 'in': 'tabs'}", .select("mine", in: "tabs")),
    ]) func table(line: String, action: RotationEvent.Action) throws
  {
    let event = try #require(try RotationEvent.parse(line: json(line), number: 7))
    #expect(event.action == action)
    #expect(event.line == 7)
    // The payload is the event without its time.
    let value = try JSONValue(parsing: json(line))
    #expect(try RotationEvent(event.json) == event)
    guard case .object(let members) = value else { return }
    #expect(event.payload == .object(members.filter { $0.key != "at" }))
  }

  @Test(
    "set is written with the original words",
    arguments: [
      "{'at':9.0,'set':'player','shouldAutorotate':false,'supported':['landscape']}",
      "{'at':9.0,'set':'player','shouldAutorotate':'manual','supported':['portrait','landscapeRight'],'preferred':'portrait','ignoresRotationWhileInactive':true,'captureEnabledIn':['all'],'accepts':[]}",
      "{'at':9.0,'set':'application','delegate':['allButUpsideDown']}",
    ]) func set(line: String) throws
  {
    let event = try #require(try RotationEvent.parse(line: json(line), number: 1))
    #expect(event.json.compact == String(decoding: json(line), as: UTF8.self))
  }

  @Test("JSON Lines: blank lines, CRLF, a byte order mark, no line break at the end") func lines()
    throws
  {
    let text = "\u{FEFF}{'at': 1, 'lock': true}\r\n\r\n   \n{'at': 1, 'lock': false}"
    let events = try RotationEvent.parse(jsonLines: json(text))
    #expect(events.map(\.action) == [.lock(true), .lock(false)])
    #expect(events.map(\.line) == [1, 4])
    #expect(try RotationEvent.parse(jsonLines: []).isEmpty)
    #expect(try RotationEvent.parse(line: "  \r\n", number: 1) == nil)
    #expect(try RotationEvent.parse(line: "", number: 1) == nil)
  }

  @Test("Events can be read in pieces", arguments: [1, 2, 7, 30, 1000])
  func pieces(size: Int) throws {
    let text = json(
      "{'at': 1, 'lock': true}\r\n\n{'at': 1, 'lock': false}\n{'at': 2, 'dismiss': true}")
    var reader = EventReader()
    var events: [RotationEvent] = []
    for start in stride(from: 0, to: text.count, by: size) {
      events += try reader.read(Array(text[start..<min(text.count, start + size)]))
    }
    if let last = try reader.finish() { events.append(last) }
    #expect(try events == RotationEvent.parse(jsonLines: text))
    #expect(events.map(\.line) == [1, 3, 4])
    #expect(try reader.finish() == nil)
  }

  @Test("A line without end is rejected at the maximum length") func endless() throws {
    var reader = EventReader()
    _ = try reader.read(json("{'at': 1, 'lock': true}\n"))
    let error = try policyError {
      for _ in 0...EventReader.longestLine { _ = try reader.read([0]) }
    }
    #expect(error.path == "line 2" && error.message.contains("longer"))
  }

  @Test("Words are read ignoring case and written in camelCase") func words() throws {
    let event = try #require(
      try RotationEvent.parse(line: json("{'at': 1, 'device': 'PORTRAITUPSIDEDOWN'}"), number: 1))
    #expect(event.payload.compact == #"{"device":"portraitUpsideDown"}"#)
  }

  @Test(
    "JSON: printing and parsing give an equal value",
    arguments: [
      #"{"a":[1.5,-0.25,1e-07,true,null,"x"],"b":{"c":{}}}"#, "[]", #""\"\\\n\r\t\u0001é😀""#,
      "[0.1,100000000000000000.0,1e+300]",
    ]) func roundTrip(text: String) throws
  {
    let value = try JSONValue(parsing: text.utf8)
    #expect(try JSONValue(parsing: value.compact.utf8) == value)
    #expect(try JSONValue(parsing: value.pretty.utf8) == value)
  }

  @Test("JSON: escapes") func escapes() throws {
    #expect(
      try JSONValue(parsing: #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#.utf8)
        == .string("\"\\/\u{8}\u{C}\n\r\té😀"))
  }

  @Test("JSON: numbers are printed with the fewest digits") func numbers() {
    #expect(JSONValue.number(3).compact == "3.0")
    #expect(JSONValue.number(0.1).compact == "0.1")
    #expect(JSONValue.integer(3).compact == "3")
    #expect(JSONValue.number(.nan).compact == "null")
    let repeated: JSONValue = .array([0, -0.0, 0.0, 2.5, 2.5, .nan, .nan, 2.5].map { .number($0) })
    #expect(repeated.compact == "[0.0,-0.0,0.0,2.5,2.5,null,null,2.5]")
  }

  @Test("JSON: only control characters, quotation marks and backslashes are escaped")
  func escapedCharacters() {
    let text = "plain é😀 \"quoted\" \\ \n\r\t\u{0}\u{1F}\u{7F}"
    #expect(
      JSONValue.string(text).compact
        == #""plain é😀 \"quoted\" \\ \n\r\t\u0000\u001f\u007f""#)
    #expect(JSONValue.string("").compact == #""""#)
  }

  @Test("JSON: a flat value is on one line up to 100 bytes") func lineWidth() {
    // {"a": "", "b": 0.25} has 20 bytes, ["", 0.25] has 10.
    for (length, isFlat) in [(80, true), (81, false)] {
      let text = String(repeating: "x", count: length)
      let object: JSONValue = ["a": .string(text), "b": .number(0.25)]
      #expect(object.pretty.contains("\n") != isFlat)
      // An escape sequence counts as it is written.
      let escaped: JSONValue = ["a": .string(text.dropLast() + "\n"), "b": .number(0.25)]
      #expect(escaped.pretty.contains("\n"))
    }
    for (length, isFlat) in [(90, true), (91, false)] {
      let list: JSONValue = [.string(String(repeating: "x", count: length)), .number(0.25)]
      #expect(list.pretty.contains("\n") != isFlat)
    }
    #expect(!JSONValue.string(String(repeating: "x", count: 200)).pretty.contains("\n"))
  }

  @Test("JSON: pretty prints flat values on one line") func pretty() {
    let value: JSONValue = [
      "a": .number(1), "b": ["x", "y"], "c": ["d": ["e": []]], "f": .array([]),
    ]
    #expect(
      value.pretty == """
        {
          "a": 1.0,
          "b": ["x", "y"],
          "c": {
            "d": {"e": []}
          },
          "f": []
        }
        """)
  }
}
