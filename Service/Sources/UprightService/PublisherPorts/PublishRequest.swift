internal import Foundation
internal import Upright
internal import UprightRTMP

/// How a publisher connects: the scheme of its URL.
enum PublishScheme: String, Sendable {
  case rtmp, rtmps, srt

  /// The port of a URL that has none.
  var port: Int { self == .rtmps ? 443 : 1935 }

  /// What the publisher's bytes are.
  var container: PublishedFeed.Container { self == .srt ? .mpegts : .flv }
}

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
  let scheme: PublishScheme

  init(_ stream: PublishConnection.Address, from address: String, over scheme: PublishScheme) {
    // Publishers divide a path into app and name in different places.
    let path = [stream.app, stream.name].filter { !$0.isEmpty }.joined(separator: "/")
    let slash = path.lastIndex(of: "/")
    app = slash.map { String(path[..<$0]) } ?? ""
    name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    key = stream.key.removingPercentEncoding ?? stream.key
    self.address = address
    self.scheme = scheme
  }

  /// The stream's path.
  var path: String { app.isEmpty ? name : "\(app)/\(name)" }
}

/// Why a publisher is rejected. `reason` is sent to the publisher, and logged.
struct PublishRefusal: Error, Sendable, Hashable {
  /// The kind of the refusal.
  enum Code: Sendable {
    /// The request can't be understood.
    case invalid
    /// The publisher asks to play.
    case mode
    /// The publisher isn't allowed to publish.
    case denied
    /// There is no such stream.
    case unknown
    /// The stream has a publisher already, or its name is in use.
    case taken

    /// The code of the status that a publisher by RTMP gets.
    var rtmp: PublishConnection.Rejection { self == .denied ? .denied : .badName }
  }

  let reason: String
  let code: Code

  init(_ reason: String, _ code: Code = .unknown) {
    self.reason = reason
    self.code = code
  }
}
