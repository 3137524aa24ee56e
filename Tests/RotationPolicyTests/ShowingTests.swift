import Orientation
import RotationPolicy
import Testing

@Suite("Showing") struct ShowingTests {
  /// A root `r` and a controller `x` with `answers`, in an application that allows `mask`.
  private func policy(_ mask: String, _ answers: String) -> String {
    """
    {'application': {'infoPlist': [\(mask)]}, 'root': 'n', 'controllers': {
      'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['r']}, 'r': {},
      'x': {\(answers)}}}
    """
  }

  private let ways = ["'present': 'x'", "'push': 'x', 'onto': 'n'"]

  @Test("empty, yes: invalid; the first message") func firstRow() throws {
    let policy = policy("'portrait'", "'supported': ['landscape'], 'preferred': 'landscapeLeft'")
    for way in ways {
      var scene = try Scene(policy)
      #expect(try scene.answer(way) == "invalid common")
      #expect(try scene.last.reason == nothingInCommon("x"))
    }
    let any = self.policy("'portrait'", "'supported': ['landscape'], 'preferred': 'portrait'")
    #expect(try answers(any, ways[0]) == ["invalid common"])
  }

  @Test("empty, no, yes: shown in its preferred orientation", arguments: ["false", "'manual'"])
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

  @Test("empty, no, yes: an absent preferred answers too") func secondRowAbsent() throws {
    let policy = policy("'portrait'", "'supported': ['landscape'], 'shouldAutorotate': false")
    #expect(try answers(policy, ways[0]) == ["rotate landscapeRight"])
  }

  @Test("empty, no, no: invalid; the second message") func thirdRow() throws {
    let policy = policy(
      "'portrait'",
      "'supported': ['landscape'], 'preferred': 'portrait', 'shouldAutorotate': false")
    for way in ways {
      var scene = try Scene(policy)
      #expect(try scene.answer(way) == "invalid preferred")
      #expect(try scene.last.reason == preferredMessage)
      #expect(try scene.last.name == "UIApplicationInvalidInterfaceOrientation")
    }
    let nothing = self.policy("'portrait'", "'supported': [], 'shouldAutorotate': false")
    #expect(try answers(nothing, ways[0]) == ["invalid preferred"])
  }

  @Test("not empty, any, no: invalid, the same", arguments: ["true", "false", "'manual'"])
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

  @Test("presented: in preferred if allowed") func presentedInPreferred() throws {
    let policy = policy("'all'", "'preferred': 'landscapeLeft'")
    #expect(try answers(policy, ways[0]) == ["rotate landscapeLeft"])
  }

  @Test("presented: else the current one if allowed, else the lowest raw value allowed")
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

