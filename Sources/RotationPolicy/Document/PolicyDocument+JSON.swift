internal import UprightOrientation

extension PolicyDocument {
  /// The document as JSON. Reading it gives an equal document. Default values are omitted, except the
  /// semantics.
  public var json: JSONValue {
    var members: [JSONValue.Member] = [.init("semantics", .string(semantics.rawValue))]
    members.add("device", device.members)
    members.add("application", application.members)
    if let root { members.append(.init("root", .string(root))) }
    members.add("controllers", controllers.map { .init($0.name, $0.json) })
    members.add("transition", transition.members)
    var stream: [JSONValue.Member] = []
    stream.add("size", streamSize.map { .string($0.description) })
    stream.add("captureSize", streamCaptureSize.map { .string($0.description) })
    members.add("stream", stream)
    return .object(members)
  }
}

extension PolicyDocument.Device {
  fileprivate var members: [JSONValue.Member] {
    let standard = Self()
    var members: [JSONValue.Member] = []
    if idiom != standard.idiom { members.add("idiom", .string(idiom.rawValue)) }
    if orientation != standard.orientation { members.add("orientation", .string(orientation.name)) }
    if rotationLock != standard.rotationLock { members.add("rotationLock", .bool(rotationLock)) }
    return members
  }
}

extension PolicyDocument.Application {
  fileprivate var members: [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    members.add("infoPlist", infoPlist.map { OrientationList($0).json })
    members.add("delegate", delegate.map { OrientationList($0).json })
    if active != Self().active { members.add("active", .bool(active)) }
    return members
  }
}

extension PolicyDocument.Controller {
  fileprivate var json: JSONValue {
    let standard = Self(name: name)
    var members: [JSONValue.Member] = []
    if kind != standard.kind { members.add("kind", .string(kind.rawValue)) }
    members.add("authority", authority.map { .string($0.rawValue) })
    if !children.isEmpty { members.add("children", .array(children.map { .string($0) })) }
    members.add("selected", selected.map { .string($0) })
    if shouldAutorotate != standard.shouldAutorotate {
      members.add("shouldAutorotate", shouldAutorotate.json)
    }
    members.add("supported", supported.map { OrientationList($0).json })
    members.add("preferred", preferred.map { .string($0.name) })
    if ignoresRotationWhileInactive != standard.ignoresRotationWhileInactive {
      members.add("ignoresRotationWhileInactive", .bool(ignoresRotationWhileInactive))
    }
    members.add("captureEnabledIn", captureEnabledIn.map { OrientationList($0).json })
    members.add("accepts", accepts.map { OrientationList($0).json })
    return .object(members)
  }
}

extension Transition {
  fileprivate var members: [JSONValue.Member] {
    let standard = Transition()
    var members: [JSONValue.Member] = []
    if style != standard.style { members.add("style", .string(style.rawValue)) }
    if duration != standard.duration { members.add("duration", .number(duration)) }
    return members
  }
}

extension [JSONValue.Member] {
  /// Adds `value` under `key`, unless it is `nil`.
  fileprivate mutating func add(_ key: String, _ value: JSONValue?) {
    if let value { append(.init(key, value)) }
  }

  /// Adds an object under `key`, unless it has no members.
  fileprivate mutating func add(_ key: String, _ members: [JSONValue.Member]) {
    if !members.isEmpty { append(.init(key, .object(members))) }
  }
}

extension PolicyDocument: Codable {
  /// Writes the document's JSON as one string, so that its keys keep their order. Throws what the
  /// encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(json.compact)
  }

  /// Reads what `encode(to:)` has written.
  ///
  /// - Throws: The errors of `init(json:)`, and the decoder's.
  public init(from decoder: any Decoder) throws {
    try self.init(json: decoder.singleValueContainer().decode(String.self).utf8)
  }
}
