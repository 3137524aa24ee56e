import UprightOrientation
import UprightPolicy
import Testing
import UprightTestSupport

@Suite("Migration from iOS 5") struct MigrationTests {
  private func migrated(_ text: String) throws -> PolicyMigration {
    try PolicyMigration(document(text))
  }

  @Test("supported is accepts, or portrait without accepts") func supported() throws {
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

  @Test("An empty accepts gives the initial orientation and shouldAutorotate false")
  func empty() throws {
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

  @Test("Containers have visibleChild; their accepts is ignored") func containers() throws {
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
    // Answers that iOS 5 ignores are removed.
    #expect(controllers[2].shouldAutorotate == .yes && controllers[2].preferred == nil)
    #expect(controllers[2].supported == .landscape)
    #expect(controllers[2].captureEnabledIn == .landscape)
    #expect(controllers[2].ignoresRotationWhileInactive)
    #expect(migration.document.application.delegate == nil)
  }

  @Test("delegate is extended by the union of all accepts") func delegate() throws {
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

  @Test("A warning if the start differs") func startDiffers() throws {
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

  @Test("A warning if an empty accepts has no equivalent") func emptyCannotBeKept() throws {
    let migration = try migrated(
      """
      {'semantics': 'ios5', 'root': 'a',
       'controllers': {'a': {'accepts': ['all']}, 'b': {'accepts': []}}}
      """)
    #expect(migration.warnings.count == 1)
    #expect(migration.warnings[0].hasPrefix("\"b\" accepts no orientation"))
  }

  @Test("Without controllers: one that supports portrait") func noControllers() throws {
    let migration = try migrated("{'semantics': 'ios5'}")
    #expect(migration.document.controllers.map(\.supported) == [.portrait])
    #expect(migration.warnings.isEmpty)
  }

  @Test("A document with iOS 6 semantics is unchanged") func already() throws {
    let document = try document("{'controllers': {'a': {'supported': []}}}")
    let migration = try PolicyMigration(document)
    #expect(migration.document == document)
    #expect(migration.warnings.count == 1)
  }

  @Test("A document that cannot start is rejected") func cannotStart() throws {
    #expect(throws: PolicyError.self) {
      try migrated("{'semantics': 'ios5', 'controllers': {'n': {'kind': 'navigation'}}}")
    }
  }

  @Test("The sample gives the same decisions after migration") func sample() throws {
    let old = try PolicyDocument(json: SamplePolicies.bytes("ios5.json"))
    let events = try RotationEvent.parse(jsonLines: SamplePolicies.bytes("ios5.jsonl"))
    let migration = try PolicyMigration(old)
    #expect(migration.warnings.isEmpty)
    #expect(
      try OrientationPlan(migration.document, events: events).entries.map(\.short)
        == OrientationPlan(old, events: events).entries.map(\.short))
  }

  @Test("The JSON of a random document reads back as an equal document") func writer() throws {
    var dice = SeededGenerator()
    for round in 0..<2000 {
      var document = dice.document(transition: Transition(style: .spin, duration: 0.25))
      if dice.chance(50) { document.streamSize = PixelSize(720, 1280) }
      if dice.chance(50) { document.streamCaptureSize = PixelSize(1080, 1920) }
      let back = try PolicyDocument(json: document.json.pretty.utf8)
      #expect(back == document, "round \(round), seed \(PropertyTests.seed)")
    }
  }

  /// Returns an event that has the same meaning in both documents. `set` events change answers that only one of
  /// them uses, so they are replaced.
  private func action(_ dice: inout SeededGenerator, _ count: Int) -> RotationEvent.Action {
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

  /// Returns the parts of an entry that must be equal. A controller that accepts nothing (`isMute`) gives a
  /// different reason for its refusal, so only the outcome and the orientations are compared.
  private func essence(_ entry: RotationDecision, isMute: Bool) -> String {
    var words = [entry.outcome.rawValue, entry.from.name, entry.to.name]
    if !isMute {
      words += [entry.reason ?? "-", entry.target?.name ?? "-"] + entry.allowed.map(\.name)
    }
    return words.joined(separator: " ")
  }

  @Test(
    "Random documents give the same decisions, except those with a warning", .long,
    arguments: [Transition(), Transition(style: .spin, duration: 0.4)])
  func decidesTheSame(transition: Transition) throws {
    var (compared, warned, empty) = (0, 0, 0)
    for round in 0..<1500 {
      let seed = PropertyTests.seed &* 10_000 &+ UInt64(round)
      var dice = SeededGenerator(seed: seed)
      var old = dice.document(transition: transition)
      old.semantics = .ios5
      // The orientation at the start and the accepted ones, mostly chosen so that no warning is given.
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

  @Test("A warning is given only if the start differs") func startWarnings() throws {
    var dice = SeededGenerator()
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
