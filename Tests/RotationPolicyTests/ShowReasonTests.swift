import UprightOrientation
import UprightPolicy
import Testing

@Suite("Showing") struct ShowReasonTests {
  /// A policy with a root `r` and a controller `x` with `answers`, in an application that allows `mask`.
  private func policy(_ mask: String, _ answers: String) -> String {
    """
    {'application': {'infoPlist': [\(mask)]}, 'root': 'n', 'controllers': {
      'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['r']}, 'r': {},
      'x': {\(answers)}}}
    """
  }

  private let ways = ["'present': 'x'", "'push': 'x', 'onto': 'n'"]

  @Test("Row 1: nothing in common and autorotates: invalid, with the first message")
  func firstRow() throws {
    let policy = policy("'portrait'", "'supported': ['landscape'], 'preferred': 'landscapeLeft'")
    for way in ways {
      var scene = try Scene(policy)
      #expect(try scene.answer(way) == "invalid common")
      #expect(try scene.last.reason == nothingInCommon("x"))
      #expect(try scene.last.why.rule == .showingNothingInCommon)
    }
    let any = self.policy("'portrait'", "'supported': ['landscape'], 'preferred': 'portrait'")
    #expect(try answers(any, ways[0]) == ["invalid common"])
  }

  @Test(
    "Row 2: nothing in common: shown in the preferred orientation",
    arguments: ["false", "'manual'"])
  func secondRow(autorotate: String) throws {
    let policy = policy(
      "'portrait'",
      "'supported': ['landscape'], 'preferred': 'landscapeLeft', 'shouldAutorotate': \(autorotate)")
    for way in ways {
      var scene = try Scene(policy)
      #expect(try scene.answer(way) == "rotate landscapeLeft")
      #expect(try scene.last.allowed == [])
      #expect(try scene.last.why.rule == .shownInPreferred)
    }
  }

  @Test("Row 2 without preferred") func secondRowAbsent() throws {
    let policy = policy("'portrait'", "'supported': ['landscape'], 'shouldAutorotate': false")
    #expect(try answers(policy, ways[0]) == ["rotate landscapeRight"])
  }

  @Test("Row 3: nothing in common and preferred not supported: invalid") func thirdRow() throws {
    let policy = policy(
      "'portrait'",
      "'supported': ['landscape'], 'preferred': 'portrait', 'shouldAutorotate': false")
    for way in ways {
      var scene = try Scene(policy)
      #expect(try scene.answer(way) == "invalid preferred")
      #expect(try scene.last.reason == preferredMessage)
      #expect(try scene.last.name == "UIApplicationInvalidInterfaceOrientation")
      #expect(try scene.last.why.rule == .preferredNotSupported)
    }
    let nothing = self.policy("'portrait'", "'supported': [], 'shouldAutorotate': false")
    #expect(try answers(nothing, ways[0]) == ["invalid preferred"])
  }

  @Test("Row 4: preferred not supported: invalid", arguments: ["true", "false", "'manual'"])
  func fourthRow(autorotate: String) throws {
    let policy = policy(
      "'all'",
      "'supported': ['landscape'], 'preferred': 'portrait', 'shouldAutorotate': \(autorotate)")
    for way in ways {
      var scene = try Scene(policy)
      #expect(try scene.answer(way) == "invalid preferred")
      #expect(try scene.last.reason == preferredMessage)
    }
  }

  @Test("Row 5, presented: in the preferred orientation if allowed")
  func presentedInPreferred() throws {
    let policy = policy("'all'", "'preferred': 'landscapeLeft'")
    #expect(try answers(policy, ways[0]) == ["rotate landscapeLeft"])
  }

  @Test("Row 5, presented: else the current one if allowed, else the lowest raw value")
  func presentedElsewhere() throws {
    let current = policy(
      "'portrait', 'landscapeRight'",
      "'preferred': 'landscapeLeft', 'shouldAutorotate': false")
    #expect(try answers(current, ways[0]) == ["keep"])
    let lowest = policy(
      "'portrait', 'landscapeRight'",
      "'supported': ['landscape'], 'preferred': 'landscapeLeft', 'shouldAutorotate': false")
    #expect(try answers(lowest, ways[0]) == ["rotate landscapeRight"])
  }

