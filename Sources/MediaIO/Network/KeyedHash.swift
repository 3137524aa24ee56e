internal import CFFmpeg
package import Orientation

/// Keyed hashes (RFC 2104), computed by libavutil.
package enum KeyedHash {
  /// Returns the HMAC-SHA-256 of `message`, 32 bytes.
  ///
  /// - Throws: `fault` if there is no memory.
  package static func sha256(_ message: [UInt8], key: [UInt8]) throws(UprightError) -> [UInt8] {
    guard let context = av_hmac_alloc(AV_HMAC_SHA256) else { throw outOfMemory("HMAC") }
    defer { av_hmac_free(context) }
    var result = [UInt8](repeating: 0, count: 32)
    let count = av_hmac_calc(
      context, message, UInt32(clamping: message.count), key, UInt32(clamping: key.count), &result,
      UInt32(result.count))
    guard count == 32 else { throw UprightError(.fault, "HMAC returned \(count) bytes") }
    return result
  }
}
