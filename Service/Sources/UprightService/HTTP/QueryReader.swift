internal import HummingbirdCore

/// The parameters of a request's query.
struct QueryReader {
  private var values: [Substring: [Substring]] = [:]

  /// - Parameters:
  ///   - names: The parameters that exist.
  ///   - repeatable: The one of them that may be given several times.
  /// - Throws: `Problem` 400 for a parameter that is unknown, or given twice.
  init(_ uri: URI, _ names: [String], repeatable: String? = nil) throws(Problem) {
    for (name, value) in uri.queryParameters where !name.isEmpty {
      guard names.contains(where: { $0 == name }) else {
        throw .badRequest(
          "unknown parameter \(printable(String(name))); use " + names.joined(separator: ", "))
      }
      guard values[name] == nil || repeatable.map({ $0 == name }) == true else {
        throw .badRequest("\(name): appears twice")
      }
      values[name, default: []].append(value)
    }
  }

  /// All values of a parameter.
  func all(_ name: String) -> [Substring] { values[name[...]] ?? [] }

  /// The value of a parameter; `nil` if it isn't given.
  subscript(name: String) -> Substring? { all(name).first }

  /// Returns the number of elements that a page may have; `nil` if it isn't given.
  ///
  /// - Throws: `Problem` 400 if it isn't a number of `allowed`.
  func limit(in allowed: ClosedRange<Int>) throws(Problem) -> Int? {
    guard let text = self["limit"] else { return nil }
    guard let limit = Int(text), allowed.contains(limit) else {
      throw .badRequest(
        "limit: must be an integer from \(allowed.lowerBound) to \(allowed.upperBound)")
    }
    return limit
  }
}
