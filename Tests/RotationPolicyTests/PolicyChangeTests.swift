import UprightOrientation
import UprightPolicy
import Testing

/// Costs a few milliseconds.
@Suite("Another policy, while the app runs") struct PolicyChangeTests {
  private static let portrait = "{'controllers': {'a': {'supported': ['portrait']}}}"

  /// Replaces the policy at `time` and returns the decisions made in the meantime.
  private func replace(
    _ scene: inout Scene, with policy: String, at time: Double
  ) throws -> [RotationDecision] {
    let outputs = try scene.reducer.reduce(RotationEvent(at: time, .policy(try document(policy))))
    scene.outputs += outputs
    return outputs.compactMap {
      if case .decision(let decision) = $0 { decision } else { nil }
    }
  }

  @Test("A policy that forbids the current orientation rotates the app at once, and back")
  func rotates() throws {
    var scene = try Scene()
    try scene.send("'device': 'landscapeLeft'")
    #expect(scene.app == "landscapeRight")
    let there = try replace(&scene, with: Self.portrait, at: 2)
    #expect(there.map(\.outcome) == [.rotate] && there.map(\.to) == [.portrait])
    #expect(there.first?.turn?.starts == 2)
    // The device is still held in landscape.
    let back = try replace(&scene, with: "{}", at: 3)
    #expect(back.map(\.outcome) == [.rotate] && back.map(\.to) == [.landscapeRight])
  }

  @Test("A policy that allows the current orientation keeps it")
  func keeps() throws {
    var scene = try Scene()
    try scene.send("'device': 'landscapeLeft'")
    let decisions = try replace(&scene, with: "{'device': {'orientation': 'portrait'}}", at: 2)
    #expect(decisions.map(\.outcome) == [.keep])
    #expect(scene.app == "landscapeRight" && scene.state.device == .landscapeLeft)
  }

  @Test("Lock, activity and the hold of a manual rotation continue, presentations don't")
  func continues() throws {
    var scene = try Scene("{'root': 'a', 'controllers': {'a': {}, 'b': {}}}")
    try scene.send("'rotate': 'landscapeLeft'")
    try scene.send("'lock': true")
    try scene.send("'active': false")
    try scene.send("'present': 'b'")
    let before = scene.state
    _ = try replace(&scene, with: "{'device': {'rotationLock': false}}", at: 9)
    #expect(scene.state.rotationLock && !scene.state.active)
    #expect(scene.state.hold.isManual == before.hold.isManual)
    #expect(scene.state.presentations.isEmpty && !before.presentations.isEmpty)
    #expect(scene.state.appOrientation == before.appOrientation)
  }

  @Test("During a rotation the decision waits for its end, and the new duration applies")
  func waits() throws {
    var scene = try Scene("{'transition': {'style': 'spin', 'duration': 1}}")
    try scene.send("'device': 'landscapeLeft'", at: 1)
    #expect(try replace(&scene, with: Self.portrait, at: 1.5).isEmpty)
    #expect(scene.advance(to: 2) == ["rotate portrait"])
    #expect(scene.state.layoutOrientation == .portrait && scene.state.turn == nil)
  }

  @Test("A policy that can't start is refused, and nothing changes")
  func refused() throws {
    var scene = try Scene()
    try scene.send("'device': 'landscapeLeft'")
    let state = scene.state
    #expect(throws: PolicyError.self) {
      _ = try replace(
        &scene,
        with:
          "{'application': {'infoPlist': ['portrait']}, 'controllers': {'a': {'supported': ['landscape']}}}",
        at: 2)
    }
    #expect(scene.state == state)
    #expect(try scene.answer("'device': 'portrait'", at: 3) == "rotate portrait")
  }

  @Test("The decision names the policy, and is explained")
  func explained() throws {
    var scene = try Scene()
    try scene.send("'device': 'landscapeLeft'")
    let decision = try #require(try replace(&scene, with: Self.portrait, at: 2).first)
    #expect(decision.event.phrase == "another policy")
    #expect(decision.explanation.contains("portrait"))
    #expect(decision.json.compact.contains("\"policy\":"))
  }
}
