internal import HTTPTypes
internal import Hummingbird

/// Which methods each path of the API has: to tell a path that is not there from a method that its path
/// does not have (RFC 9110, 15.5.6).
struct RouteMethods: Sendable {
  private let routes: [(parts: [String], method: HTTPRequest.Method)]

  init(_ router: Router<ServiceContext>) {
    routes = router.routes.map { (Self.parts($0.path.description), $0.method) }
  }

  private static func parts(_ path: String) -> [String] {
    path.split(separator: "/").map { String($0) }
  }

  /// The methods that `path` has, in the order of their names; none where it is no path of ours.
  func allowed(at path: String) -> [String] {
    let parts = Self.parts(path)
    let methods = routes.filter { route in
      route.parts.count == parts.count
        && zip(route.parts, parts).allSatisfy { $0 == $1 || $0.hasPrefix(":") || $0.hasPrefix("{") }
    }.map(\.method.rawValue)
    return Set(methods).sorted()
  }
}
