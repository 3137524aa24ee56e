import Foundation
import UprightPolicy
import Synchronization
import UprightServiceTestSupport

@testable import UprightService

/// The HTTP API of Janus with its VideoRoom, without WebRTC. It can answer wrongly.
final class FakeJanus: Sendable {
  /// How a request is answered wrongly.
  enum Fault: Sendable {
    case silence, garbage, wrongStatus, huge, disconnects
    case error(Int)
    /// The right answer with a member of the plugin's data removed.
    case lacks(String)
  }

  struct Room: Sendable {
    var description: String
    var secret: String
  }

  struct Forward: Sendable {
    var port: UInt16
    var ssrc: UInt32
    var type: Int
  }

  private struct State: Sendable {
    var next = 1000
    var sessions: Set<Int> = []
    var rooms: [Int: Room] = [:]
    var events: [Int: [JSONValue]] = [:]
    var forwards: [Forward] = []
    var requests: [String] = []
    var candidates: [JSONValue] = []
    var faults: [String: Fault] = [:]
    var offers: [String] = []
    var isStopped = false
  }

  let port: Int
  let secret: String?
  /// The codec that the answers select.
  let codec: String
  private let listener: Loopback.Listener
  private let state = Mutex(State())

  init(secret: String? = nil, codec: String = "H264") throws {
    self.secret = secret
    self.codec = codec
    let listener = try Loopback.Listener()
    self.listener = listener
    port = listener.port
    Thread.detachNewThread { [weak self] in
      while let peer = listener.accept() {
        guard let self else { return _ = close(peer) }
        Thread.detachNewThread { self.serve(peer) }
      }
    }
  }

  var url: String { "http://127.0.0.1:\(port)/janus" }

  func stop() {
    state.withLock { $0.isStopped = true }
    listener.stop()
  }

  // MARK: - What the test sees and does

  var rooms: [Int: Room] { state.withLock { $0.rooms } }
  var sessions: Int { state.withLock { $0.sessions.count } }
  var forwards: [Forward] { state.withLock { $0.forwards } }
  var requests: [String] { state.withLock { $0.requests } }
  var candidates: [JSONValue] { state.withLock { $0.candidates } }
  var offers: [String] { state.withLock { $0.offers } }

  /// Adds a room that another client has made.
  func addRoom(_ room: Room) -> Int {
    state.withLock { state in
      state.next += 1
      state.rooms[state.next] = room
      return state.next
    }
  }

  /// Answers requests of a kind wrongly; `nil` answers them correctly again.
  func answer(_ kind: String, with fault: Fault?) { state.withLock { $0.faults[kind] = fault } }

  /// Forgets everything, like a restart.
  func restart() {
    state.withLock { state in
      (state.sessions, state.rooms, state.events) = ([], [:], [:])
    }
  }

  /// Tells all clients that their publisher has gone.
  func hangUp() {
    state.withLock { state in
      for session in state.sessions {
        state.events[session, default: []].append(["janus": "hangup", "reason": "ICE failed"])
      }
    }
  }

  // MARK: - HTTP

  private func serve(_ peer: CInt) {
    defer { close(peer) }
    var received: [UInt8] = []
    while let request = Self.request(peer, &received), !state.withLock({ $0.isStopped }) {
      let (kind, answer) = self.answer(request.path, request.body)
      var text = answer?.compact ?? ""
      var status = "200 OK"
      switch state.withLock({ $0.faults[kind] }) {
      case .silence:
        while !state.withLock({ $0.isStopped || $0.faults[kind] == nil }) { usleep(10_000) }
        return
      case .disconnects: return
      case .garbage: text = "<html>not JSON</html>"
      case .wrongStatus: status = "500 Broken"
      case .huge: text = "\"" + String(repeating: "x", count: 2 << 20) + "\""
      case .error, .lacks, nil: break
      }
      let head = "HTTP/1.1 \(status)\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
      guard Self.send(head + text, to: peer) else { return }
    }
  }

  private static func send(_ text: String, to peer: CInt) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(peer, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Returns the next request; `nil` if the client has closed the connection.
  private static func request(
    _ peer: CInt, _ received: inout [UInt8]
  ) -> (path: String, body: [UInt8])? {
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let text = String(decoding: received, as: UTF8.self)
      if let end = text.range(of: "\r\n\r\n") {
        let head = text[..<end.lowerBound]
        let length =
          head.lowercased().range(of: "content-length: ").flatMap { range in
            Int(head.lowercased()[range.upperBound...].prefix(while: \.isNumber))
          } ?? 0
        let start = head.utf8.count + 4
        if received.count >= start + length {
          let body = Array(received[start..<start + length])
          received.removeFirst(start + length)
          return (String(head.split(separator: " ")[1]), body)
        }
      }
      let count = recv(peer, &buffer, buffer.count, 0)
      if count <= 0 { return nil }
      received += buffer[..<count]
    }
  }

  // MARK: - The API

