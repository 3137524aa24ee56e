internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Glibc
package import UprightOrientation

/// Reads byte ranges of a seekable file or URL, independently of a demuxer.
package final class ByteSource {
  private let context: UnsafeMutablePointer<AVIOContext>
  private let interrupt: Interrupt

  /// Opens a second, independent byte reader for `url`, with the protocol restrictions of `InputTrust`.
  /// Returns `nil` if the URL can't be opened or isn't seekable.
  ///
  /// - Parameter settings: libavformat options by name, such as the proxy of every connection.
  package init?(
    url: String, settings: [String: String] = [:], interrupt: Interrupt = Interrupt()
  ) {
    // A pipe cannot be opened twice.
    guard url != "-", InputTrust.scheme(of: url) != "pipe" else { return nil }
    let target = InputTrust.scheme(of: url) == nil ? "file:\(url)" : url
    let options = [("protocol_whitelist", InputTrust(url: url).protocols)] + Array(settings)
    var context: UnsafeMutablePointer<AVIOContext>?
    var callback = interrupt.callback
    var dictionary: OpaquePointer?
    for (key, value) in options { av_dict_set(&dictionary, key, value, 0) }
    defer { av_dict_free(&dictionary) }
    guard avio_open2(&context, target, AVIO_FLAG_READ, &callback, &dictionary) >= 0,
      let opened = context
    else { return nil }
    guard opened.pointee.seekable & AVIO_SEEKABLE_NORMAL != 0 else {
      avio_closep(&context)
      return nil
    }
    self.context = opened
    self.interrupt = interrupt
  }

  /// Returns all bytes of a file or URL, with the protocol restrictions of `InputTrust`.
  ///
  /// - Parameter limit: The largest number of bytes.
  /// - Throws: `noInput` if it can't be opened, `inputOutput` if reading fails, `badData` if it is larger.
  package static func contents(
    of url: String, limit: Int, interrupt: Interrupt = Interrupt()
  ) throws(UprightError) -> [UInt8] {
    let target = InputTrust.scheme(of: url) == nil ? "file:\(url)" : url
    var context: UnsafeMutablePointer<AVIOContext>?
    var callback = interrupt.callback
    let code = try withDictionary([("protocol_whitelist", InputTrust(url: url).protocols)]) {
      (dictionary) throws(UprightError) in
      avio_open2(&context, target, AVIO_FLAG_READ, &callback, &dictionary)
    }
    guard code >= 0, let opened = context else {
      throw UprightError(.noInput, "can't be opened: \(describe(code))", at: url).reporting(code)
    }
    defer { avio_closep(&context) }
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 64 << 10))
    while true {
      let got = avio_read(opened, &buffer, CInt(clamping: buffer.count))
      if got == upright_averror_eof() || got == 0 { return bytes }
      guard got > 0 else {
        throw UprightError(.inputOutput, "can't be read: \(describe(got))", at: url).reporting(got)
      }
      bytes += buffer.prefix(Int(got))
      guard bytes.count <= limit else {
        throw UprightError(.badData, "is larger than \(limit) bytes", at: url)
      }
    }
  }

  /// Opens the file at `path`. Returns `nil` if it isn't a local, regular file that can be read.
  package convenience init?(regularFile path: String) {
    var status = stat()
    guard InputTrust.scheme(of: path) == nil, stat(path, &status) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    self.init(url: path)
  }

  /// Opens a local, regular file or a URL. A named pipe can't be opened twice.
  static func again(
    _ url: String, _ settings: [String: String], _ interrupt: Interrupt
  ) -> ByteSource? {
    InputTrust.scheme(of: url) == nil
      ? ByteSource(regularFile: url)
      : ByteSource(url: url, settings: settings, interrupt: interrupt)
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVIOContext>? = context
    avio_closep(&pointer)
  }

  /// The size in bytes. `nil` if it is unknown.
  package var size: Int? {
    let size = avio_size(context)
    return size >= 0 ? Int(clamping: size) : nil
  }

  /// Returns up to `count` bytes from `position` on. Returns fewer at the end, and none if reading fails.
  package func read(at position: Int, count: Int) -> [UInt8] {
    guard position >= 0, count > 0, avio_seek(context, Int64(position), SEEK_SET) >= 0 else {
      return []
    }
    let rest = avio_size(context) - Int64(position)
    guard rest > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: Int(clamping: min(Int64(count), rest)))
    let got = avio_read(context, &bytes, CInt(clamping: bytes.count))
    return got > 0 ? Array(bytes.prefix(Int(got))) : []
  }
}
