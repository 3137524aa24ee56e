internal import Foundation
internal import UprightOrientation

/// What this process uses, from `/proc/self`. The names are those of Prometheus' client libraries.
struct ProcessMetrics: Sendable {
  /// The CPU time so far, in seconds.
  var cpuSeconds: Double
  var threads: Int
  /// The time at which the process started, in seconds since 1970.
  var startTime: Double
  /// In bytes.
  var virtualMemory: Int
  /// In bytes.
  var residentMemory: Int
  var openDescriptors: Int
  var maxDescriptors: Int

  /// Returns `nil` if `/proc` can't be read.
  static var current: ProcessMetrics? {
    guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      let system = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
      let boot = system.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }),
      let booted = Double(boot.dropFirst(6))
    else { return nil }
    // The name of the program, in parentheses, may have spaces. Field 3 of proc(5) follows it.
    let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
      .dropFirst().compactMap { Double($0) ?? 0 }
    guard fields.count > 21 else { return nil }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    var limit = rlimit()
    let isLimited = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return ProcessMetrics(
      cpuSeconds: (fields[11] + fields[12]) / ticks, threads: Int(fields[17]),
      startTime: booted + fields[19] / ticks, virtualMemory: Int(clamping: fields[20]),
      residentMemory: Int(clamping: fields[21] * Double(sysconf(Int32(_SC_PAGESIZE)))),
      // Reading the folder takes a descriptor itself.
      openDescriptors: max(0, (open?.count ?? 0) - 1),
      maxDescriptors: isLimited ? Int(clamping: limit.rlim_cur) : 0)
  }

  /// Adds the families to a page.
  func add(to page: inout MetricsPage) {
    page.add(
      "process_cpu_seconds_total", .counter, "User and system CPU time, in seconds.", cpuSeconds)
    page.add("process_resident_memory_bytes", .gauge, "Resident memory.", residentMemory)
    page.add("process_virtual_memory_bytes", .gauge, "Virtual memory.", virtualMemory)
    page.add("process_open_fds", .gauge, "Open file descriptors.", openDescriptors)
    page.add(
      "process_max_fds", .gauge, "The maximum number of open file descriptors.", maxDescriptors)
    page.add("process_threads", .gauge, "Threads.", threads)
    page.add(
      "process_start_time_seconds", .gauge, "The time of the start, in seconds since 1970.",
      startTime)
  }
}
