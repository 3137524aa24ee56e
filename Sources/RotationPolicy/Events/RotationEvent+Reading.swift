internal import UprightOrientation

extension RotationEvent {
  /// Reads a file of events, one JSON object per line.
  ///
  /// Blank lines are skipped. Times must not go backwards. Use `EventReader` to read a file in pieces.
  ///
  /// - Throws: An error that gives the line of the first event that can't be read.
  public static func parse(jsonLines bytes: some Sequence<UInt8>) throws(PolicyError)
    -> [RotationEvent]
  {
    var reader = EventReader()
    var events = try reader.read(Array(bytes))
    if let last = try reader.finish() { events.append(last) }
    return events
  }

  /// Reads one line. Returns `nil` if it is blank. `number` is the 1-based line number for error messages.
  ///
  /// - Throws: An error that gives the line and the value that can't be read.
  public static func parse(line: some StringProtocol, number: Int) throws(PolicyError)
    -> RotationEvent?
  {
    try parse(line: Array(line.utf8), number: number)
  }

  /// Reads one line. Returns `nil` if it is blank. `number` is the 1-based line number for error messages.
  ///
  /// - Throws: An error that gives the line and the value that can't be read.
  public static func parse(line: some Sequence<UInt8>, number: Int) throws(PolicyError)
    -> RotationEvent?
  {
    try parse(slice: Array(line)[...], number: number)
  }

  static func parse(slice: ArraySlice<UInt8>, number: Int) throws(PolicyError) -> RotationEvent? {
    // A line with only a byte order mark is blank too.
    let text = slice.starts(with: [0xEF, 0xBB, 0xBF]) ? slice.dropFirst(3) : slice
    guard text.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D && $0 != 0x0A }) else {
      return nil
    }
    var event: RotationEvent
    do throws(PolicyError) {
      event = try RotationEvent(
        reading: JSONNode(value: JSONParser.value(of: slice), path: .line(number)))
    } catch  where error.code == .syntax {
      var error = error
      // The parser reports line 1 for this single line. Replace it with the line number in the file.
      error.path = "line \(number)" + error.path.drop { $0 != "," }
      throw error
    }
    event.line = number
    return event
  }

  /// Reads one event from a JSON object.
  ///
  /// - Throws: An error that gives the path of the value that can't be read.
  public init(_ value: JSONValue) throws(PolicyError) {
    try self.init(reading: JSONNode(value: value, path: .document))
  }

  /// The location of the event, for error messages.
  var place: String { line.map { "line \($0)" } ?? "the event at \(at)" }

  /// The action keys, each with the other keys that it allows.
  private static let companions: [(action: String, others: [String])] = [
    ("device", []), ("gravity", []), ("rotate", []), ("focus", []), ("lock", []), ("active", []),
    ("present", ["style"]), ("dismiss", []), ("push", ["onto"]), ("pop", []), ("select", ["in"]),
    (
      "set",
      [
        "shouldAutorotate", "supported", "preferred", "ignoresRotationWhileInactive",
        "captureEnabledIn", "accepts", "delegate",
      ]
    ),
  ]

  private init(reading top: JSONNode) throws(PolicyError) {
    let members = try top.members("an event")
    let found = members.filter { member in
      Self.companions.contains { $0.action == member.key }
    }
    guard let first = found.first,
      let known = Self.companions.first(where: { $0.action == first.key })
    else {
      let actions = Self.companions.map(\.action)
      if let stranger = members.first(where: { $0.key != "at" }) {
        throw top.unknownKey(stranger.key, among: actions)
      }
      throw top.failure(
        .missing, "the event has no action",
        remedy: "add one of " + actions.joined(separator: ", "))
    }
    if found.count > 1 {
      throw top.failure(
        .value, "one event has both \(quoted(first.key)) and \(quoted(found[1].key))",
        remedy: "write two events with the same time")
    }
    if let stranger = members.first(where: { member in
      member.key != "at" && member.key != known.action && !known.others.contains(member.key)
    }) {
      throw top.unknownKey(stranger.key, among: ["at", known.action] + known.others)
    }
    guard let at = members.first(where: { $0.key == "at" }) else {
      throw top.failure(
        .missing, "the event has no time", remedy: "add \"at\": seconds on the media timeline")
    }
    let time = try top.child(at).number()
    let action = try Action(reading: top.child(first), of: top, members: members)
    self.init(at: time, action)
    try check(at: top.child(at).path.text)
  }

  /// Throws `time` if `at` is not in 0...`latest`. Used for events from JSON and from code.
  func check(at path: @autoclosure () -> String) throws(PolicyError) {
    guard at.isFinite, at >= 0, at <= Self.latest else {
      throw PolicyError(
        .time, "\(at) is not a time on the media timeline", at: path(),
        remedy: "write seconds from 0 to \(Int(Self.latest))")
    }
  }
}

