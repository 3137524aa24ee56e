internal import UprightOrientation

/// The controllers of a policy, by index, with their containment.
///
/// Names are looked up only when a document or a tree event is read. Device events use only integers. The
/// tree is walked with loops instead of recursion, because a document can nest containers deeply.
struct ControllerTree: Sendable, Hashable {
  /// The name of the application in `set` events.
  static let applicationName = "application"
  /// The name of the implicit controller of a document without controllers.
  static let onlyName = "main"

  struct Node: Sendable, Hashable {
    var name: String
    var kind: PolicyDocument.Controller.Kind
    var authority: PolicyDocument.Controller.Authority
    var autorotation: PolicyDocument.Controller.Autorotation
    var supported: InterfaceOrientationMask
    var preferred: InterfaceOrientation?
    var ignoresRotationWhileInactive: Bool
    /// `all` if the controller gives no answer.
    var captureEnabledIn: InterfaceOrientationMask
    var accepts: InterfaceOrientationMask
    var children: [Int] = []
    var selected: Int?

    /// The top of the stack, or the selected tab.
    var visibleChild: Int? { kind == .navigation ? children.last : selected }
  }

  let semantics: PolicyDocument.Semantics
  private(set) var nodes: [Node]
  private(set) var root = 0
  private let indices: [String: Int]

  /// The maximum number of controllers in a document. No app has as many. The limit bounds the cost of tree
  /// walks.
  private static let maxControllers = 1024

  /// Creates the tree of `document`.
  ///
  /// - Throws: An error for unknown or repeated names, cycles, a controller with two parents, or a missing root.
  init(_ document: PolicyDocument) throws(PolicyError) {
    let controllers =
      document.controllers.isEmpty && document.root == nil
      ? [PolicyDocument.Controller(name: Self.onlyName)] : document.controllers
    guard controllers.count <= Self.maxControllers else {
      throw PolicyError(
        .controller, "there are \(controllers.count) controllers", at: "controllers",
        remedy: "remove those that no event names; the limit is \(Self.maxControllers)")
    }
    semantics = document.semantics
    nodes = controllers.map { Node($0, idiom: document.device.idiom) }
    var indices: [String: Int] = [:]
    for (index, controller) in controllers.enumerated() {
      guard !controller.name.isEmpty, controller.name != Self.applicationName else {
        throw PolicyError(
          .controller, "a controller cannot be named \(quoted(controller.name))",
          at: JSONPath.key(controller.name, of: .key("controllers", of: .document)).text,
          remedy: "use another name: events use this one for the application")
      }
      guard indices.updateValue(index, forKey: controller.name) == nil else {
        throw PolicyError(
          .controller, "two controllers are named \(quoted(controller.name))", at: "controllers",
          remedy: "use a unique name for each")
      }
    }
    self.indices = indices
    for (index, controller) in controllers.enumerated() {
      try link(controller, at: index)
    }
    try refuseCycles()
    root = try rootIndex(document)
    try refuseRepetition(below: root)
  }

  subscript(_ index: Int) -> Node {
    get { nodes[index] }
    set { nodes[index] = newValue }
  }

  /// Returns the index of the controller named `name`. `place` is the location of the name, for the error
  /// message.
  func index(of name: String, at place: String) throws(PolicyError) -> Int {
    if let index = indices[name] { return index }
    let near = nearMiss(of: name, among: nodes.lazy.map(\.name))
    throw PolicyError(
      .controller, "there is no controller \(quoted(name))", at: place,
      remedy: near.map { "did you mean \(quoted($0))?" } ?? "add it to \"controllers\"")
  }

  /// Returns `top` and all controllers below it, visible or not.
  func subtree(of top: Int) -> [Int] {
    var result = [top]
    var next = 0
    // The limit is for trees that are not validated yet, in which a controller can be repeated.
    while next < result.count, result.count <= nodes.count {
      result += nodes[result[next]].children
      next += 1
    }
    return result
  }
}