  /// Returns the kind of a request and the right answer.
  private func answer(_ path: String, _ body: [UInt8]) -> (kind: String, JSONValue?) {
    let parts = path.split(separator: "?")[0].split(separator: "/").dropFirst().compactMap {
      Int($0)
    }
    if body.isEmpty { return ("poll", event(of: parts.first ?? 0, path)) }
    guard let message = try? JSONValue(parsing: body) else { return ("", nil) }
    let plain = message["janus"]?.text ?? ""
    let kind =
      message["body"]?["request"]?.text ?? ["create": "session", "destroy": "leave"][plain] ?? plain
    state.withLock { $0.requests.append(kind) }
    if message["apisecret"]?.text != secret { return (kind, Self.error(403, "Unauthorized")) }
    if let session = parts.first, !state.withLock({ $0.sessions.contains(session) }) {
      return (kind, Self.error(458, "No such session"))
    }
    if case .error(let code)? = state.withLock({ $0.faults[kind] }) {
      return (kind, Self.error(code, "refused"))
    }
    return (kind, state.withLock { Self.answer(kind, message, parts, codec, &$0) })
  }

  private static func error(_ code: Int, _ reason: String) -> JSONValue {
    ["janus": "error", "error": ["code": .integer(code), "reason": .string(reason)]]
  }

  private func event(of session: Int, _ path: String) -> JSONValue {
    if let secret, !path.contains("apisecret=\(secret)") { return Self.error(403, "Unauthorized") }
    for _ in 0..<50 {
      let event: JSONValue? = state.withLock { state in
        if !state.sessions.contains(session) || state.isStopped {
          return Self.error(458, "No such session")
        }
        guard let first = state.events[session]?.first else { return nil }
        state.events[session]?.removeFirst()
        return first
      }
      if let event { return event }
      usleep(10_000)
    }
    return ["janus": "keepalive"]
  }

  private static func answer(
    _ kind: String, _ message: JSONValue, _ path: [Int], _ codec: String, _ state: inout State
  ) -> JSONValue? {
    func data(_ members: [JSONValue.Member]) -> JSONValue {
      var members = members
      if case .lacks(let name)? = state.faults[kind] { members.removeAll { $0.key == name } }
      return ["janus": "success", "plugindata": ["data": .object(members)]]
    }
    let body = message["body"] ?? .null
    state.next += 1
    switch kind {
    case "session", "attach":
      if kind == "session" { state.sessions.insert(state.next) }
      return ["janus": "success", "data": ["id": .integer(state.next)]]
    case "create":
      state.rooms[state.next] = Room(
        description: body["description"]?.text ?? "", secret: body["secret"]?.text ?? "")
      return data([.init("room", .integer(state.next))])
    case "list":
      return data([
        .init(
          "list",
          .array(
            state.rooms.map {
              ["room": .integer($0), "description": .string($1.description)]
            }))
      ])
    case "joinandconfigure", "configure":
      let offer = message["jsep"]?["sdp"]?.text ?? ""
      state.offers.append(offer)
      var event = data([.init("id", .integer(7))])
      if case .object(var members) = event {
        members[0].value = "event"
        members.append(.init("transaction", message["transaction"] ?? .null))
        members.append(
          .init(
            "jsep", ["type": "answer", "sdp": .string(Self.answer(to: offer, codec, state.next))]))
        event = .object(members)
      }
      state.events[path[0], default: []].append(event)
      return ["janus": "ack"]
    case "rtp_forward":
      guard case .array(let streams)? = body["streams"] else { return error(0, "no streams") }
      state.forwards = streams.map {
        Forward(
          port: UInt16($0["port"]?.integer ?? 0), ssrc: UInt32($0["ssrc"]?.integer ?? 0),
          type: $0["pt"]?.integer ?? 0)
      }
      return data([.init("forwarders", [["type": "video", "local_rtcp_port": .integer(9)]])])
    case "trickle":
      if case .array(let candidates)? = message["candidates"] { state.candidates += candidates }
      return ["janus": "ack"]
    case "destroy":
      let room = body["room"]?.integer ?? 0
      guard let known = state.rooms[room], known.secret == body["secret"]?.text else {
        return ["janus": "success", "plugindata": ["data": ["error_code": .integer(426)]]]
      }
      state.rooms[room] = nil
      return data([])
    case "leave":
      state.sessions.remove(path[0])
      return ["janus": "success"]
    default: return ["janus": "success"]
    }
  }

  private static func answer(to offer: String, _ codec: String, _ number: Int) -> String {
    let id = MediaSection.parse(offer)?.first { $0.kind == "video" }?.orientationID
    var lines = [
      "v=0", "m=video 9 UDP/TLS/RTP/SAVPF 100", "a=mid:0", "a=rtpmap:100 \(codec)/90000",
      "a=ice-ufrag:janus\(number)", "a=ice-pwd:0123456789012345678901",
    ]
    if let id { lines.append("a=extmap:\(id) urn:3gpp:video-orientation") }
    lines.append("a=candidate:1 1 udp 2015363327 10.0.0.1 37274 typ host")
    if offer.contains("m=audio") {
      lines += ["m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:1", "a=rtpmap:111 opus/48000/2"]
    }
    return lines.joined(separator: "\r\n") + "\r\n"
  }
}
