import UprightOrientation
import UprightPolicy
import Testing

/// `focus` events: their form, and the move of the focus on the timeline.
struct FocusTests {
  private static func parse(_ text: String) throws(PolicyError) -> RotationEvent? {
    try RotationEvent.parse(line: text, number: 3)
  }

  @Test("A focus is two numbers from 0 to 1")
  func form() throws {
    let event = try #require(try Self.parse(#"{"at": 1, "focus": [0, 0.25]}"#))
    #expect(event.action == .focus(x: 0, y: 0.25))
    #expect(event.json.compact == #"{"at":1.0,"focus":[0.0,0.25]}"#)
    #expect(event.phrase == "focus 0.0, 0.25")
  }

  @Test(
    "Anything else is an error that names the line",
    arguments: [
      #"{"at": 1, "focus": [0.5]}"#, #"{"at": 1, "focus": [0.5, 0.5, 0.5]}"#,
      #"{"at": 1, "focus": [-0.01, 0.5]}"#, #"{"at": 1, "focus": [0.5, 1.01]}"#,
      #"{"at": 1, "focus": [1e300, 0]}"#, #"{"at": 1, "focus": "center"}"#,
      #"{"at": 1, "focus": {"x": 0, "y": 0}}"#, #"{"at": 1, "focus": [null, 0]}"#,
      #"{"at": 1, "focus": [0, 0], "ease": 1}"#, #"{"at": 1, "focus": [0, 0], "lock": true}"#,
    ])
  func malformed(_ text: String) {
    let error = #expect(throws: PolicyError.self) { try Self.parse(text) }
    #expect(error?.path.hasPrefix("line 3") == true, "\(String(describing: error))")
  }

  @Test("A move is slow at both ends, and stays where it has ended")
  func move() {
    let move = FocusMove(from: Point(x: 0, y: 1), to: Point(x: 1, y: 0), starts: 2, ends: 4)
    #expect(move.point(at: 0) == Point(x: 0, y: 1) && move.point(at: 2) == Point(x: 0, y: 1))
    #expect(move.point(at: 4) == Point(x: 1, y: 0) && move.point(at: 9) == Point(x: 1, y: 0))
    let (early, half) = (move.point(at: 2.2), move.point(at: 3))
    #expect(early.x > 0 && early.x < 0.1 && abs(half.x - 0.5) < 1e-9)
    #expect(abs(early.x + early.y - 1) < 1e-9)
  }

  @Test("Events from code are checked too", arguments: [Double.nan, .infinity, -1, 1.5])
  func fromCode(_ value: Double) throws {
    var plan = try OrientationPlan(PolicyDocument())
    #expect(throws: PolicyError.self) {
      try plan.push(RotationEvent(at: 0, .focus(x: value, y: 0.5)))
    }
    #expect(throws: PolicyError.self) {
      try plan.push(RotationEvent(at: 0, .focus(x: 0.5, y: value)))
    }
    #expect(plan.timeline.last.focus == nil && plan.entries.isEmpty)
  }

  @Test("The focus moves slowly at both ends, from where it is, and stays through a rotation")
  func moves() throws {
    var plan = try OrientationPlan(PolicyDocument(), focus: FocusRule(ease: 2))
    try plan.push(RotationEvent(at: 1, .focus(x: 1, y: 0.5)))
    try plan.push(RotationEvent(at: 2, .focus(x: 1, y: 0)))
    try plan.push(RotationEvent(at: 2.5, .device(.landscapeLeft)))
    #expect(plan.entries.map(\.outcome) == [.keep, .keep, .rotate])
    #expect(plan.entries[0].explanation.contains("crop"))
    func focus(_ seconds: Double) -> UprightOrientation.Point? {
      plan.timeline.point(at: seconds).focus?.point(at: seconds)
    }
    #expect(focus(0.5) == nil)
    #expect(focus(1) == Point(x: 0.5, y: 0.5))
    let early = try #require(focus(1.25))
    #expect(early.x > 0.5 && early.x < 0.5625 && early.y == 0.5)
    // The middle of the move, where the second one begins.
    let middle = try #require(focus(2))
    #expect(abs(middle.x - 0.75) < 1e-9 && middle.y == 0.5)
    let third = try #require(focus(3))
    #expect(abs(third.x - 0.875) < 1e-9 && abs(third.y - 0.25) < 1e-9)
    #expect(focus(4) == Point(x: 1, y: 0) && focus(100) == Point(x: 1, y: 0))
    plan.forget(before: 50)
    #expect(focus(100) == Point(x: 1, y: 0))
  }

  @Test("Without a duration the focus jumps")
  func jumps() throws {
    var plan = try OrientationPlan(
      PolicyDocument(), focus: FocusRule(start: Point(x: 0, y: 0), ease: 0))
    try plan.push(RotationEvent(at: 1, .focus(x: 1, y: 1)))
    #expect(plan.timeline.point(at: 1).focus?.point(at: 1) == Point(x: 1, y: 1))
  }
}
