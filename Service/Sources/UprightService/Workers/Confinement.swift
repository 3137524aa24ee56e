internal import CUprightWorker
internal import Foundation
internal import Upright
internal import UprightOrientation

/// What a worker may use of the system. SECURITY.md says what that leaves.
struct Confinement: Codable, Sendable {
  /// The session's own folders.
  var folders: [String]
  /// The files that it may read besides, and folders of them.
  var files: [String]

  /// What the libraries read: themselves, name resolution, and the certificates that servers are checked with.
  private static let system = [
    "/usr", "/lib", "/lib64", "/etc/ssl", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf",
    "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/localtime", "/etc/ld.so.cache",
    "/run/systemd/resolve", "/sys/devices/system/cpu", "/proc/cpuinfo",
    "/proc/meminfo",
    "/dev/urandom",
  ]
  /// The largest address space, in bytes: frames of the largest size, and what threads and libraries reserve.
  private static let addressSpace: UInt64 = 8 << 30

  /// Makes the folders of the session, of which the worker can make none.
  ///
  /// - Parameters:
  ///   - own: The folders of the session.
  ///   - input: The input, which may be a file.
  /// - Throws: `cannotCreate` if a folder can't be made.
  init(_ own: SessionFolders, _ input: LiveInput) throws(UprightError) {
    let root = own.all.root
    folders = [try own.all.live(own.session), try own.all.recordings(of: own.session)]
    // The service's state has names that begin with a dot.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    files = names.filter { !$0.hasPrefix(".") && !["live", "recordings"].contains($0) }
      .map { "\(root)/\($0)" }
    if case .file(let path) = input { files.append(path) }
    let environment = ProcessInfo.processInfo.environment
    files += ["SSL_CERT_FILE", "SSL_CERT_DIR"].compactMap { environment[$0] }
  }

  /// Confines this process, before it has other threads. What the kernel doesn't have is left out.
  func enforce() {
    let rules = upright_worker_rules()
    if rules >= 0 {
      for path in folders + ["/dev/null", "/proc/self"] {
        _ = unsafe upright_worker_allow(rules, path, true)
      }
      for path in Self.system + files { _ = unsafe upright_worker_allow(rules, path, false) }
    }
    _ = upright_worker_enforce(rules)
    _ = upright_worker_filter()
    _ = upright_worker_limit(Self.addressSpace)
  }
}
