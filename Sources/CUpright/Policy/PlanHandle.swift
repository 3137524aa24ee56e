// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFrames

/// `upright_plan`.
private final class PlanHandle: HandleObject {
  static let name = "upright_plan"

  var plan: OrientationPlan
  /// The formats that are settled and have not been taken.
  var formats: [FormatChange] = []

  init(_ policy: PolicyDocument) throws(UprightError) {
    do throws(PolicyError) { plan = try OrientationPlan(policy) } catch {
      throw UprightError(error, code: .badData)
    }
  }

  func push(_ lines: String) throws(UprightError) {
    do throws(PolicyError) {
      for event in try RotationEvent.parse(jsonLines: lines.utf8) {
        try plan.push(event)
        // An event at the same time can still take a change of format back.
        formats += plan.takeFormats(before: event.at)
      }
    } catch {
      throw UprightError(error, code: .badData)
    }
  }

  func advance(to seconds: Double) {
    plan.advance(to: seconds)
    formats += plan.takeFormats(before: seconds)
    plan.forget(before: seconds)
  }

  func take() -> JSONValue {
    defer { formats.removeAll() }
    return [
      "events": .array(plan.takeEntries().map(\.json)), "formats": .array(formats.map(\.json)),
    ]
  }
}

extension upright_format {
  /// The caller's struct, whose size is kept.
  fileprivate mutating func set(_ format: StreamFormat, isCaptureEnabled: Bool) {
    app_orientation = Int32(format.appOrientation.rawValue)
    capture_enabled = isCaptureEnabled ? 1 : 0
    capture_width = Int32(clamping: format.captureResolution.width)
    capture_height = Int32(clamping: format.captureResolution.height)
    encode_width = Int32(clamping: format.encodeResolution.width)
    encode_height = Int32(clamping: format.encodeResolution.height)
  }
}

@c @implementation
public func upright_plan_new(
  _ policy: UnsafePointer<CChar>?, _ plan: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(plan, "plan")
    let made = try PlanHandle(unsafe CUprightPolicy.policy(policy))
    unsafe result.pointee = try HandleTable.shared.add(made)
    return Status.ok
  }
}

@c @implementation
public func upright_plan_free(_ plan: OpaquePointer?) -> upright_status {
  unsafe free(plan, PlanHandle.self)
}

/// Runs a call that uses a plan.
private func use(
  _ plan: OpaquePointer?, _ error: UnsafeMutablePointer<upright_error>?,
  _ body: (PlanHandle) throws(UprightError) -> Void
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    unsafe try HandleTable.shared.use(plan, as: PlanHandle.self, .main, body)
    return Status.ok
  }
}

@c @implementation
public func upright_plan_events(
  _ plan: OpaquePointer?, _ lines: UnsafePointer<CChar>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(plan, error) { (handle) throws(UprightError) in
    try handle.push(unsafe required(lines, "lines"))
  }
}

@c @implementation
public func upright_plan_advance(
  _ plan: OpaquePointer?, _ seconds: Double, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(plan, error) { (handle) throws(UprightError) in
    guard seconds.isFinite else {
      throw UprightError(.usage, "the time is not finite", at: "seconds", remedy: "give seconds")
    }
    handle.advance(to: seconds)
  }
}

@c @implementation
public func upright_plan_finish(
  _ plan: OpaquePointer?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(plan, error) { handle in
    handle.plan.finish()
    handle.formats += handle.plan.takeFormats(before: .infinity)
  }
}

@c @implementation
public func upright_plan_format(
  _ plan: OpaquePointer?, _ seconds: Double, _ format: UnsafeMutablePointer<upright_format>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(plan, error) { (handle) throws(UprightError) in
    guard let format = unsafe format else { throw .missing("format") }
    guard unsafe format.pointee.size >= MemoryLayout<upright_format>.size else {
      throw .unprepared("format")
    }
    guard seconds.isFinite else {
      throw UprightError(.usage, "the time is not finite", at: "seconds", remedy: "give seconds")
    }
    let point = handle.plan.timeline.point(at: seconds)
    unsafe format.pointee.set(
      handle.plan.guidance.format(for: point.appOrientation),
      isCaptureEnabled: point.isCaptureEnabled)
  }
}

@c @implementation
public func upright_plan_take(
  _ plan: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe use(plan, error) { (handle) throws(UprightError) in
    let result = unsafe try result(json, "json")
    unsafe result.pointee = owned(handle.take().text)
  }
}

@c @implementation
public func upright_explain(
  _ policy: UnsafePointer<CChar>?, _ events: UnsafePointer<CChar>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    let result = unsafe try result(json, "json")
    let handle = try PlanHandle(unsafe CUprightPolicy.policy(policy))
    try handle.push(unsafe text(events, "events") ?? "")
    handle.plan.finish()
    unsafe result.pointee = owned(handle.plan.json.text)
    return Status.ok
  }
}
