internal import UprightPolicy
internal import Upright

/// Which recordings are removed.
struct RecordingRetention: Sendable, Hashable {
  /// The age since its last change at which a recording is removed, in seconds; `nil` keeps them.
  var maxAge: Double?
  /// The size of all recordings together above which the oldest are removed, in bytes; `nil` for no limit.
  var maxSize: Int?

  /// Creates a rule that removes nothing.
  init(maxAge: Double? = nil, maxSize: Int? = nil) {
    self.maxAge = maxAge
    self.maxSize = maxSize
  }

  /// Reads the setting `recordings`.
  init(_ value: JSONValue) throws(Setting.Fault) {
    guard case .object(let members) = value else {
      throw Setting.Fault("isn't an object", remedy: "write {\"maxAge\": \"30d\"}")
    }
    for member in members where member.value != .null {
      switch member.key {
      case "maxAge":
        guard let seconds = member.value.seconds, (1...1e10).contains(seconds) else {
          throw Setting.Fault(
            "invalid maxAge", remedy: "use 1 or more seconds, or text such as \"30d\"")
        }
        maxAge = seconds
      case "maxSize":
        guard let bytes = member.value.bytes, bytes > 0 else {
          throw Setting.Fault(
            "invalid maxSize", remedy: "use 1 or more bytes, or text such as \"500G\"")
        }
        maxSize = bytes
      default:
        throw Setting.Fault(
          "unknown member \(printable(member.key))", remedy: "use maxAge and maxSize")
      }
    }
  }

  /// The setting, as it is written in the configuration.
  var json: JSONValue {
    [
      "maxAge": maxAge.map { .number($0) } ?? .null,
      "maxSize": maxSize.map { .integer($0) } ?? .null,
    ]
  }

  /// Returns why a recording is removed; `nil` if it is kept.
  ///
  /// - Parameters:
  ///   - age: The time since its last change, in seconds.
  ///   - total: The size of all recordings together, in bytes.
  func reason(age: Double, total: Int) -> String? {
    if let maxAge, age > maxAge { return "older than \(maxAge) s" }
    if let maxSize, total > maxSize {
      return "all recordings have \(total) bytes, more than \(maxSize)"
    }
    return nil
  }
}
