import UprightOrientation
import UprightPolicy
import Testing

@Suite("iOS 5 semantics") struct IOS5Tests {
  private func policy(_ accepts: String?, _ more: String = "") -> String {
    let accepts = accepts.map { "'accepts': [\($0)]" } ?? ""
    return "{'semantics': 'ios5'\(more), 'controllers': {'a': {\(accepts)}}}"
  }

  @Test("accepts is the only answer; the default is portrait") func defaultPortrait() throws {
    var scene = try Scene(policy(nil))
    #expect(try scene.answer("'device': 'landscapeLeft'") == "refuse notSupported")
    #expect(try scene.last.allowed == [.portrait])
  }

  @Test("allowed is accepts; the application mask sets only the initial orientation")
  func applicationMask() throws {
    let portrait = ", 'application': {'infoPlist': ['portrait']}"
    #expect(
      try answers(policy("'all'", portrait), "'device': 'portraitUpsideDown'")
        == ["rotate portraitUpsideDown"])
    let landscape =
      ", 'application': {'infoPlist': ['landscape']}, 'device': {'orientation': 'faceUp'}"
    #expect(try start(policy("'all'", landscape)) == "landscapeRight")
    #expect(try start(policy("'portrait'", landscape)) == "portrait")
  }

  @Test("Containers ask their visible child and ignore authority") func containers() throws {
    let policy = """
      {'semantics': 'ios5', 'root': 't', 'controllers': {
        't': {'kind': 'tab', 'children': ['n', 'b'], 'accepts': ['portrait']},
        'n': {'kind': 'navigation', 'children': ['a'], 'authority': 'container'},
        'a': {'accepts': ['all']}, 'b': {'accepts': ['portrait']}}}
      """
    var scene = try Scene(policy)
    #expect(try scene.answer("'device': 'landscapeLeft'") == "rotate landscapeRight")
    #expect(try scene.last.why.controller == "a")
    #expect(try scene.answer("'select': 'b', 'in': 't'") == "rotate portrait")
  }

  @Test("Showing keeps an accepted orientation, else uses the lowest accepted one")
  func shows() throws {
    let policy = """
      {'semantics': 'ios5', 'device': {'rotationLock': true}, 'root': 'a', 'controllers': {
        'a': {'accepts': ['all']}, 'same': {'accepts': ['all']}, 'none': {'accepts': []},
        'low': {'accepts': ['landscape']}}}
      """
    var scene = try Scene(policy)
    try scene.send("'rotate': 'portraitUpsideDown'")
    #expect(try scene.answer("'present': 'same'") == "keep")
    #expect(try scene.answer("'present': 'none'") == "keep")
    #expect(try scene.last.allowed == [])
    #expect(try scene.answer("'present': 'low'") == "rotate landscapeRight")
  }

  @Test("Showing re-evaluates") func reevaluate() throws {
    let policy = """
      {'semantics': 'ios5', 'root': 'a', 'controllers': {
        'a': {'accepts': ['portrait']}, 'b': {'accepts': ['all']}}}
      """
    #expect(
      try answers(policy, "'device': 'landscapeRight'", "'present': 'b'")
        == ["refuse notSupported", "rotate landscapeLeft"])
  }

  @Test("Rules 5 and 6 never apply; the refusal is notSupported") func fiveAndSix() throws {
    let policy = """
      {'semantics': 'ios5', 'application': {'infoPlist': ['portrait']}, 'controllers': {'a': {
        'shouldAutorotate': false, 'supported': [], 'preferred': 'landscapeLeft',
        'accepts': ['landscapeRight', 'portrait']}}}
      """
    var scene = try Scene(policy)
    #expect(try scene.answer("'device': 'landscapeLeft'") == "rotate landscapeRight")
    try scene.send("'set': 'a', 'accepts': []")
    #expect(try scene.answer("'device': 'portrait'") == "refuse notSupported")
    #expect(try scene.answer("'rotate': 'portrait'") == "refuse notSupported")
    #expect(try scene.answer("'lock': true") == "refuse notSupported")
  }

  @Test("Rules 1 to 4 apply as under iOS 6") func theOthers() throws {
    let lazy = """
      {'semantics': 'ios5', 'controllers': {'a': {'accepts': ['all'],
       'ignoresRotationWhileInactive': true}}}
      """
    #expect(
      try answers(
        lazy, "'active': false", "'device': 'landscapeLeft'", "'lock': true", "'active': true",
        "'lock': false", "'rotate': 'portrait'", "'device': 'landscapeLeft'")
        == [
          "keep", "refuse applicationInactive", "keep", "refuse rotationLocked",
          "rotate landscapeRight", "rotate portrait", "keep",
        ])
  }

  @Test("A presentation ignores preferred") func noPreferred() throws {
    let policy = """
      {'semantics': 'ios5', 'root': 'a', 'controllers': {
        'a': {}, 'b': {'accepts': ['all'], 'preferred': 'landscapeLeft'}}}
      """
    #expect(try answers(policy, "'present': 'b'") == ["keep"])
  }

  @Test("A container without a child to ask is invalid") func noChild() throws {
    let error = try policyError {
      _ = try Scene("{'semantics': 'ios5', 'controllers': {'n': {'kind': 'navigation'}}}")
    }
    #expect(error.message == preferredMessage)
  }
}
