import UprightOrientation
import UprightPolicy

/// A policy and a stream of events for it.
struct Stream: Sendable {
  var name: String
  var document: PolicyDocument
  /// Returns the event with this number. Its time is its number in milliseconds.
  var action: @Sendable (Int) -> RotationEvent.Action

  static let all = [device, steady, gravity, mixed, timed]

  private static let turns: [DeviceOrientation] = [
    .portrait, .landscapeLeft, .faceUp, .landscapeRight, .portrait, .portraitUpsideDown,
  ]

  /// Each event rotates the device; most rotate the app, with all phases.
  static let device = Stream(name: "device, turning", document: PolicyDocument()) {
    .device(turns[$0 % turns.count])
  }

  /// The device doesn't rotate: a phone that reports its orientation ten times a second.
  static let steady = Stream(name: "device, the same", document: PolicyDocument()) { _ in
    .device(.portrait)
  }

  /// Readings of a device that is rotated slowly back and forth.
  static let gravity = Stream(name: "gravity", document: PolicyDocument()) { index in
    let share = Double(index % 2000) / 1000
    let angle = (share < 1 ? share : 2 - share) * .pi / 2
    let down = Point(x: 0, y: -1).applying(AffineMatrix(rotationAngle: -angle))
    return .gravity(x: down.x, y: down.y, z: 0)
  }

  /// Half of the events are device events, the others all other kinds: locks, the app's rotations, tabs,
  /// pushes and pops, presentations, changed answers.
  static let mixed = Stream(name: "mixed", document: tabs(Transition())) { mixedAction($0) }

  /// The same with rotations of 0.3 s, so that most events arrive during one.
  static let timed = Stream(
    name: "mixed, timed turns", document: tabs(Transition(style: .spin, duration: 0.3))
  ) { mixedAction($0) }

  private static func mixedAction(_ index: Int) -> RotationEvent.Action {
    if index % 2 == 0 { return .device(turns[index / 2 % turns.count]) }
    switch index / 2 % 12 {
    case 0: return .push("detail", onto: "live")
    case 1: return .rotate(.landscapeRight)
    case 2: return .pop("live")
    case 3: return .select("mine", in: "tabs")
    case 4: return .lock(true)
    case 5: return .lock(false)
    case 6: return .present("player", style: nil)
    case 7: return .active(false)
    case 8: return .active(true)
    case 9: return .dismiss
    case 10: return .select("live", in: "tabs")
    default: return .set("mine", supportsAll)
    }
  }

  private static let supportsAll: ControllerAnswers = {
    var answers = ControllerAnswers()
    answers.supported = OrientationList(.all)
    return answers
  }()

  private static func tabs(_ transition: Transition) -> PolicyDocument {
    func controller(
      _ name: String, _ kind: PolicyDocument.Controller.Kind = .content, _ children: [String] = []
    ) -> PolicyDocument.Controller {
      var controller = PolicyDocument.Controller(name: name)
      controller.kind = kind
      controller.children = children
      if kind != .content { controller.authority = .visibleChild }
      return controller
    }
    var document = PolicyDocument()
    document.root = "tabs"
    document.transition = transition
    document.controllers = [
      controller("tabs", .tab, ["live", "mine"]), controller("live", .navigation, ["list"]),
      controller("list"), controller("mine"), controller("detail"), controller("player"),
    ]
    document.controllers[5].preferred = .landscapeRight
    return document
  }
}
