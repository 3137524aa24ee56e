internal import Glibc
internal import UprightOrientation
internal import UprightPolicy
internal import Synchronization
internal import UprightFiles
internal import UprightFrames
internal import UprightLive
internal import UprightMedia

/// The events of `upright relay`: those of a file, or lines that arrive on standard input or a Unix socket
/// while it runs.
final class RelayEvents: Sendable {
  private enum Source: Sendable {
    case list([StreamEvent])
    case standardInput
    case socket(EventSocket)
  }

  private let source: Source

  /// - Parameter name: The value of `--events`: a file, `-`, or `unix:PATH`.
  /// - Throws: `noInput` or `badData` for a file that can't be read, `cannotCreate` if the socket can't be
  ///   created.
  init(_ name: String?, for policy: PolicyDocument) throws(UprightError) {
    if let name, name.hasPrefix("unix:") {
      source = .socket(try EventSocket(path: String(name.dropFirst(5))))
    } else {
      switch try PolicyInput.events(name, for: policy) {
      case .standardInput: source = .standardInput
      case .list(let events): source = .list(events.map { StreamEvent($0) })
      case .none: source = .list([])
      }
    }
  }

  /// Posts all events, or starts a thread that posts them when they arrive.
  func post(to session: LiveSession) {
    switch source {
    case .list(let events): Self.post(events, to: session, from: "--events")
    case .standardInput:
      _ = WorkThread<Void>(name: "upright-events") {
        var lines = EventLines(source: "standard input")
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
          let count = unsafe chunk.withUnsafeMutableBytes {
            unsafe read(0, $0.baseAddress, $0.count)
          }
          if count < 0, errno == EINTR { continue }
          lines.add(count > 0 ? chunk[..<count] : nil, session)
          if count <= 0 { return }
        }
      }
    case .socket(let socket): _ = WorkThread<Void>(name: "upright-events") { socket.serve(session) }
    }
  }

  /// Removes the socket.
  func close() { if case .socket(let socket) = source { socket.remove() } }

  /// Posts events that came from `place`, and prints those that are refused.
  fileprivate static func post(_ events: [StreamEvent], to session: LiveSession, from place: String)
  {
    session.post(events) { result in
      if case .failure(let error) = result {
        warn(PolicyInput.located(error, in: place).description)
      }
    }
  }

  fileprivate static func warn(_ text: String) { StandardError.printLine("warning: \(text)") }
}

/// Splits the bytes of one sender into lines, and posts the event of each.
private struct EventLines {
  /// The sender's name in messages.
  let source: String
  private var rest: [UInt8] = []
  private var number = 1
  /// Whether the rest of a line that is too long is left out.
  private var isSkipping = false

  init(source: String) { self.source = source }

  /// - Parameter bytes: The next bytes, or `nil` at the end.
  mutating func add(_ bytes: ArraySlice<UInt8>?, _ session: LiveSession) {
    rest += bytes ?? [0x0A]
    while let end = rest.firstIndex(of: 0x0A) {
      let line = rest[..<end]
      if !isSkipping { post(line, session) }
      isSkipping = false
      number += 1
      rest.removeSubrange(...end)
    }
    guard rest.count > EventReader.longestLine else { return }
    if !isSkipping { warn("the line is longer than \(EventReader.longestLine >> 10) KiB") }
    isSkipping = true
    rest = []
  }

  private func post(_ line: ArraySlice<UInt8>, _ session: LiveSession) {
    guard line.contains(where: { ![0x20, 0x09, 0x0D].contains($0) }) else { return }
    do throws(PolicyError) {
      let event = try StreamEvent(json: JSONValue(parsing: line))
      RelayEvents.post([event], to: session, from: "\(source), line \(number)")
    } catch {
      // The parser counts the lines of its text, which is this one.
      warn("\(error.message): \(error.remedy)")
    }
  }

  private func warn(_ text: String) {
    RelayEvents.warn("\(source), line \(number): ignored: \(text)")
  }
}

/// A Unix socket on which any number of programs send events, at once or one after another. Only the user who
/// runs the relay can connect to it.
private final class EventSocket: Sendable {
  private let path: String
  private let descriptor: CInt
  /// The inode of the socket in the file system.
  private let inode: ino_t

  /// The most programs that are connected at once. Others wait.
  private static let maxClients = 16

  /// - Throws: `cannotCreate` if there is a file of that name, unless it is a socket that nobody listens on;
  ///   `usage` if the path is too long.
  init(path: String) throws(UprightError) {
    self.path = path
    let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    descriptor = listener
    do throws(UprightError) {
      try Self.removeStale(path)
      // The file of the socket gets the mode of the descriptor, from its creation on.
      guard fchmod(listener, 0o600) == 0, try unsafe Self.call(bind, listener, path) == 0,
        listen(listener, 16) == 0
      else { throw Self.failure(path, unsafe String(cString: strerror(errno))) }
    } catch {
      close(listener)
      throw error
    }
    var status = stat()
    inode = unsafe lstat(path, &status) == 0 ? status.st_ino : 0
  }

  /// Removes the socket of a process that was killed.
  private static func removeStale(_ path: String) throws(UprightError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw failure(path, "the file is not a socket")
    }
    let probe = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(probe) }
    if try unsafe call(connect, probe, path) != 0, errno == ECONNREFUSED {
      _ = unsafe unlink(path)
    } else {
      throw failure(path, "another process uses the socket")
    }
  }

  private static func failure(_ path: String, _ reason: String) -> UprightError {
    UprightError(.cannotCreate, reason, at: "--events unix:\(path)", remedy: "give another path")
  }

  /// Calls `bind` or `connect` with the address of `path`.
  private static func call(
    _ function: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt, _ descriptor: CInt,
    _ path: String
  ) throws(UprightError) -> CInt {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    // A null byte must follow.
    guard (1..<MemoryLayout.size(ofValue: address.sun_path)).contains(bytes.count) else {
      throw UprightError(
        .usage, "the path of a socket has 1 to 107 bytes", at: "--events unix:\(path)",
        remedy: "give a shorter path")
    }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  /// Removes the socket from the file system, if it is still this one.
  func remove() {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_ino == inode else { return }
    _ = unsafe unlink(path)
  }

  /// Accepts programs and posts the events that they send, until the process ends.
  func serve(_ session: LiveSession) -> Never {
    var clients: [(descriptor: CInt, lines: EventLines)] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      var polled = clients.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
      // A full list accepts nobody: the descriptor -1 is ignored.
      let isFull = clients.count >= Self.maxClients
      polled.append(pollfd(fd: isFull ? -1 : descriptor, events: Int16(POLLIN), revents: 0))
      guard unsafe poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
      for index in clients.indices.reversed() where polled[index].revents != 0 {
        let client = clients[index].descriptor
        let count = unsafe chunk.withUnsafeMutableBytes {
          unsafe recv(client, $0.baseAddress, $0.count, 0)
        }
        clients[index].lines.add(count > 0 ? chunk[..<count] : nil, session)
        if count <= 0 {
          close(client)
          clients.remove(at: index)
        }
      }
      guard polled[polled.count - 1].revents != 0 else { continue }
      let client = accept(descriptor, nil, nil)
      if client >= 0 { clients.append((client, EventLines(source: "events"))) }
    }
  }
}
