internal import UprightOrientation
internal import Upright

/// The token that allows every request.
enum AdminToken {
  /// Returns the configured token, or the one stored in the data folder, or a new one that it stores there.
  ///
  /// - Returns: The token, and whether it is new.
  /// - Throws: `configuration` if the stored token is shorter than 16 bytes, `cannotCreate` if a new one
  ///   can't be stored.
  static func load(_ given: String?, _ folders: DataFolders) throws(UprightError) -> (
    String, Bool
  ) {
    if let given { return (given, false) }
    let (token, path, isNew) = try folders.secret("token", make: Secrets.make)
    guard token.utf8.count >= 16 else {
      throw UprightError(
        .configuration, "doesn't contain a token", at: path,
        remedy: "remove the file to get a new token")
    }
    return (token, isNew)
  }
}
