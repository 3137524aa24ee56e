/// Where the publisher of a session connects, with its key: what its operator enters in OBS, a phone's app or ffmpeg.
struct PublishAddress: Sendable {
  /// The address at which the service listens.
  private let listener: StreamURL
  /// The path of the stream, `app/key`; empty if the port belongs to the session alone.
  private let path: String

  /// - Parameters:
  ///   - listener: The requested URL of the input.
  ///   - path: The path of the stream, whose last component is the key; empty for a port without paths.
  init(_ listener: StreamURL, path: String) {
    (self.listener, self.path) = (listener, path)
  }

  /// The protocol: `rtmp`, `rtmps`, `srt` or `udp`.
  var scheme: String { listener.scheme }

  /// The passphrase as it is written in the URL; `nil` if there is none.
  var passphrase: String? { listener.queryValue("passphrase") }

  /// Returns the host for programs that know the service by the name `asked`, or on this machine if it is `nil`.
  func host(asked: String?) -> String {
    isEverywhere ? asked ?? "127.0.0.1" : listener.host
  }

  /// Returns a host at which a phone in the same network reaches the port; `nil` if only this machine can.
  ///
  /// - Parameters:
  ///   - asked: The name by which the page was asked for.
  ///   - local: An address of this machine in its network.
  func phoneHost(asked: String?, local: IPAddress?) -> String? {
    if listener.isLoopback { return nil }
    guard isEverywhere else { return listener.host }
    if let asked, asked != "localhost", IPAddress(asked)?.scope != .loopback { return asked }
    return local?.description
  }

  private var isEverywhere: Bool { listener.address?.scope == .unspecified }

  /// Returns the address without the key: of RTMP with the app, as OBS calls it "Server".
  func server(at host: String) -> String {
    let start = start(at: host)
    guard scheme.hasPrefix("rtmp"), let slash = path.lastIndex(of: "/") else { return start }
    return "\(start)/\(path[..<slash])"
  }

  /// The stream key. For SRT it is the `streamid`.
  var key: String {
    guard scheme.hasPrefix("rtmp"), let slash = path.lastIndex(of: "/") else { return path }
    return String(path[path.index(after: slash)...])
  }

  /// Returns the whole address, with the key.
  func url(at host: String) -> String {
    if scheme.hasPrefix("rtmp") { return "\(start(at: host))/\(path)" }
    var members: [String] = path.isEmpty ? [] : ["streamid=\(path)"]
    if let passphrase { members.append("passphrase=\(passphrase)") }
    return start(at: host) + (members.isEmpty ? "" : "?" + members.joined(separator: "&"))
  }

  private func start(at host: String) -> String {
    let host = host.contains(":") ? "[\(host)]" : host
    return "\(scheme)://\(host)" + (listener.port.map { ":\($0)" } ?? "")
  }
}
