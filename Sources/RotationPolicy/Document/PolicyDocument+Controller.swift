public import Orientation

extension PolicyDocument {
  /// A view controller's answers, as a document gives them.
  public struct Controller: Sendable, Hashable {
    /// What kind of controller.
    public enum Kind: String, CaseIterable, Sendable, Hashable {
      /// Shows content of its own.
      case content
      /// `UINavigationController`: a stack, its top is visible.
      case navigation
      /// `UITabBarController`: the selected child is visible.
      case tab
    }

    /// Who gives a container's three answers: `shouldAutorotate`, `supported`, `preferred`.
    public enum Authority: String, CaseIterable, Sendable, Hashable {
      /// The container itself, as `UINavigationController` does.
      case container
      /// The top of the stack, the selected tab.
      case visibleChild
      /// Supported is the intersection of every child's answer, the other two are the container's
      /// own, as `UITabBarController` does.
      case everyChild
    }

    /// `shouldAutorotate`'s answer.
    public enum Autorotation: Sendable, Hashable {
      /// Always.
      case yes
      /// Never.
      case no
      /// Only while the application turns itself (`rotate`).
      case manual
    }

    /// The name that events and containers use.
    public var name: String
    /// What kind of controller.
    public var kind = Kind.content
    /// Who answers for a container; nil: the kind's default.
    public var authority: Authority?
    /// A container's children: a navigation's stack, bottom first, or a tab's tabs.
    public var children: [String] = []
    /// A tab's selected child; nil: the first.
    public var selected: String?
    /// Whether it autorotates.
    public var shouldAutorotate = Autorotation.yes
    /// `supportedInterfaceOrientations`; nil: the idiom's default. Empty is an empty mask.
    public var supported: InterfaceOrientationMask?
    /// `preferredInterfaceOrientationForPresentation`; nil: it does not answer.
    public var preferred: InterfaceOrientation?
    /// Whether nothing turns while the application is not active.
    public var ignoresRotationWhileInactive = false
    /// Where the camera is sent (phone only); nil: everywhere.
    public var captureEnabledIn: InterfaceOrientationMask?
    /// iOS 5's one answer; nil: portrait.
    public var accepts: InterfaceOrientationMask?

    /// A controller with defaults.
    public init(name: String) { self.name = name }
  }
}

extension PolicyDocument.Controller.Kind {
  /// Who answers where a document does not say.
  public var defaultAuthority: PolicyDocument.Controller.Authority {
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
