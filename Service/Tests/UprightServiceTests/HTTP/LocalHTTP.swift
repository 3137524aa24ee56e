import Foundation
import NIOCore
import NIOPosix
import Synchronization
import UprightServiceTestSupport

/// A client's TCP connection to loopback, with access to the raw bytes that HTTP client libraries hide.
final class LocalConnection: @unchecked Sendable {
  // Unchecked because the descriptor is used by one test only.
  private let socket: CInt
  private var received: [UInt8] = []

  struct Failure: Error, CustomStringConvertible { let description: String }

  /// - Parameter source: The last number of the client's own address, 127.0.0.N.
  init(port: Int, receiveBuffer: Int? = nil, source: UInt32 = 1) throws {
    socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    if var size = receiveBuffer.map(CInt.init) {
      setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    func call(_ function: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
      withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          function(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
    }
    address.sin_addr.s_addr = (0x7F00_0000 | source).bigEndian
    if source != 1 { _ = call { bind($0, $1, $2) } }
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = call { connect($0, $1, $2) }
    guard result == 0 else { throw Failure(description: "connect: \(errno)") }
  }

  deinit { close(socket) }

  /// Ends both directions of the connection.
  func shutDown() { shutdown(socket, CInt(SHUT_RDWR)) }

  /// Sends bytes without waiting for room. Returns how many the kernel took.
  func sendNow(_ bytes: [UInt8]) -> Int {
    max(0, Glibc.send(socket, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)))
  }

  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Receives until `isEnough` returns `true`, the peer closes, or `seconds` have passed. Returns all
  /// received bytes.
  @discardableResult
  func receive(
    seconds: Double = 10, until isEnough: ([UInt8]) -> Bool = { _ in false }
  ) -> (bytes: [UInt8], isClosed: Bool) {
    let deadline = Date(timeIntervalSinceNow: seconds)
    var buffer = [UInt8](repeating: 0, count: 65536)
    while !isEnough(received) {
      let left = deadline.timeIntervalSinceNow
      guard left > 0 else { return (received, false) }
      var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, CInt(max(1, left * 1000))) > 0 else { continue }
      let count = recv(socket, &buffer, buffer.count, 0)
      if count <= 0 { return (received, true) }
      received += buffer[..<count]
    }
    return (received, false)
  }

  /// Receives until `text` has been received. Returns all received bytes as text.
  func text(until text: String, seconds: Double = 10) -> String {
    let wanted = Array(text.utf8)
    let all = receive(seconds: seconds) { bytes in
      bytes.count >= wanted.count
        && (0...bytes.count - wanted.count).contains {
          bytes[$0..<$0 + wanted.count].elementsEqual(wanted)
        }
    }
    return String(decoding: all.bytes, as: UTF8.self)
  }
}

/// An HTTP response that is the only one of its connection.
struct Answer: Sendable {
  var status: Int
  /// The header fields, by name in lower case.
  var headers: [String: String]
  var body: [UInt8]
  var text: String { String(decoding: body, as: UTF8.self) }
  var json: JSON { (try? JSONDecoder().decode(JSON.self, from: Data(body))) ?? .null }

  /// Parses a response that ends with its connection.
  init(_ bytes: [UInt8]) throws {
    let split = Array("\r\n\r\n".utf8)
    guard bytes.count >= 4,
      let end = (0...bytes.count - 4).first(where: { bytes[$0..<$0 + 4].elementsEqual(split) })
    else {
      throw LocalConnection.Failure(
        description: "no response: \(String(decoding: bytes, as: UTF8.self))")
    }
    var lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
    status = Int(lines.removeFirst().split(separator: " ")[1]) ?? 0
    headers = [:]
    for line in lines {
      let sides = line.split(separator: ":", maxSplits: 1)
      headers[sides[0].lowercased()] =
        sides.count > 1 ? sides[1].trimmingCharacters(in: .whitespaces) : ""
    }
    body = Array(bytes[(end + 4)...])
    if headers["transfer-encoding"] == "chunked" { body = Self.joined(body) }
  }

  private static func joined(_ chunks: [UInt8]) -> [UInt8] {
    var rest = chunks[...]
    var body: [UInt8] = []
    while let end = rest.firstIndex(of: 13) {
      let size = Int(String(decoding: rest[rest.startIndex..<end], as: UTF8.self), radix: 16) ?? 0
      rest = rest[(end + 2)...]
      if size == 0 || rest.count < size + 2 { break }
      body += rest.prefix(size)
      rest = rest.dropFirst(size + 2)
    }
    return body
  }
}
