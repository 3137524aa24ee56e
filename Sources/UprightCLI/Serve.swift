internal import ArgumentParser
internal import Glibc
internal import UprightOrientation

/// `upright serve`: becomes the live service, the program `upright-serve`, which is built and installed apart.
struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run the live service: many sessions, an HTTP API, HLS and RTMP.",
    discussion: """
      This is the program upright-serve, with the same options: upright serve --help prints them. It is looked for \
      beside upright, in ../libexec/upright, and then on PATH.
      """)

  @Argument(parsing: .captureForPassthrough, help: "The arguments of upright-serve.")
  var arguments: [String] = []

  func run() throws {
    for path in Self.candidates where unsafe access(path, X_OK) == 0 {
      Self.execute(path, arguments)
    }
    throw UprightError(
      .unavailable, "the live service is not installed", at: Self.program,
      remedy: "install the package upright-serve, or run make build in the source folder")
  }

  private static let program = "upright-serve"

  /// Where the program may be, in order.
  private static var candidates: [String] {
    var folders: [String] = []
    if let own = ownFolder { folders += [own, own + "/../libexec/upright"] }
    if let path = unsafe getenv("PATH") {
      folders += unsafe String(cString: path).split(separator: ":").map(String.init)
    }
    return folders.map { $0 + "/" + program }
  }

  /// The folder of this program, without symbolic links.
  private static var ownFolder: String? {
    guard let path = unsafe realpath("/proc/self/exe", nil) else { return nil }
    defer { unsafe free(path) }
    let text = unsafe String(cString: path)
    return text.lastIndex(of: "/").map { String(text[..<$0]) }
  }

  /// Replaces this process, so that signals and the exit status are those of the service. Returns if that fails.
  private static func execute(_ path: String, _ arguments: [String]) {
    // This program ignores them, and an ignored signal stays ignored in the next program.
    signal(SIGPIPE, SIG_DFL)
    signal(SIGXFSZ, SIG_DFL)
    var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
    unsafe execv(path, &words)
    unsafe words.forEach { unsafe free($0) }
  }
}
