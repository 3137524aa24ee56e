extension ControllerTree {
  /// A change of the tree whose names have been found and whose place has been checked.
  enum Change: Sendable {
    case present(Int, RotationEvent.PresentationStyle)
    case dismiss
    case push(Int, onto: Int)
    case pop(Int)
    case select(Int, in: Int)
  }

  /// Checks that `controller` and all it holds can be attached: nothing of it is in the tree that
  /// `presented` and the root make, nor in the detached container it is pushed onto.
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
          .controller, "\(quoted(nodes[index].name)) is in the tree already", at: place,
          remedy: "pop or dismiss it first")
      }
    }
  }

  /// The index of the container called `name`, which must be of `kind`.
  func container(
    _ name: String, _ kind: PolicyDocument.Controller.Kind, at place: String
  ) throws(PolicyError) -> Int {
    let index = try index(of: name, at: place)
    guard nodes[index].kind == kind else {
      throw PolicyError(
        .controller, "\(quoted(name)) is no \(kind.rawValue) controller", at: place,
        remedy: "name one whose \"kind\" is \"\(kind.rawValue)\"")
    }
    return index
  }

  mutating func push(_ child: Int, onto container: Int) { self[container].children.append(child) }

  /// False where the last controller would go: UIKit keeps the root of a stack.
  mutating func pop(_ container: Int) -> Bool {
    guard self[container].children.count > 1 else { return false }
    self[container].children.removeLast()
    return true
  }

  mutating func select(_ child: Int, in container: Int) { self[container].selected = child }

  /// Changes a controller's answers.
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
