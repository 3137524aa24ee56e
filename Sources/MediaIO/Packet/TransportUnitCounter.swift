internal import CUprightFFmpeg
internal import Glibc

/// Counts the NAL units of each elementary stream of an MPEG transport stream (ISO/IEC 13818-1, 2.4.3).
struct TransportUnitCounter {
  /// What is read of one PID.
  fileprivate struct Track {
    var counter = NALUnitCounter()
    /// The first nine bytes of a PES packet, as far as they are there. `nil` after its header.
    var header: [UInt8]? = []
    /// How many bytes of the header's optional fields are still to come.
    var optional = 0
    /// Whether the PES packet has no elementary stream, such as padding.
    var isIgnored = false
  }

  private static let packetSize = 188
  private static let syncByte: UInt8 = 0x47
  /// The streams without optional fields: map, padding, private, ECM, EMM, DSM-CC, H.222.1 type E, directory.
  fileprivate static let plainStreams: Set<UInt8> = [
    0xBC, 0xBE, 0xBF, 0xF0, 0xF1, 0xF2, 0xF8, 0xFF,
  ]

  private var tracks: [Int: Track] = [:]
  private var packet: [UInt8] = []
  /// The number of bytes between two packets: 4 in M2TS, 16 with Reed-Solomon codes.
  private var gap = 0
  /// How many bytes between packets have passed.
  private var passed = 0

  /// Returns whether an access unit of `codec` on `pid` exceeds a limit.
  func isExceeded(pid: Int, as codec: AVCodecID) -> Bool {
    tracks[pid]?.counter.isExceeded(as: codec) == true
  }

  mutating func read(_ bytes: UnsafeRawBufferPointer) {
    var position = 0
    while position < bytes.count {
      if packet.isEmpty, passed < gap || bytes[position] != Self.syncByte {
        passed += 1
        position += 1
        continue
      }
      if packet.isEmpty { gap = [4, 16].contains(passed) ? passed : 0 }
      let end = min(bytes.count, position + Self.packetSize - packet.count)
      if end - position == Self.packetSize {
        readPacket(UnsafeRawBufferPointer(rebasing: bytes[position..<end]))
      } else {
        packet += bytes[position..<end]
        if packet.count == Self.packetSize {
          let whole = packet
          packet = []
          whole.withUnsafeBytes { readPacket($0) }
        }
      }
      position = end
      passed = 0
    }
  }

  private mutating func readPacket(_ bytes: UnsafeRawBufferPointer) {
    let pid = Int(bytes[1] & 0x1F) << 8 | Int(bytes[2])
    let hasFields = bytes[3] & 0x20 != 0
    let start = hasFields ? 5 + Int(bytes[4]) : 4
    guard bytes[3] & 0x10 != 0, start < bytes.count else { return }
    tracks[pid, default: Track()].read(
      UnsafeRawBufferPointer(rebasing: bytes[start...]), isStart: bytes[1] & 0x40 != 0)
  }
}

extension TransportUnitCounter.Track {
  fileprivate mutating func read(_ payload: UnsafeRawBufferPointer, isStart: Bool) {
    if isStart { (header, optional, isIgnored) = ([], 0, false) }
    var rest = payload[...]
    if var header {
      let part = rest.prefix(9 - header.count)
      header += part
      rest = rest.dropFirst(part.count)
      self.header = header.count < 9 ? header : nil
      if header.count == 9 {
        optional = Int(header[8])
        isIgnored =
          !header.starts(with: [0, 0, 1]) || TransportUnitCounter.plainStreams.contains(header[3])
      }
    }
    let skipped = min(optional, rest.count)
    optional -= skipped
    rest = rest.dropFirst(skipped)
    if !isIgnored, !rest.isEmpty { counter.read(UnsafeRawBufferPointer(rebasing: rest)) }
  }
}
