internal import HTTPTypes

/// The credential that a request needs.
enum AccessRule: Sendable, Hashable {
  /// No credential.
  case open
  /// The admin token.
  case control
  /// None if the library is open, else the admin token.
  case library
  /// The admin token, or a code that logs in one browser.
  case login
  /// The admin token, or the publish key of the session.
  case publish(session: String)
  /// The same, or a token from a publish link, which sends media and events but reads nothing.
  case contribute(session: String)

  /// The rule for a request. Requests that aren't listed here need `control`.
  init(method: HTTPRequest.Method, path: String) {
    let reads = method == .get || method == .head
    // Most requests, by far.
    if path.hasPrefix("/live/"), reads {
      self = .open
      return
    }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(
      String.init)
    switch parts.first {
    case "" where parts.count == 1 && reads: self = .open
    case "healthz" where parts.count == 1 && reads: self = .open
    case "readyz" where parts.count == 1 && reads: self = .open
    case "openapi.yaml" where parts.count == 1 && reads: self = .open
    case "live" where reads || method == .options: self = .open
    // A signature is no token either: `PlaybackKeys` checks it. No name in the library begins so.
    case "vod" where method == .options || reads && parts.contains { $0.hasPrefix("~") }:
      self = .open
    case "vod" where reads: self = .library
    // The code of a link is no token: `PublishLinks` checks it.
    case "publish" where parts.count == 2 && (reads || method == .post): self = .open
    case "sensor" where parts.count == 2 && reads: self = .open
    case "watch" where parts.count == 2 && reads: self = .open
    case "console" where parts.count == 2 && reads: self = .open
    case "whip" where parts.count >= 2 && !parts[1].isEmpty:
      self = method == .options ? .open : .contribute(session: parts[1])
    case "v1" where parts.count == 2 && parts[1] == "login" && method == .post: self = .login
    case "v1" where parts.count >= 3 && parts[1] == "sessions" && !parts[2].isEmpty:
      let isItself = parts.count == 3
      let isEvents = parts.count == 4 && parts[3] == "events"
      if isEvents, method == .post {
        self = .contribute(session: parts[2])
      } else {
        self = (isItself || isEvents) && reads ? .publish(session: parts[2]) : .control
      }
    default: self = .control
    }
  }
}
