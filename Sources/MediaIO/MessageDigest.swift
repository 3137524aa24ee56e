internal import CUprightFFmpeg

/// Digests and authentication codes of messages in memory, such as those of signed URLs and of webhooks, computed by
/// libavutil. Nothing is allocated but the result, so that nothing fails.
public enum MessageDigest {
  /// Returns the SHA-256 digest (FIPS 180-4, 6.2) of `bytes`: 32 bytes.
  public static func sha256(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    let message = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    withUnsafeTemporaryAllocation(byteCount: Int(av_sha_size), alignment: 16) { memory in
      let context = OpaquePointer(memory.baseAddress)
      av_sha_init(context, 256)
      av_sha_update(context, message, message.count)
      av_sha_final(context, &digest)
    }
    return digest
  }

  /// Returns the HMAC-SHA-256 (RFC 2104, with SHA-256) of `message` with `key`: 32 bytes.
  public static func hmacSHA256(
    _ message: some Sequence<UInt8>, key: some Collection<UInt8>
  ) -> [UInt8] {
    let blockSize = 64
    var block = key.count > blockSize ? sha256(key) : Array(key)
    block += [UInt8](repeating: 0, count: blockSize - block.count)
    return sha256(block.map { $0 ^ 0x5C } + sha256(block.map { $0 ^ 0x36 } + message))
  }
}
