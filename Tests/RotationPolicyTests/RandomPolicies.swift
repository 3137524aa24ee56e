import UprightOrientation
import UprightPolicy
import UprightTestSupport

extension SeededGenerator {
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  mutating func pick<T>(_ values: [T]) -> T {
    values[Int.random(in: 0..<values.count, using: &self)]
  }

  mutating func mask(allowEmpty: Bool = true) -> InterfaceOrientationMask {
    let words: [InterfaceOrientationMask] = [.all, .allButUpsideDown, .landscape, .portrait]
    if chance(50) { return pick(words) }
    return InterfaceOrientationMask(
      rawValue: Int.random(in: (allowEmpty ? 0 : 1)...15, using: &self) << 1)
  }

  mutating func orientation() -> InterfaceOrientation { pick(InterfaceOrientation.upright) }

  mutating func device() -> DeviceOrientation { pick(DeviceOrientation.allCases) }
}

extension SeededGenerator {
  /// A document with consistent names, for which UIKit might raise an exception.
  mutating func document(transition: Transition) -> PolicyDocument {
    var document = PolicyDocument()
    document.semantics = chance(20) ? .ios5 : .ios6
    document.device.idiom = chance(60) ? .phone : .pad
    document.device.orientation = device()
    document.device.rotationLock = chance(20)
    if chance(50) { document.application.infoPlist = mask() }
    if chance(30) { document.application.delegate = mask() }
    document.application.active = chance(80)
    document.transition = transition
    let count = Int.random(in: 1...8, using: &self)
    for index in 0..<count { document.controllers.append(controller(index)) }
    // Children have higher indices than their containers and one parent, so there are no cycles.
    for index in 1..<max(1, count) {
      let parent = Int.random(in: 0..<index, using: &self)
      guard document.controllers[parent].kind != .content, chance(70) else { continue }
      document.controllers[parent].children.append("c\(index)")
    }
    document.root = "c0"
    return document
  }

  /// The plan of a random policy and random events, or `nil` if UIKit would raise an exception at the start.
  mutating func run() -> OrientationPlan? {
    let document = document(transition: Transition(style: .hold, duration: 0.4))
    guard var plan = try? OrientationPlan(document) else { return nil }
    for index in 0..<40 {
      let action = action(document.controllers.count)
      _ = try? plan.push(RotationEvent(at: Double(index) / 4, action))
    }
    plan.finish()
    return plan
  }

  private mutating func controller(_ index: Int) -> PolicyDocument.Controller {
    var controller = PolicyDocument.Controller(name: "c\(index)")
    controller.kind = pick([.content, .content, .navigation, .tab])
    if controller.kind != .content, chance(70) {
      controller.authority = pick(PolicyDocument.Controller.Authority.allCases)
    }
    controller.shouldAutorotate = pick([.yes, .yes, .yes, .no, .manual])
    if chance(60) { controller.supported = mask() }
    if chance(30) { controller.preferred = orientation() }
    controller.ignoresRotationWhileInactive = chance(30)
    if chance(30) { controller.captureEnabledIn = mask() }
    if chance(60) { controller.accepts = mask() }
    return controller
  }

  mutating func action(_ count: Int) -> RotationEvent.Action {
    let name = "c\(Int.random(in: 0..<count, using: &self))"
    let other = "c\(Int.random(in: 0..<count, using: &self))"
    switch Int.random(in: 0..<20, using: &self) {
    case 0..<6: return .device(device())
    case 6:
      return .gravity(
        x: .random(in: -1...1, using: &self), y: .random(in: -1...1, using: &self),
        z: .random(in: -1...1, using: &self))
    case 7, 8: return .rotate(orientation())
    case 9: return .lock(chance(50))
    case 10: return .active(chance(60))
    case 11, 12: return .present(name, style: pick([nil, .fullScreen, .popover, .sheet]))
    case 13: return .dismiss
    case 14: return .push(name, onto: other)
    case 15: return .pop(name)
    case 16: return .select(name, in: other)
    case 17: return .setApplication(delegate: OrientationList(mask()))
    default:
      var answers = ControllerAnswers()
      if chance(40) { answers.supported = OrientationList(mask()) }
      if chance(30) { answers.shouldAutorotate = pick([.yes, .no, .manual]) }
      if chance(20) { answers.preferred = orientation() }
      if chance(20) { answers.captureEnabledIn = OrientationList(mask()) }
      if chance(30) { answers.accepts = OrientationList(mask()) }
      if answers == ControllerAnswers() { answers.ignoresRotationWhileInactive = chance(50) }
      return .set(name, answers)
    }
  }
}
