extension ControllerTree {
  /// A validated change of the tree. Controllers are given by index.
  enum Change: Sendable {
    case present(Int, RotationEvent.PresentationStyle)
    case dismiss
    case push(Int, onto: Int)
    case pop(Int)
    case select(Int, in: Int)
  }

  /// Checks that `controller` can be attached: neither it nor a controller below it may be in the trees of
  /// the root and of `presented`, or in the detached container that it is pushed onto.
  ///
  /// - Throws: `controller` if one of them is in use.
  func checkFree(
    _ controller: Int, presented: [Int], onto container: Int? = nil, at place: String
  ) throws(PolicyError) {
    var taken = Set(subtree(of: root))
    for top in presented { taken.formUnion(subtree(of: top)) }
    if let container { taken.formUnion(subtree(of: container)) }
    var seen: Set<Int> = []
    for index in subtree(of: controller) {
      guard !taken.contains(index), seen.insert(index).inserted else {
        throw PolicyError(
          .controller, "\(quoted(nodes[index].name)) is already in the tree", at: place,
          remedy: "pop or dismiss it first")
      }
    }
  }

  /// Returns the index of the container named `name`. Throws if it isn't of `kind`.
  func container(
    _ name: String, _ kind: PolicyDocument.Controller.Kind, at place: String
  ) throws(PolicyError) -> Int {
    let index = try index(of: name, at: place)
    guard nodes[index].kind == kind else {
      throw PolicyError(
        .controller, "\(quoted(name)) is not a \(kind.rawValue) controller", at: place,
        remedy: "name one whose \"kind\" is \"\(kind.rawValue)\"")
    }
    return index
  }

  mutating func push(_ child: Int, onto container: Int) { self[container].children.append(child) }

  /// Removes the top controller. Returns `false` if it is the only one: UIKit keeps the root of a stack.
  mutating func pop(_ container: Int) -> Bool {
    guard self[container].children.count > 1 else { return false }
    self[container].children.removeLast()
    return true
  }

  mutating func select(_ child: Int, in container: Int) { self[container].selected = child }

  /// Changes the answers of a controller.
  mutating func set(_ answers: ControllerAnswers, of index: Int) {
    var node = self[index]
    if let value = answers.shouldAutorotate { node.autorotation = value }
    if let value = answers.supported { node.supported = value.mask }
    if let value = answers.preferred { node.preferred = value }
    if let value = answers.ignoresRotationWhileInactive {
      node.ignoresRotationWhileInactive = value
    }
    if let value = answers.captureEnabledIn { node.captureEnabledIn = value.mask }
    if let value = answers.accepts { node.accepts = value.mask }
    self[index] = node
  }
}
