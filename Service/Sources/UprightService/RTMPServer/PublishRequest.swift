internal import Foundation
internal import UprightRTMP

/// A publisher's request to publish to a stream.
struct PublishRequest: Sendable, Hashable {
  /// The stream's path without its last component; empty if it has only one.
  let app: String
  /// The last component of the path.
  let name: String
  /// The value of `key` in the URL's query, decoded; empty if there is none.
  let key: String
  /// The publisher's IP address.
  let address: String
  /// Whether the publisher uses TLS.
  let isSecure: Bool

  init(_ stream: PublishConnection.Address, from address: String, isSecure: Bool) {
    // Publishers divide a path into app and name in different places.
    let path = [stream.app, stream.name].filter { !$0.isEmpty }.joined(separator: "/")
    let slash = path.lastIndex(of: "/")
    app = slash.map { String(path[..<$0]) } ?? ""
    name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    key = stream.key.removingPercentEncoding ?? stream.key
    self.address = address
    self.isSecure = isSecure
  }

  /// The stream's path.
  var path: String { app.isEmpty ? name : "\(app)/\(name)" }
}

/// Why a publisher is rejected. `reason` is sent to the publisher, and logged.
struct PublishRefusal: Error, Sendable, Hashable {
  let reason: String
  var code = PublishConnection.Rejection.badName

  init(_ reason: String, _ code: PublishConnection.Rejection = .badName) {
    self.reason = reason
    self.code = code
  }
}
