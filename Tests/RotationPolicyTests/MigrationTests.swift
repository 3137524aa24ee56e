import Orientation
import RotationPolicy
import Testing
import UprightTestSupport

@Suite("policies migrate") struct MigrationTests {
  private func migrated(_ text: String) throws -> PolicyMigration {
    try PolicyMigration(document(text))
  }

  @Test("supported = accepts; absent: portrait") func supported() throws {
    let migration = try migrated(
      """
      {'semantics': 'ios5', 'root': 'a', 'controllers': {
        'a': {'accepts': ['all']}, 'b': {}, 'c': {'accepts': ['portrait', 'landscapeLeft']}}}
      """)
    #expect(migration.document.semantics == .ios6)
    #expect(
      migration.document.controllers.map(\.supported) == [
        .all, .portrait, [.portrait, .landscapeLeft],
      ])
    #expect(migration.document.controllers.allSatisfy { $0.accepts == nil })
    #expect(migration.document.controllers.allSatisfy { $0.shouldAutorotate == .yes })
    #expect(migration.warnings.isEmpty)
  }

  @Test("or, if empty, the initial orientation with shouldAutorotate false") func empty() throws {
    let migration = try migrated(
      """
      {'semantics': 'ios5', 'application': {'infoPlist': ['landscape']},
       'controllers': {'a': {'accepts': []}}}
      """)
    #expect(migration.document.controllers[0].supported == .landscapeRight)
    #expect(migration.document.controllers[0].shouldAutorotate == .no)
    #expect(migration.warnings.isEmpty)
    #expect(try RotationReducer(migration.document).state.appOrientation == .landscapeRight)
  }

  @Test("containers visibleChild, their own accepts never asked") func containers() throws {
    let migration = try migrated(
      """
      {'semantics': 'ios5', 'root': 't', 'application': {'infoPlist': ['landscape']},
       'controllers': {
        't': {'kind': 'tab', 'children': ['n'], 'accepts': ['portraitUpsideDown']},
        'n': {'kind': 'navigation', 'children': ['a'], 'authority': 'container'},
        'a': {'accepts': ['landscape'], 'shouldAutorotate': false, 'supported': ['portrait'],
          'preferred': 'portrait', 'captureEnabledIn': ['landscape'],
          'ignoresRotationWhileInactive': true}}}
      """)
    let controllers = migration.document.controllers
    #expect(controllers[0].authority == .visibleChild && controllers[1].authority == .visibleChild)
    #expect(controllers[0].supported == nil)
    // Answers that iOS 5 never asked for do not come to life.
    #expect(controllers[2].shouldAutorotate == .yes && controllers[2].preferred == nil)
    #expect(controllers[2].supported == .landscape)
    #expect(controllers[2].captureEnabledIn == .landscape)
    #expect(controllers[2].ignoresRotationWhileInactive)
    #expect(migration.document.application.delegate == nil)
  }

  @Test("delegate widened to the union of all accepts") func delegate() throws {
    let migration = try migrated(
      """
      {'semantics': 'ios5', 'root': 'a', 'application': {'infoPlist': ['portrait']},
       'controllers': {'a': {'accepts': ['landscapeLeft']}, 'b': {'accepts': ['portraitUpsideDown']}}}
      """)
    #expect(
      migration.document.application.delegate == [.portrait, .landscapeLeft, .portraitUpsideDown])
    #expect(migration.document.application.infoPlist == .portrait)
    #expect(migration.warnings.isEmpty)
  }

  @Test("a warning where the start would differ") func startDiffers() throws {
    let migration = try migrated(
      """
      {'semantics': 'ios5', 'device': {'orientation': 'faceUp'}, 'root': 'a',
       'application': {'infoPlist': ['landscape']}, 'controllers': {'a': {'accepts': ['all']}}}
      """)
    #expect(migration.warnings.count == 1)
    #expect(
      migration.warnings[0].hasPrefix(
        "the app started in landscapeRight, now it starts in portrait"))
  }

  @Test("a warning where an empty accepts cannot be kept") func emptyCannotBeKept() throws {
    let migration = try migrated(
      """
      {'semantics': 'ios5', 'root': 'a',
       'controllers': {'a': {'accepts': ['all']}, 'b': {'accepts': []}}}
      """)
    #expect(migration.warnings.count == 1)
    #expect(migration.warnings[0].hasPrefix("\"b\" accepts no orientation"))
  }

  @Test("no controllers: the one with defaults, which accepts portrait") func noControllers() throws
  {
    let migration = try migrated("{'semantics': 'ios5'}")
    #expect(migration.document.controllers.map(\.supported) == [.portrait])
    #expect(migration.warnings.isEmpty)
  }

  @Test("a document that is iOS 6 already stays as it is") func already() throws {
    let document = try document("{'controllers': {'a': {'supported': []}}}")
    let migration = try PolicyMigration(document)
    #expect(migration.document == document)
    #expect(migration.warnings.count == 1)
  }

  @Test("a document that cannot start cannot be migrated") func cannotStart() throws {
    #expect(throws: PolicyError.self) {
      try migrated("{'semantics': 'ios5', 'controllers': {'n': {'kind': 'navigation'}}}")
    }
  }

  @Test("the sample decides the same after migration") func sample() throws {
    let old = try PolicyDocument(json: SamplePolicies.bytes("ios5.json"))
    let events = try RotationEvent.parse(jsonLines: SamplePolicies.bytes("ios5.jsonl"))
    let migration = try PolicyMigration(old)
    #expect(migration.warnings.isEmpty)
    #expect(
      try OrientationPlan(migration.document, events: events).entries.map(\.short)
        == OrientationPlan(old, events: events).entries.map(\.short))
  }

  @Test("the JSON of any document reads back as it") func writer() throws {
    var dice = Dice(seed: PropertyTests.seed)
    for round in 0..<2000 {
      var document = dice.document(transition: Transition(style: .spin, duration: 0.25))
      if dice.chance(50) { document.streamSize = PixelSize(720, 1280) }
      if dice.chance(50) { document.streamCaptureSize = PixelSize(1080, 1920) }
      let back = try PolicyDocument(json: document.json.pretty.utf8)
      #expect(back == document, "round \(round), seed \(PropertyTests.seed)")
    }
  }

  /// An event that asks the same of both: `set` changes answers that only one of them asks for.
  private func action(_ dice: inout Dice, _ count: Int) -> RotationEvent.Action {
    while true {
      switch dice.action(count) {
      case .set(let name, _):
        var answers = ControllerAnswers()
        answers.ignoresRotationWhileInactive = dice.chance(50)
        return .set(name, answers)
      case .setApplication: continue
      case let other: return other
      }
    }
  }

  /// What must be equal. A controller that accepts nothing (`isMute`) is asked another question, so
  /// it refuses in another word; its outcome and where the app is stay.
  private func essence(_ entry: RotationDecision, isMute: Bool) -> String {
    var words = [entry.outcome.rawValue, entry.from.name, entry.to.name]
    if !isMute {
      words += [entry.reason ?? "-", entry.target?.name ?? "-"] + entry.allowed.map(\.name)
    }
    return words.joined(separator: " ")
  }

  @Test(
    "decides the same, except where a warning was given", .long,
    arguments: [Transition(), Transition(style: .spin, duration: 0.4)])
  func decidesTheSame(transition: Transition) throws {
    var (compared, warned, empty) = (0, 0, 0)
    for round in 0..<1500 {
      let seed = PropertyTests.seed &* 10_000 &+ UInt64(round)
      var dice = Dice(seed: seed)
      var old = dice.document(transition: transition)
      old.semantics = .ios5
      // What it starts with and what it accepts, mostly so that no warning is due.
      if dice.chance(70) { old.application = .init() }
      for index in old.controllers.indices where dice.chance(60) {
        old.controllers[index].accepts = dice.chance(80) ? dice.mask(allowEmpty: false) : .portrait
      }
      guard var before = try? OrientationPlan(old) else { continue }
      let migration = try PolicyMigration(old)
      guard migration.warnings.isEmpty else {
        warned += 1
        continue
      }
      compared += 1
      if old.controllers.contains(where: { $0.accepts == [] }) { empty += 1 }
      let written = try PolicyDocument(json: migration.document.json.pretty.utf8)
      var after = try OrientationPlan(written)
      for index in 0..<50 {
        let event = RotationEvent(at: Double(index) / 5, action(&dice, old.controllers.count))
        let (first, second) = (try? before.push(event), try? after.push(event))
        #expect((first == nil) == (second == nil), "seed \(seed)")
      }
      before.finish()
      after.finish()
      #expect(before.entries.count == after.entries.count, "seed \(seed)")
      for (first, second) in zip(before.entries, after.entries) {
        let isMute = first.allowed.isEmpty
        let pair = (essence(first, isMute: isMute), essence(second, isMute: isMute))
        guard pair.0 != pair.1 else { continue }
        Issue.record(
          "seed \(seed), event \(first.eventIndex) \(first.event.phrase): \(pair.0) became \(pair.1)"
        )
        break
      }
      #expect(before.formats == after.formats, "seed \(seed)")
    }
    #expect(compared > 500 && warned > 5 && empty > 5, "\(compared) \(warned) \(empty)")
  }

  @Test("a warning is not given for nothing: the start does differ") func startWarnings() throws {
    var dice = Dice(seed: PropertyTests.seed)
    for _ in 0..<2000 {
      var old = dice.document(transition: Transition())
      old.semantics = .ios5
      guard let start = try? RotationReducer(old).state.appOrientation else { continue }
      let migration = try PolicyMigration(old)
      let now = try RotationReducer(migration.document).state.appOrientation
      #expect((now != start) == migration.warnings.contains { $0.hasPrefix("the app started") })
    }
  }
}
