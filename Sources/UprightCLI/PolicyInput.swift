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

  /// A file of JSON Lines; nil: none. What the policy cannot take is found now, not in mid-run.
  static func events(_ path: String?, for policy: PolicyDocument) throws(MediaError) -> EventSource
  {
    guard let path else { return .none }
    if path == "-" { return .standardInput }
    let events = try list(path)
    do throws(PolicyError) {
      _ = try OrientationPlan(policy, events: events, guidance: .standard)
    } catch {
      // A policy that cannot start is the session's to tell.
      if error.path.hasPrefix("line") { throw located(error, in: path) }
    }
    return .list(events)
  }

  /// All events of a file, or of standard input to its end.
  static func list(_ path: String) throws(MediaError) -> [RotationEvent] {
    let bytes =
      path == "-"
      ? FileHandle.standardInput.readDataToEndOfFile() : try read(path, remedy: "check the path")
    do throws(PolicyError) { return try RotationEvent.parse(jsonLines: bytes) } catch {
      throw located(error, in: path)
    }
  }

  static func read(_ path: String, remedy: String) throws(MediaError) -> Data {
    let handle = unsafe fopen(path, "rbe")
    guard let file = unsafe handle else { throw unreadable(path, remedy: remedy) }
    defer { unsafe fclose(file) }
    var data = Data()
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, file)
      if count == 0 { break }
      data += chunk[..<count]
      guard data.count <= limit else {
        throw MediaError(
          .badData, "is larger than \(limit >> 20) MiB", at: path, remedy: "check the path")
      }
    }
    guard unsafe ferror(file) == 0 else { throw unreadable(path, remedy: remedy) }
    return data
  }

  /// No list of events is as large; an endless device is.
  private static let limit = 256 << 20

  private static func unreadable(_ path: String, remedy: String) -> MediaError {
    let reason =
      switch errno {
      case ENOENT: "no such file"
      case EISDIR: "is a folder"
      default: "cannot be read: \(unsafe String(cString: strerror(errno)))"
      }
    return MediaError(.noInput, reason, at: path, remedy: remedy)
  }

  static func located(_ error: PolicyError, in file: String) -> MediaError {
    located(MediaError(error, code: .badData), in: file)
  }

  static func located(_ error: MediaError, in file: String) -> MediaError {
    let file = file == "-" ? "standard input" : file
    return MediaError(
      error.code, error.message, at: error.location.isEmpty ? file : "\(file), \(error.location)",
      remedy: error.remedy)
  }
}
