internal import CUprightFFmpeg
internal import Glibc
package import UprightOrientation

/// Computes the SHA-256 digest (FIPS 180-4, 6.2) of bytes that come in pieces.
package final class ByteDigest {
  private let context: OpaquePointer

  package init() throws(UprightError) {
    guard let context = av_sha_alloc() else { throw outOfMemory("digest") }
    self.context = context
    av_sha_init(context, 256)
  }

  deinit { av_free(UnsafeMutableRawPointer(context)) }

  /// Adds bytes. O(count).
  package func add(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    av_sha_update(context, start.assumingMemoryBound(to: UInt8.self), bytes.count)
  }

  /// Adds bytes. O(count).
  package func add(_ bytes: some Collection<UInt8>) {
    let done: Void? = bytes.withContiguousStorageIfAvailable { add(UnsafeRawBufferPointer($0)) }
    if done == nil { Array(bytes).withUnsafeBytes { add($0) } }
  }

  /// Returns the digest as 64 hexadecimal digits, and begins another one.
  package func finish() -> String { finishBytes().hexadecimal }

  /// Returns the 32 bytes of the digest, and begins another one.
  package func finishBytes() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    av_sha_final(context, &digest)
    av_sha_init(context, 256)
    return digest
  }

  /// Returns the digest of bytes in memory.
  package static func digest(of bytes: some Collection<UInt8>) throws(UprightError) -> String {
    let digest = try ByteDigest()
    digest.add(bytes)
    return digest.finish()
  }

  /// Returns the digest and the size of a local file.
  ///
  /// - Throws: `noInput` if it can't be opened, `inputOutput` if reading fails.
  package static func digest(
    ofFile path: String
  ) throws(UprightError) -> (digest: String, size: Int) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      let reason = errno == ENOENT ? "no such file" : String(cString: strerror(errno))
      throw UprightError(.noInput, reason, at: path, remedy: "check the path")
    }
    defer { close(file) }
    let digest = try ByteDigest()
    var (buffer, size) = ([UInt8](repeating: 0, count: 256 << 10), 0)
    while true {
      let got = Glibc.read(file, &buffer, buffer.count)
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else {
        throw UprightError(
          .inputOutput, "can't be read: \(String(cString: strerror(errno)))", at: path)
      }
      if got == 0 { return (digest.finish(), size) }
      digest.add(buffer[..<got])
      size += got
    }
  }
}

extension [UInt8] {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Two hexadecimal digits for each byte, in lower case.
  package var hexadecimal: String {
    String(
      decoding: flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Reads hexadecimal digits. Returns `nil` for anything else.
  package init?(hexadecimal text: String) {
    func value(_ digit: UInt8) -> UInt8? {
      switch digit {
      case 48...57: digit - 48
      case 65...70: digit - 55
      case 97...102: digit - 87
      default: nil
      }
    }
    let digits = Array<UInt8>(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    self = bytes
  }
}
