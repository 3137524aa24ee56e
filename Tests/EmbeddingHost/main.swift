// A program that embeds Upright and has its own log callback, signal handlers and environment. It transcodes a
// file, opens a damaged one and an address where nobody listens, and prints what has changed in the process,
// and the errors.
//
//     embedding-host own|none|sink INPUT FOLDER
//
// With `own` it installs its own log callback of FFmpeg, with `none` it leaves FFmpeg's default, and with `sink`
// it has Upright install one.
import CUprightFFmpeg
import Foundation
import Synchronization
import Upright

let arguments = CommandLine.arguments
guard arguments.count == 4 else {
  print("usage: embedding-host own|none|sink INPUT FOLDER")
  exit(64)
}
let (mode, input, folder) = (arguments[1], arguments[2], arguments[3])

/// What the host has of its own. Callbacks run on any thread, which closures of this file's top level can't.
enum Host {
  /// The number of messages that reached the host's callback.
  static let own = Atomic(0)
  /// The number of messages that reached the sink that the host gave Upright.
  static let sink = Atomic(0)

  static func setUp(_ mode: String) {
    for number in [SIGINT, SIGTERM, SIGPIPE] { signal(number) { _ in } }
    setenv("EMBEDDING_HOST", "1", 1)
    switch mode {
    case "own": av_log_set_callback { _, _, _, _ in _ = Host.own.add(1, ordering: .relaxed) }
    case "sink":
      UprightRuntime.installLog(upTo: .info) { _, _ in _ = Host.sink.add(1, ordering: .relaxed) }
    default: break
    }
  }
}
Host.setUp(mode)

/// What belongs to the process and not to a library.
struct ProcessState {
  /// The handlers with their flags and the signals that they block.
  var signals: [String] = []
  var blocked: [UInt8]
  var environment = ProcessInfo.processInfo.environment
  var folder = FileManager.default.currentDirectoryPath
  var logLevel = av_log_get_level()
  var openFiles: UInt

  init() {
    for number in 1...64 as ClosedRange<CInt> {
      var action = sigaction()
      sigaction(number, nil, &action)
      // The kernel fills in the first 64 bits of the mask only.
      let mask = withUnsafeBytes(of: action.sa_mask) { $0.load(as: UInt64.self) }
      let handler = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      signals.append("\(handler) \(action.sa_flags) \(mask)")
    }
    var mask = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &mask)
    blocked = withUnsafeBytes(of: mask) { Array($0) }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
    openFiles = limit.rlim_cur
  }

  /// The names of the parts that differ.
  func differences(from other: ProcessState) -> [String] {
    var names: [String] = []
    if signals != other.signals { names.append("signal handlers") }
    if blocked != other.blocked { names.append("blocked signals") }
    if environment != other.environment { names.append("environment") }
    if folder != other.folder { names.append("working directory") }
    if logLevel != other.logLevel { names.append("log level") }
    if openFiles != other.openFiles { names.append("resource limit") }
    return names
  }
}

/// Transcodes `input` and prints the number of frames, or the error with the libraries' code and text.
func transcode(_ input: String, _ name: String) async throws {
  var options = TranscodeOptions()
  options.frames = .sensor(Camera())
  options.overwrites = true
  do {
    let session = try TranscodeSession(
      input: input, output: "\(folder)/\(name)", options: options,
      policy: .builtIn("phone") ?? PolicyDocument(), events: .none)
    print("\(name): \(try await session.run { _ in }.output.frames) frames")
  } catch {
    let library = error.library.map { "\($0.code) \($0.text)" } ?? "no code"
    print("\(name): \(error.code.name), \(library): \(error.message)")
  }
}

let before = ProcessState()
try await transcode(input, "whole.mp4")
let damaged = "\(folder)/damaged.mp4"
// An MP4 file without its index: a type and media.
let media = Data([0, 0, 1, 0]) + Data("mdat".utf8) + Data(count: 248)
try (Data(contentsOf: URL(fileURLWithPath: input)).prefix(32) + media).write(
  to: URL(fileURLWithPath: damaged))
try await transcode(damaged, "of-damaged.mp4")
try await transcode("\(folder)/missing.mp4", "of-missing.mp4")
// Only its address: sockets log errors by a context of their own.
if mode != "none" { try await transcode("rtsp://127.0.0.1:1/camera", "of-address.mp4") }
let changes = ProcessState().differences(from: before)

if mode == "own" {
  let count = Host.own.load(ordering: .relaxed)
  withVaList([]) { av_vlog(nil, AV_LOG_INFO, "the host's own message", $0) }
  let isInstalled = Host.own.load(ordering: .relaxed) == count + 1
  print("log callback: \(isInstalled ? "the host's" : "replaced")")
}
if mode == "sink" {
  print("sink: \(Host.sink.load(ordering: .relaxed) > 0 ? "called" : "silent")")
}
print("changed: \(changes.isEmpty ? "nothing" : changes.joined(separator: ", "))")
