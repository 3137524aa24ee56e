import Foundation
import UprightOrientation
import Synchronization
import Testing
import UprightMediaIO
import UprightTestSupport

@testable import UprightLive

@Suite("RTSP servers: what they may send the client to")
struct RTSPTests {
  /// A server with one track of G.711 audio, for one client at a time (RFC 2326).
  final class Server: Sendable {
    private let listener: Loopback.Listener
    private let redirects: [String: String]
    var url: String { "rtsp://127.0.0.1:\(listener.port)/camera" }
    /// The methods of the requests, in order.
    let requests = Mutex<[String]>([])
    /// Whether the client offered to use UDP.
    let hasOfferedDatagrams = Mutex(false)

    /// - Parameter redirects: The address that the server sends the client to, by the request's method.
    init(redirects: [String: String] = [:]) throws {
      listener = try Loopback.Listener()
      self.redirects = redirects
      Thread.detachNewThread { [self] in
        while let client = listener.accept() {
          serve(client)
          close(client)
        }
      }
    }

    func stop() { listener.stop() }

    private func serve(_ client: CInt) {
      var text = ""
      var bytes = [UInt8](repeating: 0, count: 4096)
      var port: UInt16?
      while true {
        guard let end = text.range(of: "\r\n\r\n") else {
          let count = recv(client, &bytes, bytes.count, 0)
          if count <= 0 { return }
          text += String(decoding: bytes[..<count], as: UTF8.self)
          continue
        }
        let head = text[..<end.lowerBound]
        let length = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
        let rest = text[end.upperBound...].utf8
        if rest.count < length {
          let count = recv(client, &bytes, bytes.count, 0)
          if count <= 0 { return }
          text += String(decoding: bytes[..<count], as: UTF8.self)
          continue
        }
        text = String(decoding: rest.dropFirst(length), as: UTF8.self)
        let method = String(head.prefix { $0 != " " })
        requests.withLock { $0.append(method) }
        if let ports = head.firstMatch(of: /client_port=(\d+)/) {
          port = UInt16(ports.1)
          hasOfferedDatagrams.withLock { $0 = true }
        }
        write(Array(answer(method, String(head)).utf8), to: client)
        if method == "PLAY" { play(to: client, port) }
      }
    }

    private func answer(_ method: String, _ head: String) -> String {
      func field(_ name: String) -> String {
        head.split(separator: "\r\n").first { $0.hasPrefix("\(name):") }.map { "\($0)\r\n" } ?? ""
      }
      if let target = redirects[method] {
        return "RTSP/1.0 302 Found\r\n\(field("CSeq"))Location: \(target)\r\n\r\n"
      }
      let ok = "RTSP/1.0 200 OK\r\n\(field("CSeq"))Session: 1\r\n"
      switch method {
      case "DESCRIBE":
        let body = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=audio 0 RTP/AVP 0\r\n"
        return ok + "Content-Type: application/sdp\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
          + body
      case "SETUP":
        let transport = field("Transport").dropLast(2)
        let ports = transport.contains("client_port") ? ";server_port=5004-5005" : ""
        return ok + "\(transport)\(ports)\r\n\r\n"
      default: return ok + "\r\n"
      }
    }

    /// Sends half a second of silence: to the client's UDP port, or between the messages (10.12).
    private func play(to client: CInt, _ port: UInt16?) {
      let datagrams = port.flatMap { try? Loopback.Datagrams($0) }
      for number in 0..<25 as Range<UInt8> {
        let stamp = UInt32(number) * 160
        let packet: [UInt8] =
          [0x80, 0, 0, number]
          + (0..<4).reversed().map { UInt8(truncatingIfNeeded: stamp >> ($0 * 8)) }
          + [0, 0, 0, 1] + [UInt8](repeating: 0xFF, count: 160)
        if let datagrams {
          datagrams.send(packet)
        } else {
          write([0x24, 0, 0, UInt8(packet.count)] + packet, to: client)
        }
      }
    }

    private func write(_ bytes: [UInt8], to client: CInt) {
      _ = send(client, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }
  }

  @Test(
    "A redirect isn't followed, whenever it comes, and nothing connects to its address",
    arguments: ["OPTIONS", "DESCRIBE"])
  func redirected(_ method: String) throws {
    let other = try Server()
    let server = try Server(redirects: [method: other.url])
    defer {
      other.stop()
      server.stop()
    }
    let error = #expect(throws: UprightError.self) { try Demuxer(url: server.url) }
    #expect(error?.code == .unavailable && error?.library?.code == -EINVAL)
    #expect(error?.message == "the server redirects to another address: not followed")
    #expect(server.requests.withLock { $0.contains(method) })
    #expect(other.requests.withLock { $0.isEmpty })
  }

  @Test("A stream that isn't redirected plays", arguments: ["tcp", "udp"])
  func plays(_ transport: String) throws {
    let server = try Server()
    defer { server.stop() }
    let demuxer = try Demuxer(url: server.url, settings: ["rtsp_transport": transport])
    #expect(demuxer.container.streams.map(\.codecName) == ["pcm_mulaw"])
    #expect(try demuxer.read()?.size == 160)
    #expect(
      server.requests.withLock { $0.prefix(4) } == ["OPTIONS", "DESCRIBE", "SETUP", "PLAY"])
  }

  // MARK: - Pushing

  /// Pushes a clip of a second. Returns why the output failed.
  private func push(to url: String) throws -> String? {
    let clip = try FLVClip(DecodedFrames.source, seconds: 1)
    let stage = try LiveTestSession([.push(url: url)])
    try stage.publish(clip.tags, ends: false)
    #expect(until { stage.session.snapshot.seconds > 0.8 })
    stage.end()
    return stage.session.snapshot.outputs[0].reason
  }

  @Test("A stream is announced and recorded over the one TCP connection", .realTime)
  func pushes() throws {
    let server = try Server()
    defer { server.stop() }
    #expect(try push(to: server.url) == nil)
    #expect(
      server.requests.withLock { $0.prefix(5) }
        == ["OPTIONS", "ANNOUNCE", "SETUP", "SETUP", "RECORD"])
  }

  @Test(
    "A redirect of a push isn't followed", .realTime, arguments: ["OPTIONS", "ANNOUNCE", "RECORD"])
  func pushRedirected(_ method: String) throws {
    let other = try Server()
    let server = try Server(redirects: [method: other.url])
    defer {
      other.stop()
      server.stop()
    }
    #expect(try push(to: server.url) != nil)
    #expect(server.requests.withLock { $0.contains(method) })
    #expect(other.requests.withLock { $0.isEmpty })
  }

  @Test("The address can't ask for UDP, whose destination the server would choose", .realTime)
  func pushesNoDatagrams() throws {
    let server = try Server()
    defer { server.stop() }
    #expect(try push(to: server.url + "?udp") == nil)
    #expect(server.requests.withLock { $0.contains("RECORD") })
    #expect(!server.hasOfferedDatagrams.withLock { $0 })
  }
}
