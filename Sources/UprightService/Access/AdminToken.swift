internal import Foundation
internal import UprightMediaIO

/// The token that may do everything.
enum AdminToken {
  /// The token that was given, else that of the data folder, else a new one that is kept there.
  ///
  /// - Returns: the token, and whether it is new.
  static func settle(_ given: String?, _ folders: DataFolders) throws(MediaError) -> (String, Bool)
  {
    if let given { return (given, false) }
    let path = try folders.state() + "/token"
    if let data = FileManager.default.contents(atPath: path) {
      let token = String(decoding: data, as: UTF8.self).trimmingCharacters(
        in: .whitespacesAndNewlines)
      guard token.utf8.count >= 16 else {
        throw MediaError(
          .configuration, "holds no token", at: path, remedy: "remove it for a new one")
      }
      return (token, false)
    }
    let token = Secrets.make()
    guard
      FileManager.default.createFile(
        atPath: path, contents: Data((token + "\n").utf8), attributes: [.posixPermissions: 0o600])
    else {
      throw MediaError(.cannotCreate, "the token cannot be kept", at: path, remedy: "check --data")
    }
    return (token, true)
  }
}
