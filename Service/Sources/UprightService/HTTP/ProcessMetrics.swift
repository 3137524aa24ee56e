internal import Foundation
internal import UprightOrientation

/// What this process and those of its sessions use, from `/proc`. The names are those of Prometheus' client libraries.
struct ProcessMetrics: Sendable {
  /// The CPU time so far, in seconds.
  var cpuSeconds: Double
  var threads: Int
  /// The time at which the process started, in seconds since 1970.
  var startTime: Double
  /// In bytes.
  var virtualMemory: Int
  /// In bytes. Pages that processes share are counted once.
  var residentMemory: Int
  var openDescriptors: Int
  var maxDescriptors: Int

  /// Returns `nil` if `/proc` can't be read.
  static var current: ProcessMetrics? {
    guard let own = fields("self"),
      let system = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
      let boot = system.split(separator: "\n").first(where: { $0.hasPrefix("btime ") }),
      let booted = Double(boot.dropFirst(6))
    else { return nil }
    let (others, page) = (children, Double(sysconf(Int32(_SC_PAGESIZE))))
    // Those that have ended are in the process's own times.
    let theirs = others.compactMap(fields)
    let spent = theirs.reduce(own[13] + own[14]) { $0 + $1[11] + $1[12] }
    let threads = theirs.reduce(own[17]) { $0 + $1[17] }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    var limit = rlimit()
    let isLimited = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return ProcessMetrics(
      cpuSeconds: (own[11] + own[12] + spent) / ticks, threads: Int(clamping: threads),
      startTime: booted + own[19] / ticks, virtualMemory: Int(clamping: own[20]),
      residentMemory: Int(clamping: page * others.map(pages).reduce(own[21], +)),
      // Reading the folder takes a descriptor itself.
      openDescriptors: max(0, (open?.count ?? 0) - 1),
      maxDescriptors: isLimited ? Int(clamping: limit.rlim_cur) : 0)
  }

  /// Returns the fields of proc(5) from the third on, each as a number; `nil` if the process has ended.
  private static func fields(_ process: String) -> [Double]? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else {
      return nil
    }
    // The name of the program, in parentheses, may have spaces. Field 3 follows it.
    let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
      .dropFirst().map { Double($0) ?? 0 }
    return fields.count > 21 ? fields : nil
  }

  /// Returns the number of pages that a process has in memory and doesn't share.
  private static func pages(_ process: String) -> Double {
    let text = try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)
    let numbers = text?.split(separator: " ").map { Double($0) ?? 0 } ?? []
    return numbers.count > 2 ? numbers[1] - numbers[2] : 0
  }

  /// The processes that this one has started. Each is the child of a thread.
  private static var children: [String] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return threads.flatMap { thread in
      let path = "/proc/self/task/\(thread)/children"
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      return text.split(separator: " ").map(String.init)
    }
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

extension ProcessorLoad.Sample {
  /// The present counts; `nil` if `/proc` can't be read.
  static var current: Self? {
    guard let own = ProcessMetrics.current?.cpuSeconds,
      let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
      let machine = machine(text, ticks: Double(sysconf(Int32(_SC_CLK_TCK))))
    else { return nil }
    return Self(at: .now, own: own, machine: machine)
  }
}
