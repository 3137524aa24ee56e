internal import UprightOrientation

/// The deciding controller, with the answers that a device event needs.
///
/// It is computed when the tree or an answer changes, so that device events only read it.
struct DecidingController: Sendable, Hashable {
  /// The deciding controller. If none was found, the container without a visible child.
  let controller: Int
  /// Whether the deciding controller was found. `false` if a `visibleChild` container on the way has no
  /// child.
  let isFound: Bool
  /// The orientations that the controller supports (under iOS 5, accepts). `nil` if they are unknown, because
  /// the controller or a container below it asks its visible child and has none.
  let mask: InterfaceOrientationMask?
  /// The names of the containers on the way to the controller, from the top.
  let containers: [String]
  /// The names of the controllers that are notified of the phases of a rotation: the deciding controller
  /// and its visible descendants.
  let receivers: [String]
}

extension ControllerTree {
  /// Returns the deciding controller below `top`: descends from containers that ask their visible child to
  /// that child. O(controllers).
  func deciding(from top: Int) -> DecidingController {
    var current = top
    var containers: [String] = []
    while asksVisibleChild(current) {
      guard let child = self[current].visibleChild else {
        return DecidingController(
          controller: current, isFound: false, mask: nil, containers: containers, receivers: [])
      }
      containers.append(self[current].name)
      current = child
    }
    let mask = semantics == .ios5 ? self[current].accepts : supported(by: current)
    return DecidingController(
      controller: current, isFound: true, mask: mask, containers: containers,
      receivers: visible(from: current))
  }

  /// Returns whether a container asks its visible child. iOS 5 has no authority: all containers do.
  private func asksVisibleChild(_ index: Int) -> Bool {
    switch semantics {
    case .ios5: self[index].kind != .content
    case .ios6: self[index].kind != .content && self[index].authority == .visibleChild
    }
  }

  /// Returns the resolved `supported` of `top`, or `nil` if a container has no child to ask.
  ///
  /// Nested intersections are equal to one intersection, so the order of the walk doesn't matter.
  private func supported(by top: Int) -> InterfaceOrientationMask? {
    var mask = InterfaceOrientationMask.all
    var open = [top]
    while let index = open.popLast() {
      let node = self[index]
      switch node.kind == .content ? .container : node.authority {
      case .container: mask.formIntersection(node.supported)
      case .visibleChild:
        guard let child = node.visibleChild else { return nil }
        open.append(child)
      case .everyChild:
        // Without children, the container gives the answer, like UIKit's default implementation.
        if node.children.isEmpty { mask.formIntersection(node.supported) }
        open += node.children
      }
    }
    return mask
  }

  private func visible(from top: Int) -> [String] {
    var result = [self[top].name]
    var current = top
    while let child = self[current].visibleChild {
      result.append(self[child].name)
      current = child
    }
    return result
  }
}
