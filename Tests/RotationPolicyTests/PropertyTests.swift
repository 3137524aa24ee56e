import UprightOrientation
import UprightPolicy
import Testing
import UprightTestSupport

@Suite("Random policies and events") struct PropertyTests {
  static let seed = SeededGenerator.runSeed

  /// A random policy that UIKit accepts, and random events that are at most `gap` seconds apart.
  private func scene(
    _ dice: inout SeededGenerator, transition: Transition, gap: Double
  ) -> (PolicyDocument, [RotationEvent])? {
    let document = dice.document(transition: transition)
    guard (try? RotationReducer(document)) != nil else { return nil }
    var at = 0.0
    var events: [RotationEvent] = []
    for _ in 0..<60 {
      at += dice.chance(20) ? 0 : (Double.random(in: 0...gap, using: &dice) * 100).rounded() / 100
      events.append(RotationEvent(at: at, dice.action(document.controllers.count)))
    }
    return (document, events)
  }

  /// Returns the first rule that a decision violates, or `nil`. `#expect` is too slow for a million decisions.
  private func violation(_ decision: RotationDecision) -> String? {
    let allowed = decision.allowed
    let isTurn = decision.outcome == .rotate
    let isOfTheDevice =
      switch decision.event.action {
      case .device, .gravity, .rotate, .lock, .active: true
      default: false
      }
    let reasonFits =
      switch decision.outcome {
      case .rotate: decision.reason == nil
      case .keep: decision.reason == nil || decision.why.rule == .superseded
      case .refuse, .invalid: decision.reason != nil
      }
    let isAllowed = allowed.contains(decision.to)
    let laws: [(String, Bool)] = [
      ("upright", InterfaceOrientation.upright.contains(decision.to)),
      ("net", (decision.from != decision.to) == isTurn),
      ("turn", (decision.turn != nil) == isTurn),
      ("in the target", decision.why.rule != .current || isAllowed),
      ("phases", decision.phases.map(\.kind) == (isTurn ? RotationPhase.Kind.allCases : [])),
      ("target", !isTurn || decision.target == decision.to),
      ("name", (decision.name != nil) == (decision.outcome == .invalid)),
      // The orientation is always allowed, except in row 2 of the showing table.
      ("allowed", !isTurn || isAllowed || decision.why.rule == .shownInPreferred),
      ("raw order", allowed == allowed.sorted { $0.rawValue < $1.rawValue }),
      ("a show never refuses", decision.outcome != .refuse || isOfTheDevice),
      ("refused target", decision.outcome != .refuse || decision.target != nil),
      // A shown controller is in an orientation that it supports.
      ("shown", decision.why.rule != .shown || allowed.isEmpty || isAllowed),
      ("reason", reasonFits),
    ]
    return laws.first { !$0.1 }.map { "\($0.0): \(decision)" }
  }

  /// Returns a difference between the stream format, the layout and the timeline, or `nil`. They must match the
  /// app orientation, or during a rotation the old one.
  private func mismatch(_ plan: OrientationPlan) -> String? {
    let state = plan.reducer.state
    let format = plan.formats.last?.format
    let standing = state.turn?.from ?? state.appOrientation
    if format != plan.guidance.format(for: standing) { return "format \(state)" }
    if state.layoutOrientation != standing { return "layout \(state)" }
    if plan.timeline.last.appOrientation != standing { return "timeline \(state)" }
    if let turn = state.turn, turn.to != state.appOrientation { return "turn \(state)" }
    return nil
  }

  @Test(
    "Allowed app orientations, matching sizes, one decision per event",
    .long,
    arguments: [
      Transition(style: .cut), Transition(style: .spin, duration: 0.3),
      Transition(style: .hold, duration: 3), Transition(style: .crossfade, duration: 0),
    ])
  func invariants(transition: Transition) throws {
    var played = 0
    for round in 0..<1000 {
      let seed = Self.seed &* 10_000 &+ UInt64(round)
      var dice = SeededGenerator(seed: seed)
      guard let (document, events) = scene(&dice, transition: transition, gap: 1) else { continue }
      played += 1
      let note: Comment = "seed \(seed), \(transition)"
      var plan = try OrientationPlan(document)
      var accepted: [RotationEvent] = []
      var decided: [RotationDecision] = []
      for event in events {
        let before = plan.reducer.state
        do {
          let outputs = try plan.push(event)
          accepted.append(event)
          for case .decision(let decision) in outputs { decided.append(decision) }
        } catch {
          if plan.reducer.state != before {
            Issue.record("an invalid event changed the state: \(note)")
          }
        }
        if let broken = mismatch(plan) { Issue.record("\(broken), \(note)") }
      }
      for case .decision(let decision) in plan.finish() { decided.append(decision) }
      for decision in decided {
        if let broken = violation(decision) { Issue.record("\(broken), \(note)") }
      }
      #expect(plan.entries.map(\.event) == accepted, note)
      #expect(plan.entries.map(\.eventIndex) == Array(0..<accepted.count), note)
      // In the order of the decisions, each starts where the previous one ended.
      #expect(zip(decided, decided.dropFirst()).allSatisfy { $0.to == $1.from }, note)
      let state = plan.reducer.state
      #expect(state.appOrientation == state.layoutOrientation, note)
      #expect(plan.timeline.last.appOrientation == state.layoutOrientation, note)
      #expect(plan.formats.last?.format.appOrientation == state.layoutOrientation, note)
      try checkAgain(document, accepted, plan, &dice, note)
    }
    #expect(played > 200)
  }

