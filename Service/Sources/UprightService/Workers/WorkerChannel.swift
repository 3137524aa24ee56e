internal import CUprightWorker
internal import Foundation
internal import Synchronization
internal import UprightOrientation

/// The connection between the service and a worker, or another stream of messages between them.
///
/// A message is a value as JSON, bytes, or both. In front are their two lengths, of four bytes each. The other end is
/// the same executable, so that the form has no version.
final class WorkerChannel: Sendable {
  struct Message: Sendable {
    /// JSON; empty if the message has only bytes.
    let head: [UInt8]
    let bytes: [UInt8]
    /// A descriptor that came along, which the receiver closes; -1 if there is none.
    let descriptor: CInt

    /// Returns the value.
    ///
    /// - Throws: `DecodingError` if it has another type.
    func value<Value: Decodable>(_: Value.Type = Value.self) throws -> Value {
      try WorkerChannel.decoder.decode(Value.self, from: Data(head))
    }
  }

  private let descriptor: CInt
  private let passesDescriptors: Bool
  private let sending = Mutex(())

  /// The largest length of a part of a message, in bytes.
  private static let limit = 256 << 20
  // Times of an idle session may be infinite.
  private static let names = (infinity: "inf", negative: "-inf", nan: "nan")

  private static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: names.infinity, negativeInfinity: names.negative, nan: names.nan)
    return encoder
  }

  private static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: names.infinity, negativeInfinity: names.negative, nan: names.nan)
    return decoder
  }

  /// Takes over an end of a socket.
  ///
  /// - Parameter passesDescriptors: Whether descriptors are received. Else they are closed.
  init(_ descriptor: CInt, passesDescriptors: Bool = false) {
    (self.descriptor, self.passesDescriptors) = (descriptor, passesDescriptors)
  }

  deinit { close(descriptor) }

  /// Returns the two ends of a new connection.
  static func pair() throws(UprightError) -> (own: WorkerChannel, other: CInt) {
    var ends: [CInt] = [-1, -1]
    let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
    guard unsafe socketpair(AF_UNIX, CInt(type), 0, &ends) == 0 else {
      throw UprightError(
        .fault, "no socket can be made: \(unsafe String(cString: strerror(errno)))",
        remedy: "raise the limit of open files")
    }
    return (WorkerChannel(ends[0]), ends[1])
  }

  /// Sends a value, and bytes. Waits while the peer is behind. Can be called on any thread.
  ///
  /// - Parameter descriptor: A descriptor that the peer receives too; -1 for none.
  /// - Returns: `false` if the peer has ended, or the value has no JSON.
  @discardableResult
  func send(_ value: some Encodable, bytes: [UInt8] = [], descriptor: CInt = -1) -> Bool {
    guard let head = Self.json(value) else { return false }
    return send(head: head, bytes: bytes, descriptor: descriptor)
  }

  /// Returns the JSON of a value; `nil` if it has none.
  static func json(_ value: some Encodable) -> [UInt8]? {
    (try? encoder.encode(value)).map(Array.init)
  }

  /// Sends bytes alone.
  @discardableResult
  func send(bytes: [UInt8]) -> Bool { send(head: [], bytes: bytes, descriptor: -1) }

  func send(head: [UInt8], bytes: [UInt8], descriptor passed: CInt) -> Bool {
    guard max(head.count, bytes.count) <= Self.limit else { return false }
    var message: [UInt8] = []
    message.reserveCapacity(8 + head.count + bytes.count)
    for count in [head.count, bytes.count] {
      for shift in [0, 8, 16, 24] { message.append(UInt8(truncatingIfNeeded: count >> shift)) }
    }
    message += head
    message += bytes
    return sending.withLock { _ in
      unsafe message.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return true }
        return unsafe upright_worker_send(descriptor, start, bytes.count, passed) == 0
      }
    }
  }

  /// Whether a message has come, or the peer has ended.
  var hasMessage: Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&state, 1, 0) > 0
  }

  /// Waits for the next message, on one thread. Returns `nil` when the peer has ended, and for what is no message.
  func receive() -> Message? {
    var passed: CInt = -1
    guard let lengths = read(8, &passed) else { return nil }
    let counts = [0, 4].map { start in
      lengths[start..<start + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    guard counts.allSatisfy({ $0 <= Self.limit }) else { return nil }
    var none: CInt = -1
    guard let head = read(counts[0], &none), let bytes = read(counts[1], &none) else { return nil }
    return Message(head: head, bytes: bytes, descriptor: passed)
  }

  private func read(_ count: Int, _ passed: inout CInt) -> [UInt8]? {
    if count == 0 { return [] }
    var isComplete = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      guard let start = buffer.baseAddress else { return }
      isComplete =
        unsafe passesDescriptors
        ? upright_worker_receive(descriptor, start, count, &passed) == 0
        : upright_worker_receive(descriptor, start, count, nil) == 0
      filled = isComplete ? count : 0
    }
    return isComplete ? bytes : nil
  }
}
