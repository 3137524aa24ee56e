internal import UprightOrientation

extension PolicyDocument {
  /// Reads a document.
  ///
  /// - Throws: An error with the JSON path for unknown keys, unknown words, wrong types, missing names and
  ///   cycles. Whether UIKit would accept the policy is checked by `RotationReducer`.
  public init(json: some Sequence<UInt8>) throws(PolicyError) {
    try self.init(JSONValue(parsing: json))
  }

  /// Reads a document from a parsed JSON value, such as a part of a larger configuration.
  ///
  /// - Throws: The same errors as for a text, without `syntax`.
  public init(_ value: JSONValue) throws(PolicyError) {
    self.init()
    let top = JSONNode(value: value, path: .document)
    for member in try top.members("a policy") {
      let node = top.child(member)
      switch member.key {
      case "semantics": semantics = try node.word("semantics", from: Self.words())
      case "device": device = try Device(reading: node)
      case "application": application = try Application(reading: node)
      case "root": root = try node.name()
      case "controllers": controllers = try Self.controllers(node)
      case "transition": transition = try Transition(reading: node)
      case "stream": (streamSize, streamCaptureSize) = try Self.stream(node)
      default:
        throw top.unknownKey(
          member.key,
          among: [
            "semantics", "device", "application", "root", "controllers", "transition", "stream",
          ])
      }
    }
    // Check the relations between controllers: names, cycles, the root.
    _ = try ControllerTree(self)
  }

  /// Returns the raw values of an enumeration with their cases.
  static func words<Value>() -> [(String, Value)]
  where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    Value.allCases.map { ($0.rawValue, $0) }
  }

  private static func controllers(_ node: JSONNode) throws(PolicyError) -> [Controller] {
    var result: [Controller] = []
    for member in try node.members("controllers by name") {
      let child = node.child(member)
      result.append(try Controller(name: member.key, reading: child))
    }
    return result
  }

  private static func stream(_ node: JSONNode) throws(PolicyError) -> (PixelSize?, PixelSize?) {
    var size: PixelSize?
    var captureSize: PixelSize?
    for member in try node.members("the stream's sizes") {
      let child = node.child(member)
      switch member.key {
      case "size": size = try child.streamSize()
      case "captureSize": captureSize = try child.streamSize()
      default: throw node.unknownKey(member.key, among: ["size", "captureSize"])
      }
    }
    if let size, let captureSize {
      try StreamGuidance(encodeSize: size, captureSize: captureSize)
        .check(at: JSONPath.key("captureSize", of: node.path).text)
    }
    return (size, captureSize)
  }
}

extension PolicyDocument.Device {
  fileprivate init(reading node: JSONNode) throws(PolicyError) {
    self.init()
    for member in try node.members("the device") {
      let child = node.child(member)
      switch member.key {
      case "idiom": idiom = try child.word("an idiom", from: PolicyDocument.words())
      case "orientation": orientation = try child.deviceOrientation()
      case "rotationLock": rotationLock = try child.bool()
      default:
        throw node.unknownKey(member.key, among: ["idiom", "orientation", "rotationLock"])
      }
    }
  }
}

extension PolicyDocument.Application {
  fileprivate init(reading node: JSONNode) throws(PolicyError) {
    self.init()
    for member in try node.members("the application") {
      let child = node.child(member)
      switch member.key {
      case "infoPlist": infoPlist = try OrientationList(reading: child).mask
      case "delegate": delegate = try OrientationList(reading: child).mask
      case "active": active = try child.bool()
      default: throw node.unknownKey(member.key, among: ["infoPlist", "delegate", "active"])
      }
    }
  }
}

extension Transition {
  fileprivate init(reading node: JSONNode) throws(PolicyError) {
    self.init()
    for member in try node.members("the transition") {
      let child = node.child(member)
      switch member.key {
      case "style": style = try child.word("a transition's style", from: PolicyDocument.words())
      case "duration":
        duration = try child.number()
        guard (0...Self.longestDuration).contains(duration) else {
          throw child.failure(
            .value, "a transition cannot last \(duration) seconds",
            remedy: "write seconds from 0 to \(Int(Self.longestDuration))")
        }
      default: throw node.unknownKey(member.key, among: ["style", "duration"])
      }
    }
  }
}

extension PolicyDocument.Controller {
  private static let keys = [
    "kind", "authority", "children", "selected", "shouldAutorotate", "supported", "preferred",
    "ignoresRotationWhileInactive", "captureEnabledIn", "accepts",
  ]

  fileprivate init(name: String, reading node: JSONNode) throws(PolicyError) {
    self.init(name: name)
    for member in try node.members("a controller") {
      let child = node.child(member)
      switch member.key {
      case "kind": kind = try child.word("a kind of controller", from: PolicyDocument.words())
      case "authority": authority = try child.word("an authority", from: PolicyDocument.words())
      case "children":
        for element in try child.elements("a list of controllers' names") {
          children.append(try element.name())
        }
      case "selected": selected = try child.name()
      case "shouldAutorotate": shouldAutorotate = try Autorotation(reading: child)
      case "supported": supported = try OrientationList(reading: child).mask
      case "preferred": preferred = try child.interfaceOrientation()
      case "ignoresRotationWhileInactive": ignoresRotationWhileInactive = try child.bool()
      case "captureEnabledIn": captureEnabledIn = try OrientationList(reading: child).mask
      case "accepts": accepts = try OrientationList(reading: child).mask
      default: throw node.unknownKey(member.key, among: Self.keys)
      }
    }
  }
}
