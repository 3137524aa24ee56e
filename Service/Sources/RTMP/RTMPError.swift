/// The reason why a connection can't continue.
package struct RTMPError: Error, Sendable, Hashable {
  /// A description for a log. Contains no secrets that a peer sent.
  package let reason: String

  init(_ reason: String) { self.reason = reason }
}
