/// Why a connection cannot go on.
public struct RTMPError: Error, Sendable, Hashable {
  /// In words, for a log; holds nothing that a peer sent as a secret.
  public let reason: String

  init(_ reason: String) { self.reason = reason }
}