  @Test("Row 5, not presented: the current one if allowed") func othersKeep()
    throws
  {
    let policy = policy("'all'", "'preferred': 'landscapeLeft', 'shouldAutorotate': false")
    #expect(try answers(policy, ways[1]) == ["keep"])
    #expect(
      try start(
        "{'controllers': {'a': {'preferred': 'landscapeLeft', 'shouldAutorotate': false}}}")
        == "portrait")
  }

  @Test("Row 5, not presented: else as presented") func othersElse() throws {
    let preferred = policy(
      "'all'",
      "'supported': ['landscape'], 'preferred': 'landscapeLeft', 'shouldAutorotate': false")
    #expect(try answers(preferred, ways[1]) == ["rotate landscapeLeft"])
    let lowest = policy(
      "'portrait', 'landscapeRight'",
      "'supported': ['landscape'], 'preferred': 'landscapeLeft', 'shouldAutorotate': false")
    #expect(try answers(lowest, ways[1]) == ["rotate landscapeRight"])
    #expect(
      try start(
        """
        {'controllers': {'a': {'supported': ['landscape'], 'preferred': 'landscapeLeft',
         'shouldAutorotate': false}}}
        """) == "landscapeLeft")
  }

  static let tabs = """
    {'root': 't', 'controllers': {
      't': {'kind': 'tab', 'authority': 'visibleChild', 'children': ['a', 'n', 'l']},
      'a': {}, 'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['b']},
      'b': {'shouldAutorotate': false, 'supported': ['portrait']},
      'l': {'supported': ['landscape'], 'preferred': 'landscapeLeft'}, 'c': {}}}
    """

  @Test(
    "Re-evaluation: a controller that was hidden when the device rotated",
    arguments: ["'pop': 'n'", "'select': 'a', 'in': 't'", "'dismiss': true"])
  func catchesUp(way: String) throws {
    // In each case, a portrait controller is on top while the device is rotated to landscape.
    var scene = try Scene(
      """
      {'root': 't', 'controllers': {
        't': {'kind': 'tab', 'authority': 'visibleChild', 'children': ['n', 'a', 'p'],
              'selected': '\(way.contains("select") ? "p" : "n")'},
        'n': {'kind': 'navigation', 'authority': 'visibleChild',
              'children': \(way.contains("pop") ? "['b', 'q']" : "['b']")},
        'a': {}, 'b': {}, 'p': {'supported': ['portrait']}, 'q': {'supported': ['portrait']},
        's': {'supported': ['portrait']}}}
      """)
    if way.contains("dismiss") { try scene.send("'present': 's'") }
    #expect(try scene.answer("'device': 'landscapeLeft'") == "refuse notSupported")
    #expect(try scene.answer(way) == "rotate landscapeRight")
  }

  @Test("Re-evaluation after a push") func pushCatchesUp() throws {
    let policy = """
      {'root': 'n', 'controllers': {
        'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['p']},
        'p': {'supported': ['portrait']}, 'a': {}}}
      """
    #expect(
      try answers(policy, "'device': 'landscapeLeft'", "'push': 'a', 'onto': 'n'")
        == ["refuse notSupported", "rotate landscapeRight"])
  }

  @Test("Re-evaluation: one rotation, never refuse") func oneTurn() throws {
    // Placed in landscapeLeft, then rotated with the device: in total, portrait to landscapeRight.
    let policy = policy("'all'", "'supported': ['landscape'], 'preferred': 'landscapeLeft'")
    var scene = try Scene(policy)
    try scene.send("'lock': true")
    try scene.send("'device': 'landscapeLeft'")
    try scene.send("'set': 'r', 'supported': ['portrait']")
    try scene.send("'lock': false")
    #expect(try scene.answer(ways[1]) == "rotate landscapeRight")
    #expect(try scene.last.from == .portrait)
    #expect(scene.phases.count == 4)
  }

  @Test(
    "A refused re-evaluation gives keep",
    arguments: [
      "'lock': true", "'active': false",
    ]) func refusedReevaluation(cause: String) throws
  {
    let policy = """
      {'root': 'r', 'controllers': {'r': {'supported': ['portrait']},
        'x': {'ignoresRotationWhileInactive': true}}}
      """
    var scene = try Scene(policy)
    try scene.send("'device': 'landscapeLeft'")
    try scene.send(cause)
    #expect(try scene.answer("'present': 'x'") == "keep")
    #expect(try scene.last.reason == nil)
    let rule: RotationRule = cause.contains("lock") ? .rotationLocked : .applicationInactive
    #expect(try scene.last.why.show?.reevaluation == rule)
  }

  @Test(
    "Re-evaluation only in row 5, and only if the controller autorotates",
    arguments: ["false", "'manual'"])
  func onlyIfItAutorotates(autorotate: String) throws {
    let policy = """
      {'root': 'r', 'controllers': {'r': {'supported': ['portrait']},
        'x': {'shouldAutorotate': \(autorotate)}}}
      """
    #expect(
      try answers(policy, "'device': 'landscapeLeft'", "'present': 'x'")
        == ["refuse notSupported", "keep"])
  }

  @Test("A presentation shown in its explicit preferred holds like a manual rotation")
  func preferredHolds() throws {
    let policy = policy("'all'", "'preferred': 'landscapeRight'")
    var scene = try Scene(policy)
    #expect(try scene.answer("'present': 'x'") == "rotate landscapeRight")
    #expect(scene.state.hold.presentations == 1)
    #expect(try scene.answer("'device': 'portrait'") == "keep")
    #expect(try scene.answer("'device': 'faceUp'") == "keep")
    #expect(try scene.answer("'device': 'landscapeRight'") == "rotate landscapeLeft")
    #expect(try scene.answer("'device': 'portrait'") == "rotate portrait")
  }

  @Test("The hold of a presentation ends at its dismissal") func untilDismissed() throws {
    let policy = policy("'all'", "'preferred': 'landscapeRight'")
    var scene = try Scene(policy)
    try scene.send("'present': 'x'")
    #expect(try scene.answer("'dismiss': true") == "rotate portrait")
    #expect(!scene.state.hold.isOn)
  }

  @Test("A manual rotation during a presentation holds after its dismissal")
  func manualOutlives() throws {
    let policy = policy("'all'", "'preferred': 'landscapeRight'")
    var scene = try Scene(policy)
    try scene.send("'present': 'x'")
    try scene.send("'rotate': 'landscapeLeft'")
    #expect(try scene.answer("'dismiss': true") == "keep")
    #expect(scene.app == "landscapeLeft")
    #expect(try scene.answer("'device': 'portrait'") == "keep")
  }

  @Test("A presentation without preferred does not hold") func absentDoesNotHold() throws {
    let policy = """
      {'root': 'r', 'controllers': {'r': {'supported': ['portrait']}, 'x': {}}}
      """
    #expect(
      try answers(policy, "'device': 'landscapeLeft'", "'present': 'x'")
        == ["refuse notSupported", "rotate landscapeRight"])
  }

  @Test("A presentation that was not shown in its preferred does not hold")
  func notShownInPreferred() throws {
    let policy = policy("'portrait', 'landscapeRight'", "'preferred': 'landscapeLeft'")
    #expect(
      try answers(policy, "'present': 'x'", "'device': 'landscapeLeft'")
        == ["keep", "rotate landscapeRight"])
  }

  @Test("Changes that keep the deciding controller give keep") func treeOnly() throws {
    var scene = try Scene(Self.tabs)
    #expect(try scene.answer("'push': 'c', 'onto': 'n'") == "keep")
    #expect(try scene.last.why.rule == .treeOnly)
    #expect(try scene.answer("'pop': 'n'") == "keep")
    #expect(try scene.last.why.rule == .treeOnly)
    #expect(try scene.answer("'select': 'a', 'in': 't'") == "keep")
    #expect(try scene.last.why.rule == .treeOnly)
  }

  @Test("If the container decides, push and select change only the tree") func container()
    throws
  {
    let policy = """
      {'root': 't', 'controllers': {
        't': {'kind': 'tab', 'children': ['a', 'n']}, 'a': {},
        'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['b']}, 'b': {},
        'p': {'supported': ['portrait']}}}
      """
    var scene = try Scene(policy)
    try scene.send("'device': 'landscapeLeft'")
    #expect(try scene.answer("'select': 'n', 'in': 't'") == "keep")
    // The intersection is smaller now, but it takes effect only at the next evaluation.
    #expect(try scene.answer("'push': 'p', 'onto': 'n'") == "keep")
    #expect(scene.app == "landscapeRight")
    #expect(try scene.last.allowed == [.portrait])
    #expect(try scene.answer("'device': 'landscapeRight'") == "refuse notSupported")
    #expect(try scene.answer("'device': 'portrait'") == "rotate portrait")
  }

  @Test(
    "An invalid change of the tree is undone",
    arguments: [
      "'present': 'bad'", "'push': 'bad', 'onto': 'n'", "'select': 'bad2', 'in': 't'",
    ]) func undone(event: String) throws
  {
    let policy = """
      {'root': 't', 'application': {'infoPlist': ['portrait', 'landscapeRight']}, 'controllers': {
        't': {'kind': 'tab', 'authority': 'visibleChild', 'children': ['n', 'bad2']},
        'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['a']}, 'a': {},
        'bad': {'supported': ['landscapeLeft']}, 'bad2': {'supported': ['landscapeLeft']}}}
      """
    var scene = try Scene(policy)
    try scene.send("'rotate': 'landscapeRight'")
    let before = scene.state
    #expect(try scene.answer(event) == "invalid common")
    #expect(scene.state == before)
    #expect(try scene.last.allowed == [.portrait, .landscapeRight])
    #expect(try scene.last.target == nil)
    // The tree is unchanged: repeating the event raises the same exception, and the controller is not in the tree.
    #expect(try scene.answer(event) == "invalid common")
    #expect(try scene.answer("'device': 'portrait'") == "keep")
  }

  @Test("An invalid pop or dismissal is undone") func undonePop() throws {
    let policy = """
      {'root': 'n', 'controllers': {
        'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['a', 'b']}, 'a': {},
        'b': {}, 'c': {'preferred': 'landscapeLeft'}}}
      """
    var scene = try Scene(policy)
    try scene.send("'set': 'a', 'supported': []")
    #expect(try scene.answer("'pop': 'n'") == "invalid common")
    #expect(try scene.answer("'pop': 'n'") == "invalid common")
    try scene.send("'set': 'b', 'supported': []")
    // The presentation is valid, but the controller below it can't be shown again.
    #expect(try scene.answer("'present': 'c'") == "rotate landscapeLeft")
    #expect(try scene.answer("'dismiss': true") == "invalid common")
    #expect(scene.state.presentations.count == 1)
    #expect(scene.state.hold.presentations == 1)
    #expect(scene.app == "landscapeLeft")
  }

  @Test("At load, only the deciding controller is validated") func onlyTheFirst()
    throws
  {
    _ = try Scene(
      """
      {'application': {'infoPlist': ['portrait']}, 'root': 'a', 'controllers': {'a': {},
        'b': {'supported': ['landscape'], 'preferred': 'portrait'}}}
      """)
  }

  @Test(
    "A document that is invalid at load is rejected",
    arguments: [
      "{'application': {'infoPlist': ['portrait']}, 'controllers': {'a': {'supported': ['landscape']}}}",
      "{'controllers': {'a': {'supported': ['landscape'], 'preferred': 'portrait'}}}",
      "{'controllers': {'a': {'supported': [], 'shouldAutorotate': false}}}",
    ]) func rejected(policy: String) throws
  {
    let document = try document(policy)
    let error = try policyError { _ = try RotationReducer(document) }
    #expect(error.code == .invalidOrientation)
    #expect(error.path == "controllers.a")
    #expect([nothingInCommon("a"), preferredMessage].contains(error.message))
  }

  @Test("Row 2 at load: starts in the preferred orientation")
  func lockedRoot() throws {
    #expect(
      try start(
        """
        {'application': {'infoPlist': ['portrait']}, 'controllers': {'a': {
          'supported': ['landscape'], 'preferred': 'landscapeLeft', 'shouldAutorotate': false}}}
        """) == "landscapeLeft")
  }
}
