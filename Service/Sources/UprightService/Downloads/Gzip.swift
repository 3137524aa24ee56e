internal import CUprightZlib

/// The content coding `gzip` (RFC 9110, 8.4.1.3).
enum Gzip {
  /// Returns the bytes compressed, or `nil` if there is no memory.
  static func compress(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = unsafe z_stream()
    guard unsafe upright_deflate_init_gzip(&stream) == Z_OK else { return nil }
    defer { unsafe deflateEnd(&stream) }
    var input = bytes
    let bound = unsafe Int(deflateBound(&stream, uLong(bytes.count)))
    var isComplete = false
    let output = unsafe [UInt8](unsafeUninitializedCapacity: bound) { output, count in
      unsafe input.withUnsafeMutableBufferPointer { input in
        unsafe stream.next_in = input.baseAddress
        unsafe stream.avail_in = uInt(clamping: input.count)
        unsafe stream.next_out = output.baseAddress
        unsafe stream.avail_out = uInt(clamping: bound)
        isComplete = unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END
        count = unsafe bound - Int(stream.avail_out)
      }
    }
    return isComplete ? output : nil
  }

  /// Returns whether the value of an `Accept-Encoding` field accepts it (RFC 9110, 12.5.3).
  static func isAccepted(_ field: String?) -> Bool {
    var accepts: [Substring: Bool] = [:]
    for coding in (field ?? "").split(separator: ",") {
      let parts = coding.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      guard let name = parts.first else { continue }
      let weight = parts.dropFirst().first { $0.lowercased().hasPrefix("q=") }?.dropFirst(2)
      accepts[name.lowercased()[...]] = weight.map { (Double($0) ?? 0) > 0 } ?? true
    }
    return accepts["gzip"] ?? accepts["*"] ?? false
  }
}
