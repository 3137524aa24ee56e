internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Glibc
internal import Synchronization

/// Receives the messages of FFmpeg's libraries about one session: of the contexts that are created while the scope is
/// the current one of a thread, and of anything else on that thread.
///
/// A context has the number of its scope in the integer that `av_log` adds to its levels, so that messages are
/// recognised on the threads of the libraries too.
package final class LogScope: Sendable {
  /// Receives the level (`AV_LOG_...`) and one line.
  package typealias Receiver = @Sendable (_ level: CInt, _ line: String) -> Void

  private let level: CInt
  private let receive: Receiver
  private let atEnd: @Sendable () -> Void
  private let number: CInt

  /// Installs the log callback of the libraries, for the whole process: what isn't of a scope goes where it would go
  /// without it.
  ///
  /// - Parameters:
  ///   - level: The least important level that is passed on.
  ///   - receive: Called on any thread, by several at a time.
  ///   - atEnd: Called when nothing refers to the scope any more: `receive` isn't called again.
  package init(
    upTo level: CInt, to receive: @escaping Receiver, atEnd: @escaping @Sendable () -> Void = {}
  ) {
    (self.level, self.receive, self.atEnd) = (level, receive, atEnd)
    number = Self.scopes.withLock { $0.take() }
    Self.scopes.withLock { $0.set(number, Entry(scope: self, level: level)) }
  }

  deinit {
    Self.scopes.withLock { $0.set(number, nil) }
    atEnd()
  }

  /// What a context of the current scope adds to the levels of its messages.
  static var quietOffset: CInt {
    upright_log_quiet | (current?.number ?? 0) << upright_log_scope_shift
  }
}

// MARK: - The current scope of a thread

extension LogScope {
  /// Where each thread has its scope, which it holds: one that ends releases it.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { value in
      guard let value else { return }
      Unmanaged<LogScope>.fromOpaque(value).release()
    }
    return key
  }()

  /// The scope of what this thread creates.
  package static var current: LogScope? {
    get {
      pthread_getspecific(key).map { Unmanaged<LogScope>.fromOpaque($0).takeUnretainedValue() }
    }
    set {
      let old = pthread_getspecific(key)
      pthread_setspecific(key, newValue.map { Unmanaged.passRetained($0).toOpaque() })
      if let old { Unmanaged<LogScope>.fromOpaque(old).release() }
    }
  }

  /// Runs `body` with a current scope, and restores the one before.
  package static func run<Result, Thrown: Error>(
    in scope: LogScope?, _ body: () throws(Thrown) -> Result
  ) throws(Thrown) -> Result {
    let before = current
    current = scope
    defer { current = before }
    return try body()
  }
}

// MARK: - The process

extension LogScope {
  /// A scope, and the least important level that it wants. The level is here too: whoever refers to the scope may be
  /// the last one, and must not be while the entries are locked.
  private struct Entry {
    weak var scope: LogScope?
    let level: CInt
  }

  /// Who receives messages without a scope.
  private struct Host {
    let level: CInt
    let receive: Receiver
  }

  /// The scopes by their numbers, from 1 on.
  private struct Scopes {
    private(set) var entries: [CInt: Entry] = [:]
    private var last: CInt = 0
    var host: Host? { didSet { install() } }

    /// Returns a number that no scope has; 0, which is that of no scope, if there is none left.
    mutating func take() -> CInt {
      for _ in 0..<upright_log_last_scope {
        last = last < upright_log_last_scope ? last + 1 : 1
        if entries[last] == nil {
          entries[last] = Entry(scope: nil, level: AV_LOG_QUIET)
          return last
        }
      }
      return 0
    }

    mutating func set(_ number: CInt, _ entry: Entry?) {
      if number > 0 { entries[number] = entry }
      install()
    }

    /// Installs the log callback, with the least important level that somebody wants.
    private func install() {
      let level = entries.values.reduce(host?.level ?? AV_LOG_QUIET) { max($0, $1.level) }
      upright_log_install(level, host == nil) { LogScope.pass($0, $1, $2) }
    }
  }

  private static let scopes = Mutex(Scopes())

  /// Installs the log callback of the libraries, for the whole process: lines at or below `level` (`AV_LOG_...`) that
  /// aren't of a scope go to `receive`, on any thread. Errors become part of this package's messages too.
  package static func installHost(upTo level: CInt, to receive: @escaping Receiver) {
    scopes.withLock { $0.host = Host(level: level, receive: receive) }
  }

  /// Passes a line on. Returns `false` if nobody wants it.
  private static func pass(_ number: CInt, _ level: CInt, _ line: UnsafePointer<CChar>?) -> Bool {
    guard let line else { return true }
    let (found, host) = scopes.withLock { ($0.entries[number]?.scope, $0.host) }
    if let scope = found ?? current {
      if level <= scope.level { scope.receive(level, String(cString: line)) }
      return true
    }
    guard let host else { return false }
    if level <= host.level { host.receive(level, String(cString: line)) }
    return true
  }
}