  @Test("Root, push, pop, select, dismiss: keep the current one if allowed") func othersKeep()
    throws
  {
    let policy = policy("'all'", "'preferred': 'landscapeLeft', 'shouldAutorotate': false")
    #expect(try answers(policy, ways[1]) == ["keep"])
    #expect(
      try start(
        "{'controllers': {'a': {'preferred': 'landscapeLeft', 'shouldAutorotate': false}}}")
        == "portrait")
  }

  @Test("else as presented") func othersElse() throws {
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
    "then it re-evaluates: a controller hidden while the device turned catches up",
    arguments: ["'pop': 'n'", "'select': 'a', 'in': 't'", "'dismiss': true"])
  func catchesUp(way: String) throws {
    // In each case a portrait controller is on top while the device turns to landscape.
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

  @Test("push catches up too") func pushCatchesUp() throws {
    let policy = """
      {'root': 'n', 'controllers': {
        'n': {'kind': 'navigation', 'authority': 'visibleChild', 'children': ['p']},
        'p': {'supported': ['portrait']}, 'a': {}}}
      """
    #expect(
      try answers(policy, "'device': 'landscapeLeft'", "'push': 'a', 'onto': 'n'")
        == ["refuse notSupported", "rotate landscapeRight"])
  }

  @Test("re-evaluates: one turn; never refuse") func oneTurn() throws {
    // Placed in landscapeLeft, then turned with the device: net portrait to landscapeRight.
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
    "a re-evaluation that is refused: keep",
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
  }

  @Test("in the last row and if it autorotates", arguments: ["false", "'manual'"])
  func onlyIfItAutorotates(autorotate: String) throws {
    let policy = """
      {'root': 'r', 'controllers': {'r': {'supported': ['portrait']},
        'x': {'shouldAutorotate': \(autorotate)}}}
      """
    #expect(
      try answers(policy, "'device': 'landscapeLeft'", "'present': 'x'")
        == ["refuse notSupported", "keep"])
  }

  @Test("an explicit preferred that a presentation was shown in holds like a manual turn")
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

  @Test("until it is dismissed at the latest") func untilDismissed() throws {
    let policy = policy("'all'", "'preferred': 'landscapeRight'")
    var scene = try Scene(policy)
    try scene.send("'present': 'x'")
    #expect(try scene.answer("'dismiss': true") == "rotate portrait")
    #expect(!scene.state.hold.isOn)
  }

  @Test("a manual turn made meanwhile outlives the dismissal") func manualOutlives() throws {
    let policy = policy("'all'", "'preferred': 'landscapeRight'")
    var scene = try Scene(policy)
    try scene.send("'present': 'x'")
    try scene.send("'rotate': 'landscapeLeft'")
    #expect(try scene.answer("'dismiss': true") == "keep")
    #expect(scene.app == "landscapeLeft")
    #expect(try scene.answer("'device': 'portrait'") == "keep")
  }

  @Test("an absent preferred does not hold") func absentDoesNotHold() throws {
    let policy = """
      {'root': 'r', 'controllers': {'r': {'supported': ['portrait']}, 'x': {}}}
      """
    #expect(
      try answers(policy, "'device': 'landscapeLeft'", "'present': 'x'")
        == ["refuse notSupported", "rotate landscapeRight"])
  }

  @Test("a preferred that it was not shown in does not hold") func notShownInPreferred() throws {
    let policy = policy("'portrait', 'landscapeRight'", "'preferred': 'landscapeLeft'")
    #expect(
      try answers(policy, "'present': 'x'", "'device': 'landscapeLeft'")
        == ["keep", "rotate landscapeRight"])
  }

  @Test("elsewhere they change the tree only: keep") func treeOnly() throws {
    var scene = try Scene(Self.tabs)
    #expect(try scene.answer("'push': 'c', 'onto': 'n'") == "keep")
    #expect(try scene.last.why.rule == .treeOnly)
    #expect(try scene.answer("'pop': 'n'") == "keep")
    #expect(try scene.last.why.rule == .treeOnly)
    #expect(try scene.answer("'select': 'a', 'in': 't'") == "keep")
    #expect(try scene.last.why.rule == .treeOnly)
  }

  @Test("where the container decides, push and select change the tree only") func container()
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
    // The intersection is smaller from now on, but nobody is asked before the next question.
    #expect(try scene.answer("'push': 'p', 'onto': 'n'") == "keep")
    #expect(scene.app == "landscapeRight")
    #expect(try scene.last.allowed == [.portrait])
    #expect(try scene.answer("'device': 'landscapeRight'") == "refuse notSupported")
    #expect(try scene.answer("'device': 'portrait'") == "rotate portrait")
  }

  @Test(
    "an event that makes it invalid is undone",
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
    // The tree is as before it: the same is refused by UIKit again, not for being there already.
    #expect(try scene.answer(event) == "invalid common")
    #expect(try scene.answer("'device': 'portrait'") == "keep")
  }

  @Test("a pop or a dismissal that would be invalid is undone") func undonePop() throws {
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
    // The presentation can stand, what is below could not be shown again.
    #expect(try scene.answer("'present': 'c'") == "rotate landscapeLeft")
    #expect(try scene.answer("'dismiss': true") == "invalid common")
    #expect(scene.state.presentations.count == 1)
    #expect(scene.state.hold.presentations == 1)
    #expect(scene.app == "landscapeLeft")
  }

  @Test("At load only the controller that decides at the start is judged") func onlyTheFirst()
    throws
  {
    _ = try Scene(
      """
      {'application': {'infoPlist': ['portrait']}, 'root': 'a', 'controllers': {'a': {},
        'b': {'supported': ['landscape'], 'preferred': 'portrait'}}}
      """)
  }

  @Test(
    "a document invalid at load is rejected",
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

  @Test("at load, an empty intersection that does not autorotate starts in its preferred")
  func lockedRoot() throws {
    #expect(
      try start(
        """
        {'application': {'infoPlist': ['portrait']}, 'controllers': {'a': {
          'supported': ['landscape'], 'preferred': 'landscapeLeft', 'shouldAutorotate': false}}}
        """) == "landscapeLeft")
  }
}