  /// Checks that the same input gives the same output, also if the time is advanced in between.
  private func checkAgain(
    _ document: PolicyDocument, _ events: [RotationEvent], _ plan: OrientationPlan,
    _ dice: inout SeededGenerator, _ note: Comment
  ) throws {
    var again = try OrientationPlan(document)
    for event in events {
      if dice.chance(50) { again.advance(to: event.at - .random(in: 0...0.5, using: &dice)) }
      try again.push(event)
    }
    again.finish()
    #expect(again.entries == plan.entries, note)
    #expect(again.formats == plan.formats, note)
    #expect(again.timeline == plan.timeline, note)
    var printer = try PlanPrinter(OrientationPlan(document))
    var text: [UInt8] = []
    for event in events {
      try printer.push(event)
      if dice.chance(30) { text += printer.take() }
    }
    printer.finish()
    while case let rest = printer.take(), !rest.isEmpty { text += rest }
    #expect(String(decoding: text, as: UTF8.self) == plan.json.pretty + "\n", note)
    let read = try RotationEvent.parse(
      jsonLines: events.map { $0.json.compact + "\n" }.joined().utf8)
    #expect(read == events, note)
    let points = zip(plan.timeline.points, plan.timeline.points.dropFirst())
    #expect(points.allSatisfy { $0.at < $1.at }, note)
    let formats = zip(plan.formats, plan.formats.dropFirst())
    #expect(formats.allSatisfy { $0.from < $1.from && $0.format != $1.format }, note)
  }

  @Test("Rotations that end before the next event give the same decisions as cuts")
  func timedAsCut() throws {
    for round in 0..<500 {
      let seed = Self.seed &* 10_000 &+ UInt64(round)
      var dice = SeededGenerator(seed: seed)
      guard var (document, events) = scene(&dice, transition: Transition(), gap: 1) else {
        continue
      }
      for index in events.indices { events[index].at = Double(index) }
      var cut = try OrientationPlan(document)
      document.transition = Transition(style: .spin, duration: 0.9)
      var spin = try OrientationPlan(document)
      for event in events {
        _ = try? cut.push(event)
        _ = try? spin.push(event)
      }
      spin.finish()
      #expect(
        cut.entries.map { [$0.short, $0.from.name] }
          == spin.entries.map { [$0.short, $0.from.name] },
        "seed \(seed)")
    }
  }

  @Test("One controller gives the same decisions as a reference model") func asWritten() throws {
    for round in 0..<3000 {
      let seed = Self.seed &* 10_000 &+ UInt64(round)
      var dice = SeededGenerator(seed: seed)
      var document = PolicyDocument()
      document.device.idiom = dice.pick([.phone, .pad])
      document.device.orientation = dice.pick([.portrait, .landscapeLeft, .faceUp])
      document.application.infoPlist = dice.mask()
      var controller = PolicyDocument.Controller(name: "a")
      controller.supported = dice.mask()
      controller.shouldAutorotate = dice.pick([.yes, .yes, .no, .manual])
      controller.ignoresRotationWhileInactive = dice.chance(50)
      document.controllers = [controller]
      guard var reducer = try? RotationReducer(document) else { continue }
      var model = ReferenceModel(document, app: reducer.state.appOrientation)
      for index in 0..<60 {
        let event = RotationEvent(at: Double(index), model.next(&dice))
        let expected = model.answer(event.action)
        let outputs = try reducer.reduce(event)
        guard
          case .decision(let decision)? = outputs.first(where: { output in
            if case .decision = output { true } else { false }
          })
        else { continue }
        if decision.short != expected || reducer.state.appOrientation != model.app {
          Issue.record("seed \(seed), event \(index): \(expected) expected, not \(decision)")
        }
      }
    }
  }

  @Test("Damaged text gives an error or a value, never a crash") func damaged() throws {
    let good = json(
      """
      {"semantics": "ios6", "device": {"idiom": "phone"}, "root": "t", "controllers": {
       "t": {"kind": "tab", "children": ["a", "b"], "authority": "visibleChild"},
       "a": {"supported": ["portrait", "all"], "shouldAutorotate": "manual"}, "b\\u00e9\\n": {},
       "b": {"preferred": "landscapeLeft"}}, "transition": {"duration": 1.5e-1},
       "stream": {"size": "720x1280"}}
      """)
    let line = json("{'at': 1.5, 'set': 'a', 'supported': ['landscape'], 'preferred': 'portrait'}")
    var dice = SeededGenerator()
    for _ in 0..<20_000 {
      var bytes = dice.chance(50) ? good : line
      for _ in 0..<Int.random(in: 1...4, using: &dice) {
        let index = Int.random(in: 0..<bytes.count, using: &dice)
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &dice)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(dice.pick(Array("{}[]\",:0-e.\\u ".utf8)), at: index)
        default: bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &dice))
        }
      }
      if let document = try? PolicyDocument(json: bytes) { _ = try? RotationReducer(document) }
      _ = try? RotationEvent.parse(jsonLines: bytes)
    }
  }
}

