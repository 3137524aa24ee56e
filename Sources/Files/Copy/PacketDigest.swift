internal import Orientation
internal import UprightMediaIO

/// Computes digests of packets, which tell whether an input is the one that was surveyed.
struct PacketDigest {
  private let digest: ByteDigest

  init() throws(UprightError) { digest = try ByteDigest() }

  /// Returns the first eight bytes of the SHA-256 digest of a packet. O(size).
  func of(_ packet: borrowing Packet) -> UInt64 {
    packet.add(to: digest)
    return digest.finishBytes().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns the digest of a run of packets, by those of each.
  static func combined(_ digests: some Sequence<UInt64>) throws(UprightError) -> String {
    var bytes: [UInt8] = []
    for digest in digests { bytes.append(number: digest) }
    return try ByteDigest.digest(of: bytes)
  }
}
