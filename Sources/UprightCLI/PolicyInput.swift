internal import Foundation
internal import MediaIO
internal import RotationPolicy
internal import Upright

/// Reads what `--policy` and `--events` name.
enum PolicyInput {
  /// A built-in policy's name, or a file.
  static func policy(_ name: String?) throws(MediaError) -> PolicyDocument {
    let name = name ?? "phone"
    if let document = PolicyDocument.builtIn(name) { return document }
    let isBareWord = !name.contains("/") && !name.contains(".")
    let bytes = try read(
      name,
      remedy: isBareWord
        ? "name a file, or one of " + PolicyDocument.builtInNames.joined(separator: ", ")
        : "check the path")
    do throws(PolicyError) { return try PolicyDocument(json: bytes) } catch {
      throw located(error, in: name)
    }
  }

  /// A file of JSON Lines; nil: none.
  static func events(_ path: String?) throws(MediaError) -> EventSource {
    guard let path else { return .none }
    if path == "-" { return .standardInput }
    return .list(try list(path))
  }

  /// All events of a file, or of standard input to its end.
  static func list(_ path: String) throws(MediaError) -> [RotationEvent] {
    let bytes =
      path == "-" ? FileHandle.standardInput.readDataToEndOfFile() : try read(path, remedy: "check the path")
    do throws(PolicyError) { return try RotationEvent.parse(jsonLines: bytes) } catch {
      throw located(error, in: path)
    }
  }

  static func read(_ path: String, remedy: String) throws(MediaError) -> Data {
    do {
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw MediaError(.noInput, "cannot be read", at: path, remedy: remedy)
    }
  }

  static func located(_ error: PolicyError, in file: String) -> MediaError {
    MediaError(
      .badData, error.message, at: error.path.isEmpty ? file : "\(file), \(error.path)",
      remedy: error.remedy)
  }
}
