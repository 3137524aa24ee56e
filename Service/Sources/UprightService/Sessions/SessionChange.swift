internal import UprightPolicy
internal import Upright

/// A parsed and checked change of a running session, from a PATCH.
struct SessionChange: Sendable {
  var policy: PolicyDocument?
  /// The options that change, by name. `null` stands for the default.
  var options: JSONValue

  /// - Throws: `Problem` 400 if the JSON has the wrong form or changes nothing, 409 for what can't change while
  ///   a session runs; `Refusal` if an option isn't one, `PolicyError` if the policy isn't valid.
  init(_ value: JSONValue) throws {
    let members = try SessionRequest.members(
      of: value, "change",
      allowing: ["policy", "options", "name", "input", "outputs", "inputTimeout"])
    for name in ["name", "input", "inputTimeout"] where members[name] != nil {
      throw Problem.conflict(
        "\(name): can't change while the session runs; end it and create another")
    }
    if members["outputs"] != nil {
      throw Problem.conflict(
        "outputs: can't change as a whole; add, stop and remove them one by one below /outputs")
    }
    policy = try members["policy"].map(SessionRequest.policy)
    options = members["options"] ?? [:]
    if members["options"] != nil { try SessionOptions.check(patch: options) }
    guard policy != nil || !names.isEmpty else {
      throw Problem.badRequest("the change is empty; use policy or options")
    }
  }

  /// The names of the options that change.
  private var names: [String] {
    if case .object(let members) = options { members.map(\.key) } else { [] }
  }

  /// Returns the change, with the values that `all` options of the session would then have.
  func live(_ all: TranscodeOptions) -> LiveChange {
    var change = LiveChange()
    change.policy = policy
    for name in names {
      switch name {
      case "fit": change.fit = .some(all.fit)
      case "portrait-fit": change.portraitFit = .some(all.portraitFit)
      case "landscape-fit": change.landscapeFit = .some(all.landscapeFit)
      case "background": change.background = all.background
      case "slate": change.slate = .some(all.slate)
      case "overlay": change.overlays = all.overlays
      default: change.rate = all.rate
      }
    }
    return change
  }
}

extension LiveChange {
  /// The names of the settings that change, as in a PATCH.
  var names: [String] {
    let all = [
      ("policy", policy != nil), ("fit", fit != nil), ("portrait-fit", portraitFit != nil),
      ("landscape-fit", landscapeFit != nil), ("background", background != nil),
      ("slate", slate != nil), ("overlay", overlays != nil), ("bitrate", rate != nil),
    ]
    return all.filter(\.1).map(\.0)
  }

  /// The JSON of an event.
  func json(_ applied: AppliedChange) -> JSONValue {
    [
      "at": applied.at.map { .number($0) } ?? .null,
      "changed": .array(names.map { .string($0) }),
    ]
  }
}
