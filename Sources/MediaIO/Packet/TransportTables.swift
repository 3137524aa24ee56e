internal import CUprightFFmpeg

/// The codecs of the elementary streams of an MPEG transport stream, as its tables declare them (ISO/IEC 13818-1,
/// 2.4.4).
struct TransportTables {
  /// A stream that goes on in another codec than it began with.
  struct Change: Sendable, Hashable {
    let pid: Int
    /// FFmpeg's name of the codec.
    let codec: String

    var isVideo: Bool {
      ["mpeg2video", "mpeg4", "h264", "hevc", "vvc", "cavs", "vc1"].contains(codec)
    }
  }

  /// The stream types (2.4.4.10, and those that ATSC and SMPTE have registered) and FFmpeg's names of the codecs.
  private static let codecs: [UInt8: String] = [
    0x01: "mpeg2video", 0x02: "mpeg2video", 0x03: "mp3", 0x04: "mp3", 0x0F: "aac", 0x10: "mpeg4",
    0x11: "aac_latm", 0x1B: "h264", 0x24: "hevc", 0x33: "vvc", 0x42: "cavs", 0x81: "ac3",
    0x87: "eac3", 0xEA: "vc1",
  ]

  private var codecs: [Int: String] = [:]
  /// The PIDs that have another codec now than they began with.
  private(set) var changed: Set<Int> = []
  /// The PIDs of program maps.
  private var maps: Set<Int> = []
  /// What is there of the sections of tables, by PID.
  private var sections: [Int: [UInt8]] = [:]

  /// Forgets what holds until the next map, for packets that don't follow on from the last ones.
  mutating func restart() { (sections, changed) = ([:], []) }

  /// Reads the payload of a packet.
  ///
  /// - Parameter isUsed: Whether a PID has had a payload. Until then its codec may be declared anew.
  /// - Returns: The streams that have another codec than they began with in a map that it completes.
  mutating func read(
    _ payload: UnsafeRawBufferPointer, pid: Int, isStart: Bool, isUsed: (Int) -> Bool
  ) -> [Change] {
    guard pid == 0 || maps.contains(pid), let pointer = payload.first else { return [] }
    guard isStart else { return complete(pid, with: payload[...], isUsed) }
    let ended = complete(pid, with: payload.dropFirst().prefix(Int(pointer)), isUsed)
    sections[pid] = []
    return ended + complete(pid, with: payload.dropFirst(1 + Int(pointer)), isUsed)
  }

  /// Adds bytes to the section of a PID, and reads the sections that are complete.
  private mutating func complete(
    _ pid: Int, with bytes: Slice<UnsafeRawBufferPointer>, _ isUsed: (Int) -> Bool
  ) -> [Change] {
    guard var rest = sections[pid] else { return [] }
    rest += bytes
    var changes: [Change] = []
    while rest.count >= 3, rest[0] != 0xFF {
      let size = 3 + Int(rest[1] & 0xF) << 8 + Int(rest[2])
      guard rest.count >= size else {
        sections[pid] = rest
        return changes
      }
      let section = Array(rest.prefix(size))
      if pid == 0 { readPrograms(section) } else { changes += readMap(section, isUsed) }
      rest.removeFirst(size)
    }
    // Stuffing follows.
    sections[pid] = rest.isEmpty || rest[0] == 0xFF ? nil : rest
    return changes
  }

  /// Whether a section applies now and is as it was sent (2.4.4.4, Annex A).
  private static func isValid(_ section: [UInt8], table: UInt8) -> Bool {
    guard section.count >= 16, section[0] == table, section[5] & 1 == 1 else { return false }
    // The checksum at the end makes the remainder 0.
    return av_crc(av_crc_get_table(AV_CRC_32_IEEE), .max, section, section.count) == 0
  }

  private mutating func readPrograms(_ section: [UInt8]) {
    guard Self.isValid(section, table: 0) else { return }
    for entry in stride(from: 8, to: section.count - 7, by: 4)
    where section[entry] | section[entry + 1] != 0 && maps.count < 256 {
      maps.insert(Int(section[entry + 2] & 0x1F) << 8 + Int(section[entry + 3]))
    }
  }

  private mutating func readMap(_ section: [UInt8], _ isUsed: (Int) -> Bool) -> [Change] {
    guard Self.isValid(section, table: 2) else { return [] }
    var changes: [Change] = []
    var entry = 12 + Int(section[10] & 0xF) << 8 + Int(section[11])
    while entry + 5 <= section.count - 4 {
      let pid = Int(section[entry + 1] & 0x1F) << 8 + Int(section[entry + 2])
      if let codec = Self.codecs[section[entry]] {
        if let first = codecs[pid], first != codec, isUsed(pid) {
          changes.append(Change(pid: pid, codec: codec))
          changed.insert(pid)
        } else {
          codecs[pid] = codec
          changed.remove(pid)
        }
      }
      entry += 5 + Int(section[entry + 3] & 0xF) << 8 + Int(section[entry + 4])
    }
    return changes
  }
}
