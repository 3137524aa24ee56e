internal import HTTPTypes
internal import Hummingbird

/// The methods of each path of the API, to distinguish an unknown path from an unsupported method (RFC 9110,
/// 15.5.6).
struct RouteMethods: Sendable {
  private let routes: [(parts: [String], method: HTTPRequest.Method)]

  init(_ router: Router<ServiceContext>) {
    routes = router.routes.map { (Self.parts($0.path.description), $0.method) }
  }

  private static func parts(_ path: String) -> [String] {
    path.split(separator: "/").map { String($0) }
  }

  /// Returns whether a part of a path matches a part of a route, which may be a name, `:id` or `prefix{id}`.
  private static func matches(_ part: String, _ route: String) -> Bool {
    part == route || route.hasPrefix(":")
      || route.contains("{") && part.hasPrefix(route.prefix { $0 != "{" })
  }

  /// Returns the methods of `path`, sorted by name; empty if the path is unknown.
  func allowed(at path: String) -> [String] {
    let parts = Self.parts(path)
    let methods = routes.filter { route in
      route.parts.count == parts.count
        && zip(route.parts, parts).allSatisfy { Self.matches($1, $0) }
    }.map(\.method.rawValue)
    // The router answers HEAD as GET.
    return Set(methods.flatMap { $0 == "GET" ? [$0, "HEAD"] : [$0] }).sorted()
  }
}
