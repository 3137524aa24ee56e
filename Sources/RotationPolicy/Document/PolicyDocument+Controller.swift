public import UprightOrientation

extension PolicyDocument {
  /// A view controller and its answers.
  public struct Controller: Sendable, Hashable {
    /// The kind of controller.
    public enum Kind: String, CaseIterable, Sendable, Hashable {
      /// A controller that isn't a container.
      case content
      /// `UINavigationController`: a stack whose top controller is visible.
      case navigation
      /// `UITabBarController`: the selected child is visible.
      case tab
    }

    /// The controllers that give the three answers of a container: `shouldAutorotate`, `supported` and
    /// `preferred`.
    public enum Authority: String, CaseIterable, Sendable, Hashable {
      /// The container itself, as `UINavigationController` does.
      case container
      /// The top of the stack, or the selected tab.
      case visibleChild
      /// All children for `supported`, which is the intersection of their answers; the container for the
      /// other two, as `UITabBarController` does.
      case everyChild
    }

    /// The answer to `shouldAutorotate`.
    public enum Autorotation: Sendable, Hashable, Codable {
      /// Always.
      case yes
      /// Never.
      case no
      /// Only when the app requests an orientation itself (`rotate`).
      case manual
    }

    /// The name that events and containers use.
    public var name: String
    /// The kind of controller.
    public var kind = Kind.content
    /// The controllers that answer for a container. `nil` means the default of the kind.
    public var authority: Authority?
    /// The children of a container: the stack of a navigation controller, bottom first, or the tabs of a tab
    /// controller.
    public var children: [String] = []
    /// The selected child of a tab controller. `nil` means the first.
    public var selected: String?
    /// Whether the controller autorotates.
    public var shouldAutorotate = Autorotation.yes
    /// The answer to `supportedInterfaceOrientations`. `nil` means the default of the idiom. An empty list is
    /// an empty mask.
    public var supported: InterfaceOrientationMask?
    /// The answer to `preferredInterfaceOrientationForPresentation`. `nil` means no answer.
    public var preferred: InterfaceOrientation?
    /// Whether the controller ignores rotation while the app is inactive.
    public var ignoresRotationWhileInactive = false
    /// The orientations in which camera frames are sent (phone only). `nil` means all.
    public var captureEnabledIn: InterfaceOrientationMask?
    /// The orientations accepted under iOS 5 semantics. `nil` means portrait.
    public var accepts: InterfaceOrientationMask?

    /// Creates a controller with default answers.
    public init(name: String) { self.name = name }
  }
}

extension PolicyDocument.Controller.Kind {
  /// The authority of a controller whose document gives none.
  var defaultAuthority: PolicyDocument.Controller.Authority {
    self == .tab ? .everyChild : .container
  }
}

extension PolicyDocument.Controller.Autorotation {
  /// `true`, `false` or `"manual"`.
  var json: JSONValue {
    switch self {
    case .yes: .bool(true)
    case .no: .bool(false)
    case .manual: "manual"
    }
  }

  init(reading node: JSONNode) throws(PolicyError) {
    switch node.value {
    case .bool(let flag): self = flag ? .yes : .no
    case .string: self = try node.word("true, false or \"manual\"", from: [("manual", .manual)])
    default: throw node.wrongType("true, false or \"manual\"")
    }
  }
}
