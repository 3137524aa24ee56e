// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
internal import CUprightPolicy
internal import UprightMediaIO
internal import UprightOrientation

/// The caller's callback for messages.
@safe private struct LogCallback: @unchecked Sendable {
  // Unchecked: the caller has promised that it can be called on any thread.
  let function: upright_log_callback
  let context: UnsafeMutableRawPointer?
  var release: upright_log_release?

  func call(_ level: Int32, _ line: String) {
    unsafe line.withCString { unsafe function(context, level, $0) }
  }

  func end() { unsafe release?(context) }
}

/// - Throws: `usage` for a level that FFmpeg doesn't have.
private func check(_ level: Int32) throws(UprightError) {
  guard (-8...56).contains(level) else {
    throw UprightError(.usage, "a level of \(level)", at: "level", remedy: "give AV_LOG_...")
  }
}

@c @implementation
public func upright_log(
  _ level: Int32, _ callback: upright_log_callback?, _ context: UnsafeMutableRawPointer?,
  _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    try check(level)
    let chosen = unsafe callback.map { unsafe LogCallback(function: $0, context: context) }
    LogScope.installHost(upTo: level) { level, line in chosen?.call(level, line) }
    return Status.ok
  }
}

@c @implementation
public func upright_log_scope(
  _ level: Int32, _ callback: upright_log_callback?, _ context: UnsafeMutableRawPointer?,
  _ release: upright_log_release?, _ error: UnsafeMutablePointer<upright_error>?
) -> upright_status {
  unsafe call(error) { () throws(UprightError) in
    try check(level)
    guard let callback = unsafe callback else {
      LogScope.current = nil
      return Status.ok
    }
    let chosen = unsafe LogCallback(function: callback, context: context, release: release)
    LogScope.current = LogScope(upTo: level, to: chosen.call, atEnd: chosen.end)
    return Status.ok
  }
}
