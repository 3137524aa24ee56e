internal import UprightOrientation

extension RotationReducer {
  /// The state, and the controllers with their current answers and children, for programs that show them.
  public var json: JSONValue {
    [
      "device": .string(state.device.name),
      "app": .string(state.appOrientation.name),
      "rotationLock": .bool(state.rotationLock),
      "active": .bool(state.active),
      "holds": .bool(state.hold.isOn),
      "application": applicationMask.json,
      "root": .string(tree[tree.root].name),
      "presentations": .array(
        state.presentations.map {
          ["controller": .string($0.controller), "style": .string($0.style.rawValue)]
        }),
      "deciding": .string(tree[deciding.controller].name),
      "containers": .array(deciding.containers.map { .string($0) }),
      "controllers": .array(tree.nodes.map { json(of: $0) }),
    ]
  }

  private func json(of node: ControllerTree.Node) -> JSONValue {
    [
      "name": .string(node.name),
      "kind": .string(node.kind.rawValue),
      "children": .array(node.children.map { .string(tree[$0].name) }),
      "visibleChild": node.visibleChild.map { .string(tree[$0].name) } ?? .null,
      "shouldAutorotate": node.autorotation.json,
      "supported": (tree.semantics == .ios5 ? node.accepts : node.supported).json,
      "preferred": node.preferred.map { .string($0.name) } ?? .null,
    ]
  }
}

extension InterfaceOrientationMask {
  fileprivate var json: JSONValue { .array(orientations.map { .string($0.name) }) }
}
