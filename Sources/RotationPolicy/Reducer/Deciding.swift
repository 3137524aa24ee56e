internal import Orientation

/// Who decides at the moment, with the answers a device event needs: found when the tree or an
/// answer changes, and only read in between.
struct Deciding: Sendable, Hashable {
  /// The deciding controller, or the container at which the way down ended.
  let controller: Int
  /// False where a `visibleChild` container on the way has no child.
  let isFound: Bool
  /// What the controller answers to "which orientations" (under iOS 5: accepts). Nil where that
  /// cannot be found out: an `everyChild` container holds a container that has nobody to ask.
  let mask: InterfaceOrientationMask?
  /// The containers that were asked on the way, from the top; names.
  let containers: [String]
  /// Who is told of a turn's phases: the deciding controller and its visible descendants; names.
  let receivers: [String]
}

extension ControllerTree {
  /// From `top` down by authority; spec 2, "The deciding controller". O(controllers).
  func deciding(from top: Int) -> Deciding {
    var current = top
    var containers: [String] = []
    while asksVisibleChild(current) {
      guard let child = self[current].visibleChild else {
        return Deciding(
          controller: current, isFound: false, mask: nil, containers: containers, receivers: [])
      }
      containers.append(self[current].name)
      current = child
    }
    let mask = semantics == .ios5 ? self[current].accepts : supported(by: current)
    return Deciding(
      controller: current, isFound: true, mask: mask, containers: containers,
      receivers: visible(from: current))
  }

  /// iOS 5 has no authority: containers ask their visible child.
  private func asksVisibleChild(_ index: Int) -> Bool {
    switch semantics {
    case .ios5: self[index].kind != .content
    case .ios6: self[index].kind != .content && self[index].authority == .visibleChild
    }
  }

  /// The resolved `supported` of `top`; nil where a container below has nobody to ask.
  ///
  /// An intersection of intersections is one intersection, so the tree is walked flat.
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
        // Nobody to intersect: its own answer, as UIKit's default implementation gives.
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