extension ControllerTree.Node {
  fileprivate init(_ controller: PolicyDocument.Controller, idiom: PolicyDocument.Idiom) {
    name = controller.name
    kind = controller.kind
    authority = controller.authority ?? controller.kind.defaultAuthority
    autorotation = controller.shouldAutorotate
    supported = controller.supported ?? idiom.supported
    preferred = controller.preferred
    ignoresRotationWhileInactive = controller.ignoresRotationWhileInactive
    captureEnabledIn = controller.captureEnabledIn ?? .all
    accepts = controller.accepts ?? .portrait
  }
}

extension ControllerTree {
  private mutating func link(
    _ controller: PolicyDocument.Controller, at index: Int
  ) throws(PolicyError) {
    let path = JSONPath.key(controller.name, of: .key("controllers", of: .document))
    if controller.kind == .content {
      let stray: String? =
        if !controller.children.isEmpty { "children" } else if controller.selected != nil {
          "selected"
        } else if let authority = controller.authority, authority != .container {
          "authority"
        } else { nil }
      if let stray {
        throw PolicyError(
          .controller, "\(quoted(controller.name)) is not a container",
          at: JSONPath.key(stray, of: path).text,
          remedy: "add \"kind\": \"navigation\" or \"tab\", or remove it")
      }
    }
    var seen: Set<Int> = []
    for (position, name) in controller.children.enumerated() {
      let place = JSONPath.index(position, of: .key("children", of: path)).text
      let child = try self.index(of: name, at: place)
      guard seen.insert(child).inserted else {
        throw PolicyError(
          .controller, "\(quoted(name)) appears twice in \(quoted(controller.name))", at: place,
          remedy: "remove one of the two: a controller has one place in the tree")
      }
      nodes[index].children.append(child)
    }
    if controller.kind == .tab { nodes[index].selected = nodes[index].children.first }
    if let selected = controller.selected {
      let place = JSONPath.key("selected", of: path).text
      let child = try self.index(of: selected, at: place)
      guard controller.kind == .tab, seen.contains(child) else {
        throw PolicyError(
          .controller, "\(quoted(selected)) is not a tab of \(quoted(controller.name))", at: place,
          remedy: controller.kind == .tab
            ? "select one of its children" : "only \"kind\": \"tab\" has \"selected\"")
      }
      nodes[index].selected = child
    }
  }

  private func rootIndex(_ document: PolicyDocument) throws(PolicyError) -> Int {
    if let root = document.root { return try index(of: root, at: "root") }
    guard nodes.count == 1 else {
      throw PolicyError(
        .missing, "there are \(nodes.count) controllers and no root", at: "the document",
        remedy: "add \"root\": the name of the window's root controller")
    }
    return 0
  }

  /// Searches depth first with an explicit stack. An edge to a controller on the current path is a cycle.
  private func refuseCycles() throws(PolicyError) {
    enum Mark { case new, open, done }
    var marks = [Mark](repeating: .new, count: nodes.count)
    for start in nodes.indices where marks[start] == .new {
      var stack: [(node: Int, next: Int)] = [(start, 0)]
      marks[start] = .open
      while let top = stack.last {
        guard top.next < nodes[top.node].children.count else {
          marks[top.node] = .done
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].next += 1
        let child = nodes[top.node].children[top.next]
        switch marks[child] {
        case .done: continue
        case .new:
          marks[child] = .open
          stack.append((child, 0))
        case .open:
          throw PolicyError(
            .controller, "\(quoted(nodes[child].name)) contains itself",
            at: JSONPath.index(
              top.next,
              of: .key(
                "children",
                of: .key(nodes[top.node].name, of: .key("controllers", of: .document)))
            ).text,
            remedy: "remove it from one of the containers")
        }
      }
    }
  }

  private func refuseRepetition(below top: Int) throws(PolicyError) {
    var seen: Set<Int> = []
    for index in subtree(of: top) where !seen.insert(index).inserted {
      throw PolicyError(
        .controller, "\(quoted(nodes[index].name)) has two parents", at: "controllers",
        remedy: "use two controllers with different names")
    }
  }
}
