internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import UprightFiles
internal import UprightFrames
internal import UprightMediaIO
internal import UprightMedia

/// Reads the files that `--policy` and `--events` name.
enum PolicyInput {
  /// Returns the built-in policy named `name`, or the policy in the file `name`.
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

  /// Returns the events of a file of JSON Lines. They are checked against the policy now, so that an error
  /// is reported before the run and not during it.
  static func events(_ path: String?, for policy: PolicyDocument) throws(UprightError)
    -> EventSource
  {
    guard let path else { return .none }
    if path == "-" { return .standardInput }
    let events = try list(path)
    do throws(PolicyError) {
      _ = try OrientationPlan(policy, events: events, guidance: .standard)
    } catch {
      // An error of the policy itself is reported by the session.
      if error.path.hasPrefix("line") { throw located(error, in: path) }
    }
    return .list(events)
  }

  /// Returns all events of a file, or of standard input.
  static func list(_ path: String) throws(UprightError) -> [RotationEvent] {
    var events: [RotationEvent] = []
    try forEach(path, within: limit) { (event) throws(PolicyError) in events.append(event) }
    return events
  }

  /// Reads a file of events, or standard input, and calls `answer` for each event.
  ///
  /// - Parameter afterwards: Called after each chunk that is read.
  /// - Throws: `noInput` if the file can't be read; `badData` for a line that isn't an event, for errors that
  ///   `answer` throws, and for more than `limit` bytes.
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

  /// Returns the bytes of a file.
  ///
  /// - Throws: `noInput` if it can't be read, `badData` if it is too large.
  static func read(_ path: String, remedy: String) throws(UprightError) -> [UInt8] {
    var bytes = try FileBytes(path, remedy: remedy, limit: limit)
    var all: [UInt8] = []
    while let chunk = try bytes.next() { all += chunk }
    return all
  }

  /// The maximum size of a file, in bytes: larger than any list of events, so that the reading of an endless
  /// device ends.
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

  /// - Parameter path: `nil` for standard input.
  /// - Throws: `noInput` if the file can't be opened.
  init(_ path: String?, remedy: String, limit: Int) throws(UprightError) {
    (self.path, self.remedy, self.limit) = (path, remedy, limit)
    descriptor = path.map { unsafe open($0, O_RDONLY | O_CLOEXEC) } ?? 0
    guard descriptor >= 0 else { throw Self.unreadable(path, remedy) }
  }

  deinit { if path != nil { close(descriptor) } }

  /// Reads the next chunk. Returns `nil` at the end of the file.
  ///
  /// - Throws: `noInput` if the file can't be read, `badData` if it is too large.
  mutating func next() throws(UprightError) -> [UInt8]? {
    var received = -1
    repeat {
      received = unsafe chunk.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
    } while received < 0 && errno == EINTR
    guard received >= 0 else { throw Self.unreadable(path, remedy) }
    guard received > 0 else { return nil }
    count += received
    guard count <= limit else {
      throw UprightError(
        .badData, "the file is larger than \(limit >> 20) MiB", at: path ?? "standard input",
        remedy: remedy)
    }
    return Array(chunk[..<received])
  }

  private static func unreadable(_ path: String?, _ remedy: String) -> UprightError {
    let reason =
      switch errno {
      case ENOENT: "no such file"
      case EISDIR: "the path is a folder"
      default: "the file can't be read: \(unsafe String(cString: strerror(errno)))"
      }
    return UprightError(.noInput, reason, at: path ?? "standard input", remedy: remedy)
  }
}
