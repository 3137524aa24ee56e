import Orientation
import RotationPolicy
import Testing

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

  /// The explanation of the last of `events`.
  private func why(_ policy: String = tabs, _ events: String...) throws -> String {
    var scene = try Scene(policy)
    for event in events { try scene.send(event) }
    return try scene.last.explanation
  }

  @Test("the rule, the masks, their intersection, who decided through which containers")
  func whole() throws {
    #expect(
      try why(Self.tabs, "'device': 'landscapeLeft'")
        == "Rule 8 of the automatic turn: landscapeRight is allowed and is not the current"
        + " orientation (portrait). `list` decides, asked through `tabs` > `live`: it supports all"
        + " but upside down; the application allows portrait and landscapeRight; both allow portrait"
        + " and landscapeRight.")
  }

  @Test("the number of every rule of the automatic turn")
  func numbers() throws {
    #expect(try why(Self.tabs, "'device': 'faceUp'").hasPrefix("Rule 1 of the automatic turn: "))
    #expect(
      try why(Self.tabs, "'rotate': 'landscapeRight'", "'device': 'portrait'")
        == "Rule 2 of the automatic turn: a manual turn holds until the device moves to another"
        + " upright orientation.")
    #expect(
      try why(Self.tabs, "'lock': true", "'device': 'landscapeLeft'")
        == "Rule 3 of the automatic turn: the system's rotation lock is on.")
    #expect(
      try why(
        Self.tabs, "'present': 'player'", "'active': false", "'rotate': 'portrait'"
      ).hasPrefix(
        "Rule 4 of the manual turn: the app is inactive, and `player` ignores rotation meanwhile."
          + " `player` decides, presented full screen: "))
    #expect(
      try why(Self.tabs, "'select': 'mine', 'in': 'tabs'", "'device': 'landscapeLeft'").hasPrefix(
        "Rule 5 of the automatic turn: `mine` answers no to shouldAutorotate."))
    #expect(
      try why(Self.tabs, "'set': 'list', 'supported': []", "'device': 'landscapeLeft'").hasPrefix(
        "Rule 6 of the automatic turn: `list` and the application have no orientation in common."))
    #expect(
      try why(Self.tabs, "'device': 'landscapeRight'").hasPrefix(
        "Rule 7 of the automatic turn: landscapeLeft is not allowed."))
    #expect(
      try why(Self.tabs, "'device': 'portrait'").hasPrefix(
        "Rule 8 of the automatic turn: the app is in portrait already."))
  }

  @Test("every row of the showing table") func rows() throws {
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
        "Showing, row 5: `wide` in landscapeRight, for portrait is not allowed. It does not follow"
          + " the device, portrait: that is not allowed (rule 7)."))
    #expect(
      try why(
        Self.tabs, "'select': 'mine', 'in': 'tabs'", "'device': 'landscapeLeft'",
        "'select': 'live', 'in': 'tabs'"
      ).contains("Then it catches up with the device, which is held landscapeLeft (rule 8)."))
  }

  @Test("events that ask nothing say so") func nothingAsked() throws {
    let cases: [(String, String)] = [
      ("'dismiss': true", "Nothing is presented to dismiss."),
      ("'active': true", "That was so already."),
      ("'active': false", "Resigning active asks for no turn."),
      ("'lock': true", "The app is in portrait, where a phone locks."),
      ("'set': 'list', 'supported': []", "Answers change without a question"),
      ("'set': 'application', 'delegate': []", "The application's mask changes without a question"),
      ("'push': 'wide', 'onto': 'live'", "Showing"),
      ("'gravity': [0, -1, 0]", "After this reading the device counts as portrait, as before"),
    ]
    for (event, start) in cases { #expect(try why(Self.tabs, event).hasPrefix(start), "\(event)") }
    #expect(
      try why(Self.tabs, "'select': 'mine', 'in': 'tabs'", "'push': 'wide', 'onto': 'live'")
        .hasPrefix("The tree of controllers changes, but `mine` decides as before"))
  }

  @Test("a turn that takes time, what waits for it, and what is superseded") func timed() throws {
    var scene = try Scene(
      "{'transition': {'style': 'hold', 'duration': 0.5}, 'controllers': {'a': {}}}")
    try scene.send("'device': 'landscapeLeft'", at: 1)
    try scene.send("'device': 'portrait'", at: 1.1)
    try scene.send("'device': 'landscapeRight'", at: 1.2)
    scene.advance(to: 9)
    let texts = scene.decisions.map(\.explanation)
    #expect(texts[0].hasSuffix("The turn takes until 1.500 s (didRotate)."))
    #expect(texts[1].contains("only the latest is answered"))
    #expect(
      texts[2].hasPrefix("A turn was in flight, so this was answered at its didRotate, at 1.500 s.")
    )
  }

  @Test("iOS 5 accepts and asks nobody else") func ios5() throws {
    let policy = "{'semantics': 'ios5', 'controllers': {'a': {'accepts': ['portrait']}}}"
    #expect(
      try why(policy, "'device': 'landscapeLeft'")
        == "Rule 7 of the automatic turn: landscapeRight is not allowed. `a` decides: it accepts"
        + " portrait (iOS 5 asks nobody else).")
  }

  @Test("the start") func start() throws {
    let plan = try OrientationPlan(document(Self.tabs))
    #expect(
      plan.start.startExplanation(in: .portrait)
        == "`list` decides, asked through `tabs` > `live`: it supports all but upside down; the"
        + " application allows portrait and landscapeRight; both allow portrait and landscapeRight."
        + " It is shown in portrait, while the device is held portrait.")
  }

  @Test("headlines and phrases") func phrases() throws {
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
    "seconds with three decimals",
    arguments: [
      (0, "0.000"), (3.2, "3.200"), (0.0005, "0.001"), (59.9996, "60.000"), (1e9, "1000000000.000"),
      (.nan, "nan"), (-1, "-1.0"), (.infinity, "inf"),
    ]) func seconds(value: Double, text: String)
  {
    #expect(Milliseconds.text(value) == text)
  }

  @Test("any decision has an explanation, on one line and in whole sentences") func any() throws {
    var dice = Dice(seed: PropertyTests.seed)
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
