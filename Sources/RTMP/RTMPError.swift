/// The reason why a connection can't continue.
public struct RTMPError: Error, Sendable, Hashable {
  /// A description for a log. Contains no secrets that a peer sent.
  public let reason: String

  init(_ reason: String) { self.reason = reason }
}
