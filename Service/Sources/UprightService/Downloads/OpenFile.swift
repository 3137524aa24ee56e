internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOPosix

/// A regular file that is open for reading. It can be read to its end after it was removed.
final class OpenFile: Sendable {
  /// The size in bytes when it was opened. A file that grows is read up to there.
  let size: Int
  /// The entity tag of this content (RFC 9110, 8.8.3).
  let tag: String
  /// When its bytes, its times or its name last changed. Programs can keep the time of the bytes alone, as
  /// `upright tag --keep-time` does.
  let changed: Int64
  /// Open for reading while this exists.
  let descriptor: CInt
  private let onClose: @Sendable () -> Void

  /// Opens a file. Returns `nil` if there is none, and for anything but a regular file, links in particular.
  ///
  /// - Parameter onClose: Called when the last response with the file has ended.
  convenience init?(_ path: String, onClose: @escaping @Sendable () -> Void = {}) {
    let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    self.init(descriptor: descriptor, onClose: onClose)
  }

  /// Takes over a descriptor, and closes it if it isn't that of a regular file: `nil` then.
  init?(descriptor: CInt, onClose: @escaping @Sendable () -> Void = {}) {
    (self.descriptor, self.onClose) = (descriptor, onClose)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    size = Int(status.st_size)
    changed = status.st_ctim.sinceEpoch
    let parts = [Int64(bitPattern: UInt64(status.st_ino)), status.st_mtim.sinceEpoch, Int64(size)]
    tag = "\"" + parts.map { String($0, radix: 16) }.joined(separator: ".") + "\""
  }

  deinit {
    close(descriptor)
    onClose()
  }

  private static let chunk = 128 << 10

  /// Returns the response to a GET or HEAD request.
  func response(to request: Request, _ headers: HTTPFields) -> Response {
    ServedContent(size: size, tag: tag, body: body).response(to: request, headers)
  }

  @Sendable private func body(_ range: ClosedRange<Int>) -> ResponseBody {
    ResponseBody(contentLength: range.count) { [self] writer in
      var place = range.lowerBound
      while place <= range.upperBound {
        let start = place
        let bytes = try await NIOThreadPool.singleton.runIfActive { [self] in
          try read(min(Self.chunk, range.upperBound - start + 1), at: start)
        }
        place += bytes.readableBytes
        try await writer.write(bytes)
      }
      try await writer.finish(nil)
    }
  }

  /// Returns up to `count` bytes, at least one.
  private func read(_ count: Int, at place: Int) throws -> ByteBuffer {
    var buffer = ByteBufferAllocator().buffer(capacity: count)
    try unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
      let read = unsafe pread(descriptor, bytes.baseAddress, count, off_t(place))
      guard read > 0 else { throw POSIXError(read < 0 ? .init(rawValue: errno) ?? .EIO : .EIO) }
      return read
    }
    return buffer
  }
}

extension timespec {
  /// A time in nanoseconds since 1970, clamped to what 64 bits hold.
  var sinceEpoch: Int64 {
    let (product, overflows) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    return overflows ? (tv_sec < 0 ? .min : .max) : product &+ Int64(tv_nsec)
  }
}
