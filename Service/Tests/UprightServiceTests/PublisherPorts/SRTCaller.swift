import CUprightSRT
import Foundation

/// A client of SRT that connects and sends what it is given, or nothing.
final class SRTCaller: Sendable {
  private let socket: SRTSOCKET
  /// The reason with which the port rejected it; 0 if it is connected.
  let reason: CInt

  /// Connects, and waits for the answer.
  init(_ port: UInt16, streamID: String, passphrase: String = "") {
    srt_startup()
    socket = srt_create_socket()
    srt_setsockflag(socket, SRTO_STREAMID, streamID, CInt(streamID.utf8.count))
    if !passphrase.isEmpty {
      srt_setsockflag(socket, SRTO_PASSPHRASE, passphrase, CInt(passphrase.utf8.count))
    }
    var timeout: CInt = 10_000
    srt_setsockflag(socket, SRTO_CONNTIMEO, &timeout, CInt(MemoryLayout<CInt>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let socket = socket
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        srt_connect(socket, $0, CInt(MemoryLayout<sockaddr_in>.size))
      }
    }
    reason = connected == 0 ? 0 : srt_getrejectreason(socket)
  }

  /// Sends bytes in pieces of SRT's size. Returns `false` once the connection has ended.
  func send(_ bytes: [UInt8]) -> Bool {
    for start in stride(from: 0, to: bytes.count, by: 1316) {
      let piece = bytes[start..<min(start + 1316, bytes.count)].map { CChar(bitPattern: $0) }
      if srt_sendmsg2(socket, piece, CInt(piece.count), nil) < 0 { return false }
    }
    return true
  }

  var isConnected: Bool { srt_getsockstate(socket) == SRTS_CONNECTED }

  deinit { srt_close(socket) }
}