/// A reference model of the rules, for one controller without a tree.
private struct ReferenceModel {
  var app: InterfaceOrientation
  var device: DeviceOrientation
  var lastUpright: DeviceOrientation?
  var lock = false
  var active = true
  var hold = false
  var autorotates: PolicyDocument.Controller.Autorotation
  var ignoresWhileInactive: Bool
  var supported: InterfaceOrientationMask
  var application: InterfaceOrientationMask
  let idiom: PolicyDocument.Idiom

  init(_ document: PolicyDocument, app: InterfaceOrientation) {
    self.app = app
    device = document.device.orientation
    lastUpright = device.interface == nil ? nil : device
    autorotates = document.controllers[0].shouldAutorotate
    ignoresWhileInactive = document.controllers[0].ignoresRotationWhileInactive
    supported = document.controllers[0].supported ?? .all
    idiom = document.device.idiom
    application = document.application.mask(on: idiom)
  }

  mutating func next(_ dice: inout SeededGenerator) -> RotationEvent.Action {
    switch Int.random(in: 0..<10, using: &dice) {
    case 0..<4: return .device(dice.device())
    case 4, 5: return .rotate(dice.orientation())
    case 6: return .lock(dice.chance(50))
    case 7: return .active(dice.chance(50))
    default:
      var answers = ControllerAnswers()
      answers.supported = OrientationList(dice.mask())
      if dice.chance(50) { answers.shouldAutorotate = dice.pick([.yes, .no, .manual]) }
      return .set("a", answers)
    }
  }

  mutating func answer(_ action: RotationEvent.Action) -> String {
    switch action {
    case .device(let orientation):
      device = orientation
      if orientation.interface != nil {
        if orientation != lastUpright { hold = false }
        lastUpright = orientation
      }
      return automatic()
    case .rotate(let target):
      let answer = rules(target, manual: true)
      if answer == "keep" || answer.hasPrefix("rotate") { hold = true }
      return answer
    case .lock(let flag):
      let was = lock
      lock = flag
      if flag, !was, idiom == .phone, app != .portrait {
        let answer = rules(.portrait, manual: false)
        if answer.hasPrefix("rotate") { hold = false }
        return answer
      }
      return was && !flag ? automatic() : "keep"
    case .active(let flag):
      let was = active
      active = flag
      return flag && !was ? automatic() : "keep"
    case .set(_, let answers):
      supported = answers.supported?.mask ?? supported
      autorotates = answers.shouldAutorotate ?? autorotates
      return "keep"
    default: return "?"
    }
  }

  mutating func automatic() -> String {
    guard let target = device.interface else { return "keep" }
    if hold { return "keep" }
    if lock { return "refuse rotationLocked" }
    return rules(target, manual: false)
  }

  mutating func rules(_ target: InterfaceOrientation, manual: Bool) -> String {
    if !active && ignoresWhileInactive { return "refuse applicationInactive" }
    if autorotates == .no || (autorotates == .manual && !manual) {
      return "refuse autorotationDisabled"
    }
    let allowed = application.intersection(supported)
    if allowed.isEmpty { return "invalid common" }
    if !allowed.contains(target) { return "refuse notSupported" }
    if target == app { return "keep" }
    app = target
    return "rotate \(target.name)"
  }
}
