import UprightOrientation
import UprightPolicy
import Testing
import UprightTestSupport

@Suite("explain --why") struct ExplanationTests {
  private static let tabs = """
    {'application': {'infoPlist': ['portrait', 'landscapeRight']}, 'root': 'tabs', 'controllers': {
      'tabs': {'kind': 'tab', 'children': ['live', 'mine'], 'authority': 'visibleChild'},
      'live': {'kind': 'navigation', 'children': ['list'], 'authority': 'visibleChild'},
      'list': {}, 'mine': {'shouldAutorotate': false}, 'wide': {'supported': ['landscape']},
      'upside': {'supported': ['portraitUpsideDown']},
      'player': {'preferred': 'landscapeRight', 'ignoresRotationWhileInactive': true},
      'off': {'shouldAutorotate': false, 'supported': ['landscapeLeft']},
      'odd': {'preferred': 'portraitUpsideDown'}}}
    """

  /// Returns the explanation of the last of `events`.
  private func why(_ policy: String = tabs, _ events: String...) throws -> String {
    var scene = try Scene(policy)
    for event in events { try scene.send(event) }
    return try scene.last.explanation
  }

  @Test("The rule, the masks, their intersection, the deciding controller and its containers")
  func whole() throws {
    #expect(
      try why(Self.tabs, "'device': 'landscapeLeft'")
        == "Rule 8 of automatic rotation: landscapeRight is allowed and is not the current"
        + " orientation (portrait). `list` decides, asked through `tabs` > `live`: it supports all"
        + " but upside down; the application allows portrait and landscapeRight; both allow portrait"
        + " and landscapeRight.")
  }

  @Test("The number of every rule of automatic rotation")
  func numbers() throws {
    #expect(try why(Self.tabs, "'device': 'faceUp'").hasPrefix("Rule 1 of automatic rotation: "))
    #expect(
      try why(Self.tabs, "'rotate': 'landscapeRight'", "'device': 'portrait'")
        == "Rule 2 of automatic rotation: a manual rotation holds until the device moves to another"
        + " upright orientation.")
    #expect(
      try why(Self.tabs, "'lock': true", "'device': 'landscapeLeft'")
        == "Rule 3 of automatic rotation: the system rotation lock is on.")
    #expect(
      try why(
        Self.tabs, "'present': 'player'", "'active': false", "'rotate': 'portrait'"
      ).hasPrefix(
        "Rule 4 of manual rotation: the app is inactive, and `player` ignores rotation meanwhile."
          + " `player` decides, presented full screen: "))
    #expect(
      try why(Self.tabs, "'select': 'mine', 'in': 'tabs'", "'device': 'landscapeLeft'").hasPrefix(
        "Rule 5 of automatic rotation: `mine` answers no to shouldAutorotate."))
    #expect(
      try why(Self.tabs, "'set': 'list', 'supported': []", "'device': 'landscapeLeft'").hasPrefix(
        "Rule 6 of automatic rotation: `list` and the application have no orientation in common."))
    #expect(
      try why(Self.tabs, "'device': 'landscapeRight'").hasPrefix(
        "Rule 7 of automatic rotation: landscapeLeft is not allowed."))
    #expect(
      try why(Self.tabs, "'device': 'portrait'").hasPrefix(
        "Rule 8 of automatic rotation: the app is already in portrait."))
  }

  @Test("Every row of the showing table") func rows() throws {
    #expect(
      try why(Self.tabs, "'present': 'upside'").hasPrefix(
        "Showing, row 1: `upside` and the application have no orientation in common, and `upside`"
          + " autorotates."))
    #expect(
      try why(Self.tabs, "'present': 'upside'").hasSuffix(
        "here the event is reported and undone, and the app stays in portrait."))
    #expect(try why(Self.tabs, "'present': 'off'").contains("in the orientation it prefers"))
    #expect(try why(Self.tabs, "'present': 'off'").hasPrefix("Showing, row 2: "))
    #expect(
      try why(Self.tabs, "'set': 'off', 'preferred': 'portrait'", "'present': 'off'").hasPrefix(
        "Showing, row 3: the orientation that `off` prefers, portrait, is not one"))
    #expect(try why(Self.tabs, "'present': 'odd'").hasPrefix("Showing, row 4: "))
    #expect(
      try why(Self.tabs, "'present': 'player'").hasPrefix(
        "Showing, row 5: `player` in the orientation it prefers, landscapeRight, which holds"))
    #expect(
      try why(Self.tabs, "'push': 'wide', 'onto': 'live'").hasPrefix(
        "Showing, row 5: `wide` in landscapeRight, because portrait is not allowed. It does not follow"
          + " the device, portrait: that is not allowed (rule 7)."))
    #expect(
      try why(
        Self.tabs, "'select': 'mine', 'in': 'tabs'", "'device': 'landscapeLeft'",
        "'select': 'live', 'in': 'tabs'"
      ).contains("Then it follows the device, which is held landscapeLeft (rule 8)."))
  }

  @Test("The explanation of events that request no rotation") func nothingAsked() throws {
    let cases: [(String, String)] = [
      ("'dismiss': true", "Nothing is presented to dismiss."),
      ("'active': true", "The state did not change."),
      ("'active': false", "Resigning active requests no rotation."),
      ("'lock': true", "The app is already in portrait, in which a phone locks."),
      ("'set': 'list', 'supported': []", "Changed answers take effect at the next evaluation"),
      ("'set': 'application', 'delegate': []", "The changed application mask takes effect at"),
      ("'push': 'wide', 'onto': 'live'", "Showing"),
      ("'gravity': [0, -1, 0]", "After this reading the device is still portrait"),
    ]
    for (event, start) in cases { #expect(try why(Self.tabs, event).hasPrefix(start), "\(event)") }
    #expect(
      try why(Self.tabs, "'select': 'mine', 'in': 'tabs'", "'push': 'wide', 'onto': 'live'")
        .hasPrefix("The controller tree changes, but `mine` still decides"))
  }

  @Test("An animated rotation, a waiting event and a superseded event") func timed() throws {
    var scene = try Scene(
      "{'transition': {'style': 'hold', 'duration': 0.5}, 'controllers': {'a': {}}}")
    try scene.send("'device': 'landscapeLeft'", at: 1)
    try scene.send("'device': 'portrait'", at: 1.1)
    try scene.send("'device': 'landscapeRight'", at: 1.2)
    scene.advance(to: 9)
    let texts = scene.decisions.map(\.explanation)
    #expect(texts[0].hasSuffix("The rotation ends at 1.500 s (didRotate)."))
    #expect(texts[1].contains("only the latest counts"))
    #expect(
      texts[2].hasPrefix(
        "A rotation was in progress, so this was decided at its didRotate, at 1.500 s.")
    )
  }

  @Test("The explanation under iOS 5 semantics") func ios5() throws {
    let policy = "{'semantics': 'ios5', 'controllers': {'a': {'accepts': ['portrait']}}}"
    #expect(
      try why(policy, "'device': 'landscapeLeft'")
        == "Rule 7 of automatic rotation: landscapeRight is not allowed. `a` decides: it accepts"
        + " portrait (iOS 5 asks only the controller).")
  }

  @Test("The start") func start() throws {
    let plan = try OrientationPlan(document(Self.tabs))
    #expect(
      plan.start.startExplanation(in: .portrait)
        == "`list` decides, asked through `tabs` > `live`: it supports all but upside down; the"
        + " application allows portrait and landscapeRight; both allow portrait and landscapeRight."
        + " It is shown in portrait, while the device is held portrait.")
  }

  @Test("Headlines and event phrases") func phrases() throws {
    var scene = try Scene(Self.tabs)
    var lines: [String] = []
    for event in [
      "'device': 'landscapeLeft'", "'rotate': 'portraitUpsideDown'", "'present': 'upside'",
      "'present': 'player', 'style': 'sheet'",
      "'set': 'list', 'supported': ['landscape', 'portrait']",
      "'set': 'list', 'supported': []",
    ] {
      try scene.send(event)
      lines.append(try "\(scene.last.event.phrase) -> \(scene.last.headline)")
    }
    #expect(
      lines == [
        "device landscapeLeft -> rotate to landscapeRight",
        "the app asks for portraitUpsideDown -> refuse: notSupported",
        "present `upside` -> invalid: UIApplicationInvalidInterfaceOrientation",
        "present `player` as a sheet -> keep landscapeRight",
        "set `list`: supported landscape and portrait -> keep landscapeRight",
        "set `list`: supported none -> keep landscapeRight",
      ])
  }

  @Test(
    "Seconds with three decimals",
    arguments: [
      (0, "0.000"), (3.2, "3.200"), (0.0005, "0.001"), (59.9996, "60.000"), (1e9, "1000000000.000"),
      (.nan, "nan"), (-1, "-1.0"), (.infinity, "inf"),
    ]) func seconds(value: Double, text: String)
  {
    #expect(Milliseconds.text(value) == text)
  }

  @Test("Every decision is explained on one line, in complete sentences") func any() throws {
    var dice = SeededGenerator()
    for round in 0..<400 {
      guard let plan = dice.run() else { continue }
      for entry in plan.entries {
        let text = entry.explanation
        let isWhole = text.hasSuffix(".") && !text.contains("\n") && !text.contains("  ")
        let namesItsRule =
          entry.why.rule.number.map { text.contains("Rule \($0)") } ?? true
        if !isWhole || !namesItsRule || text.contains("..") {
          Issue.record("round \(round), seed \(PropertyTests.seed): \(text)")
        }
      }
    }
  }
}
