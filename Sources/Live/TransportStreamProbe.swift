/// Whether the first bytes of a publisher are a transport stream, which may begin within a packet (ISO/IEC 13818-1,
/// 2.4.3.2: each packet begins with 0x47).
struct TransportStreamProbe {
  private var bytes: [UInt8] = []
  private var isDecided = false

  private static let syncByte: UInt8 = 0x47
  /// The sizes of packets: plain, after a time code, before parity.
  private static let sizes = [188, 192, 204]
  /// As many packets in a row are no chance.
  private static let packets = 4
  /// After this many bytes without packets it isn't one.
  private static let limit = 8 << 10

  /// Returns `false` once it is certain that the bytes are no transport stream.
  mutating func accepts(_ more: [UInt8]) -> Bool {
    guard !isDecided else { return true }
    bytes += more.prefix(Self.limit - bytes.count)
    if Self.sizes.contains(where: hasPackets) {
      (bytes, isDecided) = ([], true)
    }
    return isDecided || bytes.count < Self.limit
  }

  private func hasPackets(of size: Int) -> Bool {
    let span = size * (Self.packets - 1)
    guard bytes.count > span else { return false }
    return (0..<bytes.count - span).contains { start in
      (0..<Self.packets).allSatisfy { bytes[start + $0 * size] == Self.syncByte }
    }
  }
}
