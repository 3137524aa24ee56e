internal import CUprightWorker
internal import Foundation
internal import Upright
internal import UprightOrientation
internal import UprightPolicy

/// What a worker may use of the system. SECURITY.md says what that leaves.
struct Confinement: Codable, Sendable {
  /// The session's own folders.
  var folders: [String]
  /// The files that it may read besides, and folders of them.
  var files: [String]
  /// How far its priority is below that of the service, as nice(1) counts.
  var niceness: CInt
  /// The largest address space, in bytes.
  var addressSpace: UInt64

  /// What the libraries read: themselves, name resolution, and the certificates that servers are checked with.
  private static let system = [
    "/usr", "/lib", "/lib64", "/etc/ssl", "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf",
    "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/localtime", "/etc/ld.so.cache",
    "/run/systemd/resolve", "/sys/devices/system/cpu", "/dev/urandom",
    // Dispatch ends a process that can't read the state of its own threads at /proc/THREAD/stat. Landlock refuses the
    // memory and the environment of other processes all the same.
    "/proc",
  ]

  /// Makes the folders of the session, of which the worker can make none.
  ///
  /// - Parameters:
  ///   - own: The folders of the session.
  ///   - configuration: The session's configuration. Its input may be a file.
  ///   - priority: How much of the processors it gets while they are all in use.
  /// - Throws: `cannotCreate` if a folder can't be made.
  init(
    _ own: SessionFolders, _ configuration: LiveConfiguration, _ priority: SessionPriority
  ) throws(UprightError) {
    let root = own.all.root
    folders = [try own.all.live(own.session), try own.all.recordings(of: own.session)]
    // The service's state has names that begin with a dot.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    files = names.filter { !$0.hasPrefix(".") && !["live", "recordings", "vod"].contains($0) }
      .map { "\(root)/\($0)" }
    if case .file(let path) = configuration.input { files.append(path) }
    let environment = ProcessInfo.processInfo.environment
    files += ["SSL_CERT_FILE", "SSL_CERT_DIR"].compactMap { environment[$0] }
    let pixels = Self.pixels(configuration)
    niceness = Self.niceness(pixels, priority)
    addressSpace = Self.addressSpace(pixels)
  }

  /// Of a process that only reads files.
  ///
  /// - Parameter paths: The files, and folders of them.
  init(reading paths: [String]) {
    (folders, files) = ([], paths)
    niceness = Self.niceness(0)
    addressSpace = Self.addressSpace(0)
  }

  /// Returns the number of pixels of the frames that are encoded at a time; 0 if they have the input's size.
  private static func pixels(_ configuration: LiveConfiguration) -> Double {
    let options = configuration.options
    var sizes = options.ladder.map(\.size)
    if sizes.isEmpty, case .pair(let size)? = options.size { sizes = [size] }
    if sizes.isEmpty, let stream = configuration.policy.stream { sizes = [stream.encodeSize] }
    return sizes.reduce(0) { $0 + Double($1.width) * Double($1.height) }
  }

  /// The service comes first, and then the sessions by their priority and with the fewest pixels: twice as many as those
  /// of 720p are three steps, which halve the weight. 19 is the lowest priority that there is.
  static func niceness(_ pixels: Double, _ priority: SessionPriority = .normal) -> CInt {
    let steps = (3 * log2(max(pixels / (1280 * 720), 1))).rounded()
    return min(4 + CInt(min(steps, 12)) + priority.steps, 19)
  }

  /// Decoded frames of the largest size, and what threads and libraries reserve, are in 4 GiB. An encoder has up to 100
  /// frames of its own.
  static func addressSpace(_ pixels: Double) -> UInt64 {
    let most = Double(8 << 30)
    return UInt64(clamping: pixels > 0 ? min(Double(4 << 30) + 256 * pixels, most) : most)
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
    _ = upright_worker_yield(niceness)
    _ = upright_worker_enforce(rules)
    _ = upright_worker_filter()
    _ = upright_worker_limit(addressSpace)
  }
}
