internal import Foundation
internal import Glibc
internal import Logging
internal import Synchronization
internal import UprightOrientation

/// Janus as a process of this service, which ends with it: the setting `webrtc` is `auto`.
final class JanusProgram: Sendable {
  /// The value of the setting.
  static let setting = "auto"
  /// Where Debian and an own build install it, after the folders of `PATH`.
  static let folders = ["/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/janus/bin"]
  /// Runs Janus until descriptor 3 ends, which it does with the service, also if that is killed. Janus keeps nothing that an
  /// orderly end would save.
  private static let guardian = """
    "$0" -F "$1" >/dev/null 3<&- & child=$!
    exec 2>/dev/null
    (read -r line <&3; kill -KILL "$child") & reader=$!
    wait "$child"; status=$?
    kill -KILL "$reader"
    exit "$status"
    """
  /// The time before it is started again after it has ended.
  private static let pause = Duration.seconds(2)

  private struct State: Sendable {
    /// This end of the socket whose closing ends Janus.
    var lifeline: CInt?
    var run: Task<Void, Never>?
  }

  private let program: String
  private let folder: String
  private let port: Int
  let secret: String
  private let logger: Logger
  private let state = Mutex(State())

  /// The address of its HTTP API.
  var url: String { "http://127.0.0.1:\(port)/janus" }

  /// Writes the configuration of Janus into a folder. Returns `nil` if it isn't installed.
  ///
  /// - Parameters:
  ///   - folder: A folder that nobody else uses.
  ///   - secret: The secret of its API.
  ///   - path: The value of `PATH`.
  ///   - others: The folders in which it is looked for then.
  /// - Throws: `cannotCreate` if the files can't be written, or there is no free port.
  init?(
    in folder: String, secret: String, path: String?, others: [String] = folders, logger: Logger
  ) throws(UprightError) {
    let places = (path ?? "").split(separator: ":").map(String.init) + others
    guard let program = places.map({ $0 + "/janus" }).first(where: { unsafe access($0, X_OK) == 0 })
    else {
      logger.warning(
        "webrtc: Janus isn't installed, so browsers can't publish; on Debian: apt install janus")
      return nil
    }
    guard let port = Self.freePort() else {
      throw UprightError(.cannotCreate, "there is no free port for Janus", at: "127.0.0.1")
    }
    (self.program, self.folder, self.port) = (program, folder, port)
    (self.secret, self.logger) = (secret, logger)
    try write("janus.jcfg", general)
    try write("janus.transport.http.jcfg", transport)
  }

  private func write(_ name: String, _ text: String) throws(UprightError) {
    let path = "\(folder)/\(name)"
    let files = FileManager.default
    try? files.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // It has the secret.
    guard
      files.createFile(
        atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
    else {
      throw UprightError(
        .cannotCreate, "can't write the configuration of Janus", at: path, remedy: "check --data")
    }
  }

  /// Only the VideoRoom and the HTTP API are used.
  private var general: String {
    let plugins = [
      "audiobridge", "duktape", "echotest", "lua", "nosip", "recordplay", "sip", "streaming",
      "textroom", "videocall", "voicemail",
    ]
    let transports = ["mqtt", "nanomsg", "pfunix", "rabbitmq", "websockets"]
    func files(_ names: [String]) -> String {
      names.map { "libjanus_\($0).so" }.joined(separator: ",")
    }
    return """
      general: {
        configs_folder = "\(folder)"
        api_secret = "\(secret)"
        log_to_stdout = true
        debug_level = 1
      }
      nat: { full_trickle = false }
      plugins: { disable = "\(files(plugins))" }
      transports: { disable = "\(files(transports))" }

      """
  }

  private var transport: String {
    """
    general: {
      json = "compact"
      base_path = "/janus"
      http = true
      port = \(port)
      ip = "127.0.0.1"
      https = false
    }
    admin: { admin_http = false }

    """
  }

  /// Returns a port of loopback that nobody uses now.
  private static func freePort() -> Int? {
    let socket = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
      }
    }
    return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
  }

  // MARK: - The process

  /// Starts Janus, and starts it again whenever it ends, until `stop`.
  func start() {
    state.withLock { state in
      guard state.run == nil else { return }
      state.run = Task { await self.run() }
    }
  }

  private func run() async {
    while !Task.isCancelled {
      do throws(UprightError) {
        let process = try begin()
        logger.info("webrtc: Janus has started, with its API at \(url)")
        let end = await blocking { process.wait() }
        cut()
        if Task.isCancelled { return }
        logger.warning("webrtc: Janus \(end.description); starting it again")
      } catch {
        logger.error("webrtc: \(error)")
      }
      try? await Task.sleep(for: Self.pause)
    }
  }

  private func begin() throws(UprightError) -> ChildProcess {
    var ends: [CInt] = [-1, -1]
    let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      throw UprightError(.fault, "no socket can be made for Janus")
    }
    defer { close(ends[0]) }
    do throws(UprightError) {
      let process = try ChildProcess(
        "/bin/sh", arguments: ["sh", "-c", Self.guardian, program, folder], descriptors: [ends[0]],
        isApart: true)
      state.withLock { $0.lifeline = ends[1] }
      return process
    } catch {
      close(ends[1])
      throw error
    }
  }

  /// Closes the socket, so that Janus ends.
  private func cut() {
    let lifeline = state.withLock { state in
      defer { state.lifeline = nil }
      return state.lifeline
    }
    if let lifeline { close(lifeline) }
  }

  /// Ends Janus. Returns when it has ended.
  func stop() async {
    let run = state.withLock { $0.run }
    run?.cancel()
    cut()
    await run?.value
  }
}
