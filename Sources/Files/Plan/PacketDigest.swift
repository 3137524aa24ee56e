internal import UprightOrientation
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

/// Computes a digest of all packets of some tracks. It doesn't depend on how the tracks are interleaved.
struct TrackDigest {
  private var digests: [(stream: Int, digest: ByteDigest)] = []

  /// - Parameter streams: The indexes of the tracks in the input.
  init(_ streams: some Sequence<Int>) throws(UprightError) {
    for stream in streams { digests.append((stream, try ByteDigest())) }
  }

  /// Adds a packet; one of another track adds nothing. O(size).
  func add(_ packet: borrowing Packet) {
    let stream = packet.streamIndex
    guard let track = digests.first(where: { $0.stream == stream }) else { return }
    packet.add(to: track.digest)
  }

  /// Returns the digest of all packets so far, and begins another one.
  func finish() throws(UprightError) -> String {
    try ByteDigest.digest(of: digests.flatMap { $0.digest.finishBytes() })
  }
}
