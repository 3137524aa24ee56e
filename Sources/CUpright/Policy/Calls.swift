// upright.h documents the public functions.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CUprightHeader
#if canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif
package import UprightOrientation
package import UprightPolicy
package import UprightFrames

/// The statuses, which C's enums give as `Int`.
package enum Status {
  package static let ok = upright_status(UPRIGHT_OK)
  package static let again = upright_status(UPRIGHT_AGAIN)
  package static let end = upright_status(UPRIGHT_END)
}

extension UprightError {
  /// What a C function returns for this error.
  var status: upright_status {
    let number =
      switch code {
      case .misuse: UPRIGHT_INVALID
      case .busy: UPRIGHT_BUSY
      case .usage: UPRIGHT_USAGE
      case .badData: UPRIGHT_BAD_DATA
      case .noInput: UPRIGHT_NO_INPUT
      case .unavailable: UPRIGHT_UNAVAILABLE
      case .cannotCreate: UPRIGHT_CANNOT_CREATE
      case .inputOutput: UPRIGHT_INPUT_OUTPUT
      case .configuration: UPRIGHT_CONFIGURATION
      case .cancelled: UPRIGHT_CANCELLED
      default: UPRIGHT_FAULT
      }
    return upright_status(number)
  }

  /// The error for an argument that is NULL.
  package static func missing(_ argument: String) -> UprightError {
    UprightError(.misuse, "the argument is NULL", at: argument)
  }

  /// The error for a struct that wasn't prepared.
  package static func unprepared(_ argument: String) -> UprightError {
    UprightError(
      .misuse, "the struct has no size", at: argument, remedy: "set size to its sizeof")
  }
}

/// Runs the body of a C function: returns the status, and describes what is thrown in `error`.
package func call(
  _ error: UnsafeMutablePointer<upright_error>?, _ body: () throws(UprightError) -> upright_status
) -> upright_status {
  if let error = unsafe error, unsafe error.pointee.size < MemoryLayout<upright_error>.size {
    return upright_status(UPRIGHT_INVALID)
  }
  do throws(UprightError) { return try body() } catch let thrown {
    if let error = unsafe error { unsafe error.pointee.describe(thrown) }
    return thrown.status
  }
}

extension upright_error {
  fileprivate mutating func describe(_ thrown: UprightError) {
    let error = thrown.namingOptions()
    status = error.status
    library_code = error.library?.code ?? 0
    unsafe withUnsafeMutableBytes(of: &message) { unsafe Self.copy(error.message, into: $0) }
    unsafe withUnsafeMutableBytes(of: &location) { unsafe Self.copy(error.location, into: $0) }
    unsafe withUnsafeMutableBytes(of: &remedy) { unsafe Self.copy(error.remedy, into: $0) }
  }

  /// Copies as many whole characters as fit, and a zero byte.
  private static func copy(_ text: String, into bytes: UnsafeMutableRawBufferPointer) {
    let utf8 = Array(text.utf8)
    var count = min(utf8.count, bytes.count - 1)
    // A byte 10xxxxxx continues a character.
    while count < utf8.count, count > 0, utf8[count] & 0xC0 == 0x80 { count -= 1 }
    for index in 0..<count { unsafe bytes[index] = utf8[index] }
    unsafe bytes[count] = 0
  }
}

/// Returns a string argument; `nil` for NULL.
///
/// - Throws: `usage` if it isn't UTF-8.
package func text(
  _ string: UnsafePointer<CChar>?, _ argument: String
) throws(UprightError) -> String? {
  guard let string = unsafe string else { return nil }
  guard let text = unsafe String(validatingCString: string) else {
    throw UprightError(.usage, "the text is not UTF-8", at: argument, remedy: "convert it first")
  }
  return text
}

/// Returns a string argument.
///
/// - Throws: `misuse` for NULL, `usage` if it isn't UTF-8.
package func required(
  _ string: UnsafePointer<CChar>?, _ argument: String
) throws(UprightError) -> String {
  guard let text = unsafe try text(string, argument) else { throw .missing(argument) }
  return text
}

/// Returns the policy that an argument names or contains; NULL is `phone`.
package func policy(_ string: UnsafePointer<CChar>?) throws(UprightError) -> PolicyDocument {
  try PolicyDocument(nameOrJSON: unsafe text(string, "policy") ?? "phone")
}

/// Returns a reader of the options in an argument.
package func options(_ string: UnsafePointer<CChar>?) throws(UprightError) -> OptionReader {
  try OptionReader(unsafe (text(string, "options") ?? "").utf8)
}

/// Returns `text` as a string of the caller's own.
package func owned(_ text: String) -> UnsafeMutablePointer<CChar>? { unsafe strdup(text) }

/// Clears what a function returns through a pointer, and checks that there is one.
///
/// - Throws: `misuse` for NULL.
package func result<Value>(
  _ pointer: UnsafeMutablePointer<Value?>?, _ argument: String
) throws(UprightError) -> UnsafeMutablePointer<Value?> {
  guard let pointer = unsafe pointer else { throw .missing(argument) }
  unsafe pointer.pointee = nil
  return unsafe pointer
}

extension JSONValue {
  /// Text for the caller, with a line break at the end.
  package var text: String { pretty + "\n" }
}

@c @implementation
public func upright_abi_version() -> UInt32 { UInt32(UPRIGHT_ABI_VERSION) }

@c @implementation
public func upright_version() -> UnsafePointer<CChar>? { unsafe UnsafePointer(version) }

/// Allocated once, and never freed.
nonisolated(unsafe) private let version = unsafe strdup(UprightVersion.current)

@c @implementation
public func upright_status_name(_ status: upright_status) -> UnsafePointer<CChar>? {
  switch Int(status) {
  case UPRIGHT_OK: unsafe constant("ok")
  case UPRIGHT_AGAIN: unsafe constant("again")
  case UPRIGHT_END: unsafe constant("end")
  case UPRIGHT_INVALID: unsafe constant("invalid")
  case UPRIGHT_BUSY: unsafe constant("busy")
  case UPRIGHT_USAGE: unsafe constant("usage")
  case UPRIGHT_BAD_DATA: unsafe constant("badData")
  case UPRIGHT_NO_INPUT: unsafe constant("noInput")
  case UPRIGHT_UNAVAILABLE: unsafe constant("unavailable")
  case UPRIGHT_FAULT: unsafe constant("fault")
  case UPRIGHT_CANNOT_CREATE: unsafe constant("cannotCreate")
  case UPRIGHT_INPUT_OUTPUT: unsafe constant("inputOutput")
  case UPRIGHT_CONFIGURATION: unsafe constant("configuration")
  case UPRIGHT_CANCELLED: unsafe constant("cancelled")
  default: unsafe constant("unknown")
  }
}

private func constant(_ text: StaticString) -> UnsafePointer<CChar> {
  unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

@c @implementation
public func upright_string_free(_ string: UnsafeMutablePointer<CChar>?) { unsafe free(string) }

/// Frees a handle. NULL is none.
package func free<Object: HandleObject>(
  _ handle: OpaquePointer?, _ type: Object.Type
) -> upright_status {
  guard unsafe handle != nil else { return Status.ok }
  return call(nil) { () throws(UprightError) in
    unsafe try HandleTable.shared.remove(handle, as: type)
    return Status.ok
  }
}
