internal import Foundation
internal import Orientation
internal import RotationPolicy
internal import UprightFiles
internal import UprightFrames
internal import UprightMediaIO
internal import UprightOrienting

/// Reads what `--policy` and `--events` name.
enum PolicyInput {
  /// A built-in policy's name, or a file.
  static func policy(_ name: String?) throws(UprightError) -> PolicyDocument {
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
  static func events(_ path: String?, for policy: PolicyDocument) throws(UprightError)
    -> EventSource
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
  static func list(_ path: String) throws(UprightError) -> [RotationEvent] {
    var events: [RotationEvent] = []
    try forEach(path, within: limit) { (event) throws(PolicyError) in events.append(event) }
    return events
  }

  /// Reads a file of events, or standard input to its end, event by event.
  ///
  /// - Parameter afterwards: called now and then, between events.
  /// - Throws: `noInput`; `badData` for what is no event, for what `answer` throws, and for more than `limit`
  ///   bytes.
  static func forEach(
    _ path: String, within limit: Int = .max,
    _ answer: (RotationEvent) throws(PolicyError) -> Void,
    afterwards: () throws(UprightError) -> Void = {}
  ) throws(UprightError) {
    var bytes = try FileBytes(path == "-" ? nil : path, remedy: "check the path", limit: limit)
    var reader = EventReader()
    var isAtEnd = false
    while !isAtEnd {
      let chunk = try bytes.next()
      do throws(PolicyError) {
        for event in try reader.read(chunk ?? []) { try answer(event) }
        isAtEnd = chunk == nil
        if isAtEnd, let last = try reader.finish() { try answer(last) }
      } catch {
        throw located(error, in: path)
      }
      try afterwards()
    }
  }

  private static func read(_ path: String, remedy: String) throws(UprightError) -> [UInt8] {
    var bytes = try FileBytes(path, remedy: remedy, limit: limit)
    var all: [UInt8] = []
    while let chunk = try bytes.next() { all += chunk }
    return all
  }

  /// No list of events is as large; an endless device is.
  private static let limit = 256 << 20

  static func located(_ error: PolicyError, in file: String) -> UprightError {
    located(UprightError(error, code: .badData), in: file)
  }

  static func located(_ error: UprightError, in file: String) -> UprightError {
    let file = file == "-" ? "standard input" : file
    return UprightError(
      error.code, error.message, at: error.location.isEmpty ? file : "\(file), \(error.location)",
      remedy: error.remedy)
  }
}

/// The bytes of a file or of standard input, in pieces.
private struct FileBytes: ~Copyable {
  private let path: String?
  private let remedy: String
  private let descriptor: CInt
  private let limit: Int
  private var count = 0
  private var chunk = [UInt8](repeating: 0, count: 64 << 10)

  /// - Parameter path: `nil` is standard input.
  /// - Throws: `noInput`.
  init(_ path: String?, remedy: String, limit: Int) throws(UprightError) {
    (self.path, self.remedy, self.limit) = (path, remedy, limit)
    descriptor = path.map { unsafe open($0, O_RDONLY | O_CLOEXEC) } ?? 0
    guard descriptor >= 0 else { throw Self.unreadable(path, remedy) }
  }

  deinit { if path != nil { close(descriptor) } }

  /// Nil at the end.
  ///
  /// - Throws: `noInput` where it cannot be read, `badData` where it is too large.
  mutating func next() throws(UprightError) -> [UInt8]? {
    var received = -1
    repeat {
      received = unsafe chunk.withUnsafeMutableBytes {
        unsafe Foundation.read(descriptor, $0.baseAddress, $0.count)
      }
    } while received < 0 && errno == EINTR
    guard received >= 0 else { throw Self.unreadable(path, remedy) }
    guard received > 0 else { return nil }
    count += received
    guard count <= limit else {
      throw UprightError(
        .badData, "is larger than \(limit >> 20) MiB", at: path ?? "standard input", remedy: remedy)
    }
    return Array(chunk[..<received])
  }

  private static func unreadable(_ path: String?, _ remedy: String) -> UprightError {
    let reason =
      switch errno {
      case ENOENT: "no such file"
      case EISDIR: "is a folder"
      default: "cannot be read: \(unsafe String(cString: strerror(errno)))"
      }
    return UprightError(.noInput, reason, at: path ?? "standard input", remedy: remedy)
  }
}