extension RotationEvent.Action {
  /// - Throws: `value` if an axis isn't 0...1. Used for events from JSON and from code.
  static func checkFocus(_ x: Double, _ y: Double, at path: String) throws(PolicyError) {
    // NaN is in no range.
    for axis in [x, y] where !(0...1).contains(axis) {
      throw PolicyError(
        .value, "\(axis) is not a part of the frame's width or height", at: path,
        remedy: "write [x, y], each from 0 (left, top) to 1 (right, bottom)")
    }
  }
}

extension RotationEvent.Action {
  fileprivate init(
    reading node: JSONNode, of event: JSONNode, members: [JSONValue.Member]
  ) throws(PolicyError) {
    func companion(_ key: String) -> JSONNode? {
      members.first { $0.key == key }.map(event.child)
    }
    func required(_ key: String, _ what: String) throws(PolicyError) -> String {
      if let node = companion(key) { return try node.name() }
      throw event.failure(.missing, "the event lacks \"\(key)\"", remedy: "add \"\(key)\": \(what)")
    }
    guard case .key(let key, _) = node.path else { throw node.wrongType("an event") }
    switch key {
    case "device": self = .device(try node.deviceOrientation())
    case "gravity": self = try Self.gravity(node)
    case "focus": self = try Self.focus(node)
    case "rotate": self = .rotate(try node.interfaceOrientation())
    case "lock": self = .lock(try node.bool())
    case "active": self = .active(try node.bool())
    case "present":
      let words: [(String, RotationEvent.PresentationStyle)] = PolicyDocument.words()
      let style = try companion("style")?.word("a presentation's style", from: words)
      self = .present(try node.name(), style: style)
    case "dismiss":
      guard try node.bool() else {
        throw node.failure(.value, "\"dismiss\" is false", remedy: "write true")
      }
      self = .dismiss
    case "push": self = .push(try node.name(), onto: try required("onto", "a navigation's name"))
    case "pop": self = .pop(try node.name())
    case "select":
      self = .select(try node.name(), in: try required("in", "a tab controller's name"))
    default: self = try Self.set(node, of: event, members: members)
    }
  }

  private static func gravity(_ node: JSONNode) throws(PolicyError) -> Self {
    let axes = try node.elements("a list of three numbers")
    guard axes.count == 3 else {
      throw node.failure(
        .value, "gravity has \(axes.count) numbers", remedy: "write three: [x, y, z] in g")
    }
    return .gravity(x: try axes[0].number(), y: try axes[1].number(), z: try axes[2].number())
  }

  private static func focus(_ node: JSONNode) throws(PolicyError) -> Self {
    let axes = try node.elements("a list of two numbers")
    guard axes.count == 2 else {
      throw node.failure(
        .value, "focus has \(axes.count) numbers", remedy: "write two: [x, y], each 0 to 1")
    }
    let (x, y) = (try axes[0].number(), try axes[1].number())
    try checkFocus(x, y, at: node.path.text)
    return .focus(x: x, y: y)
  }

  private static func set(
    _ node: JSONNode, of event: JSONNode, members: [JSONValue.Member]
  ) throws(PolicyError) -> Self {
    let name = try node.name()
    var answers = ControllerAnswers()
    var delegate: OrientationList?
    let isApplication = name == ControllerTree.applicationName
    for member in members where member.key != "at" && member.key != "set" {
      let child = event.child(member)
      guard isApplication == (member.key == "delegate") else {
        throw event.unknownKey(
          member.key,
          among: isApplication ? ["delegate"] : ["shouldAutorotate", "supported", "preferred"])
      }
      switch member.key {
      case "shouldAutorotate": answers.shouldAutorotate = try .init(reading: child)
      case "supported": answers.supported = try OrientationList(reading: child)
      case "preferred": answers.preferred = try child.interfaceOrientation()
      case "ignoresRotationWhileInactive":
        answers.ignoresRotationWhileInactive = try child.bool()
      case "captureEnabledIn": answers.captureEnabledIn = try OrientationList(reading: child)
      case "accepts": answers.accepts = try OrientationList(reading: child)
      default: delegate = try OrientationList(reading: child)
      }
    }
    if let delegate { return .setApplication(delegate: delegate) }
    guard answers != ControllerAnswers() else {
      throw event.failure(
        .missing, "the event sets no value of \(quoted(name))",
        remedy: isApplication ? "add \"delegate\"" : "add \"supported\" or \"shouldAutorotate\"")
    }
    return .set(name, answers)
  }
}

extension PolicyError {
  static func backwards(_ at: Double, after last: Double, at path: String) -> PolicyError {
    PolicyError(
      .time, "the time goes backwards, from \(last) to \(at)", at: path,
      remedy: "sort the events by \"at\"")
  }
}
