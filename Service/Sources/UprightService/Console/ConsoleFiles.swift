internal import CUprightConsole
internal import HTTPTypes
internal import Hummingbird

/// The files of the console, which are part of the program.
struct ConsoleFiles: Sendable {
  static let all = ConsoleFiles()

  private let files: [String: (type: String, body: TextBody)]

  /// The Content-Security-Policy of all pages, which allows nothing inline and nothing from other hosts.
  ///
  /// - Parameter isFramed: Whether pages of other hosts may show the page in a frame.
  static func policy(isFramed: Bool = false) -> String {
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
      + "media-src 'self' blob:; base-uri 'none'; form-action 'none'"
      + (isFramed ? "" : "; frame-ancestors 'none'")
  }

  private static let types = [
    "html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml",
  ]

  private init() {
    var files: [String: (type: String, body: TextBody)] = [:]
    var index = 0
    while let file = unsafe upright_console_file_at(index)?.pointee {
      let name = unsafe String(cString: file.name)
      let bytes = unsafe file.content
      let type = Self.types[String(name.split(separator: ".").last ?? "")] ?? "text/plain"
      files[name] = ("\(type); charset=utf-8", TextBody(bytes))
      index += 1
    }
    self.files = files
  }

  /// The names of the files.
  var names: [String] { Array(files.keys) }

  /// Returns the response to a request for a file.
  ///
  /// - Parameter isFramed: Whether pages of other hosts may show it in a frame.
  /// - Throws: `Problem` 404 if there is no such file.
  func response(
    _ name: String, to request: Request, isFramed: Bool = false
  ) throws(Problem) -> Response {
    guard let file = files[name] else { throw .notFound("there is no such file") }
    var headers: HTTPFields = [
      // The files of another version of the program have the same names.
      .contentType: file.type, .cacheControl: "no-cache",
      .contentSecurityPolicy: Self.policy(isFramed: isFramed),
    ]
    // A path may name a session.
    headers[.referrerPolicy] = "no-referrer"
    return file.body.response(to: request, headers)
  }
}

extension HTTPField.Name {
  /// Referrer Policy, 8.1.
  static let referrerPolicy = Self.known("Referrer-Policy")
}
