import Foundation
import Synchronization
import UprightServiceTestSupport

/// An HTTP origin on loopback with the conditional requests of RFC 9110, each connection on a thread of its own. A test
/// decides what goes wrong.
final class FakeOrigin: Sendable {
  struct Request: Sendable {
    let method: String
    let path: String
    /// The header fields, by name in lower case.
    let fields: [String: String]
    let body: [UInt8]

    var name: String { String(path.split(separator: "/").last ?? "") }
  }

  /// What happens to a request.
  enum Fault: Sendable {
    case none
    /// This status, and nothing is stored.
    case status(Int)
    /// The request is carried out, and the connection closed without an answer.
    case lostAnswer
    /// The connection is closed, and nothing is stored.
    case lostRequest
    /// The request waits for some seconds first.
    case slow(Double)
    /// Nothing is answered until the client closes the connection.
    case silence
    /// Conditions are ignored.
    case unconditional
    /// The answer has no tag.
    case untagged
    /// The answer's tag is weak.
    case weak
  }

  private struct State {
    var files: [String: (body: [UInt8], tag: String)] = [:]
    var versions = 0
    /// The texts that each playlist had, in order.
    var texts: [String: [String]] = [:]
    var requests: [Request] = []
    /// What was wrong with a playlist when it was stored.
    var violations: [String] = []
  }

  private let listener: Loopback.Listener
  private let state = Mutex(State())
  private let fault: @Sendable (Request) -> Fault

  var port: Int { listener.port }
  var url: String { "http://127.0.0.1:\(port)/live" }
  var requests: [Request] { state.withLock { $0.requests } }
  var violations: [String] { state.withLock { $0.violations } }
  /// The names of the files of `/live/SESSION`.
  func names(_ session: String = "cam") -> Set<String> {
    let start = "/live/\(session)/"
    return state.withLock { state in
      Set(state.files.keys.filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) })
    }
  }
  /// All texts that a playlist had.
  func texts(_ name: String = "index.m3u8", of session: String = "cam") -> [String] {
    state.withLock { $0.texts["/live/\(session)/\(name)"] ?? [] }
  }

  init(_ fault: @escaping @Sendable (Request) -> Fault = { _ in .none }) throws {
    let listener = try Loopback.Listener()
    self.listener = listener
    self.fault = fault
    Thread.detachNewThread { [weak self] in
      while let client = listener.accept() {
        Thread.detachNewThread { [weak self] in
          while let request = Self.read(client), self?.serve(request, client) == true {}
          close(client)
        }
      }
    }
  }

  deinit { listener.stop() }

  /// Stores a file as another program would.
  func store(_ text: String, at path: String) {
    state.withLock { $0.files[path] = (Array(text.utf8), "\"other\"") }
  }

  /// Answers a request. Returns whether the connection stays open.
  private func serve(_ request: Request, _ client: CInt) -> Bool {
    let fault = fault(request)
    state.withLock { $0.requests.append(request) }
    switch fault {
    case .status(let status): return Self.send(client, status)
    case .lostRequest: return false
    case .silence:
      var byte: UInt8 = 0
      _ = recv(client, &byte, 1, 0)
      return false
    case .slow(let seconds): usleep(UInt32(seconds * 1_000_000))
    default: break
    }
    var (status, tag, body) = perform(request, isConditional: fault != .unconditional)
    switch fault {
    case .lostAnswer: return false
    case .untagged where request.method == "PUT": tag = nil
    case .weak: tag = tag.map { "W/\($0)" }
    default: break
    }
    if status == 200, request.method == "PUT" { (status, body) = (204, []) }
    return Self.send(client, status, tag: tag, body)
  }

  private func perform(
    _ request: Request, isConditional: Bool
  ) -> (status: Int, tag: String?, body: [UInt8]) {
    state.withLock { state in
      let present = state.files[request.path]
      if isConditional {
        if let tag = request.fields["if-match"], tag != present?.tag { return (412, nil, []) }
        if request.fields["if-none-match"] == "*", present != nil { return (412, nil, []) }
      }
      switch request.method {
      case "GET":
        guard let present else { return (404, nil, []) }
        return (200, present.tag, present.body)
      case "PUT":
        state.versions += 1
        let tag = "\"\(state.versions)\""
        state.files[request.path] = (request.body, tag)
        if request.path.hasSuffix(".m3u8") { note(request, &state) }
        return (200, tag, [])
      case "DELETE":
        state.files[request.path] = nil
        return (204, nil, [])
      default: return (405, nil, [])
      }
    }
  }

  /// Checks that all that a playlist lists is there.
  private func note(_ request: Request, _ state: inout State) {
    let text = String(decoding: request.body, as: UTF8.self)
    if state.texts[request.path]?.last != text {
      state.texts[request.path, default: []].append(text)
    }
    let folder = request.path.dropLast(request.name.count)
    for line in text.split(separator: "\n") {
      var file = line
      if line.hasPrefix("#") {
        guard let uri = line.firstMatch(of: /URI="([^"]+)"/) else { continue }
        file = uri.1
      }
      if state.files["\(folder)\(file)"] == nil {
        state.violations.append("\(request.name) lists \(file), which isn't there")
      }
    }
  }

  // MARK: - The wire

  private static func read(_ client: CInt) -> Request? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    let blank = Array("\r\n\r\n".utf8)
    var head: (length: Int, fields: [String: String], words: [String])?
    while true {
      if head == nil, let end = bytes.firstRange(of: blank) {
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
          .components(separatedBy: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
          let sides = line.split(separator: ":", maxSplits: 1)
          guard sides.count == 2 else { continue }
          fields[sides[0].lowercased()] = sides[1].trimmingCharacters(in: .whitespaces)
        }
        head = (end.upperBound, fields, lines[0].split(separator: " ").map(String.init))
      }
      if let head {
        let length = Int(head.fields["content-length"] ?? "0") ?? 0
        if bytes.count >= head.length + length, head.words.count == 3 {
          return Request(
            method: head.words[0], path: head.words[1], fields: head.fields,
            body: Array(bytes[head.length..<head.length + length]))
        }
      }
      let count = recv(client, &buffer, buffer.count, 0)
      if count <= 0 { return nil }
      bytes += buffer[..<count]
    }
  }

  private static func send(
    _ client: CInt, _ status: Int, tag: String? = nil, _ body: [UInt8] = []
  ) -> Bool {
    let length = status == 204 ? "" : "Content-Length: \(body.count)\r\n"
    let field = tag.map { "ETag: \($0)\r\n" } ?? ""
    let bytes = Array("HTTP/1.1 \(status) Reason\r\n\(length)\(field)\r\n".utf8) + body
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(client, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}

extension FakeOrigin.Fault: Equatable {}
