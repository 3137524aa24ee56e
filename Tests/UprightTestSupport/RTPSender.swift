import Foundation

/// Splits encoded frames into RTP packets like a phone, using only the payload formats. The package's
/// depacketizers do the reverse.
package struct RTPSender {
  package enum Codec: String, Sendable, CaseIterable {
    case h264, vp8, vp9
    /// No payload descriptor: Opus, G.711.
    case plain
  }

  /// The form of the header extension (RFC 8285).
  package enum ExtensionForm: Sendable, CaseIterable { case oneByte, twoByte }

  package var codec: Codec
  package var payloadType: UInt8 = 96
  package var ssrc: UInt32 = 0x1234_5678
  package var sequence: UInt16 = 1000
  /// The RTP timestamp of the frame at 0 ticks.
  package var timestamp: UInt32 = 50_000
  /// The largest payload of a packet, in bytes.
  package var size = 400
  package var form = ExtensionForm.oneByte
  /// The identifier of the CVO extension.
  package var orientationID: UInt8 = 4
  /// Whether VP9 uses flexible mode, with the references in each packet.
  package var isFlexible = false
  /// Whether H.264's parameter sets are sent in one STAP-A, like libwebrtc.
  package var aggregates = true
  private var pictureID = 0

  package init(_ codec: Codec) { self.codec = codec }

  /// Returns the packets of one frame. `cvo` is added to the last one, as TS 26.114 requires.
  package mutating func packets(
    _ frame: EncodedFrame, ticks: Int, cvo: UInt8? = nil
  ) -> [[UInt8]] {
    let payloads: [[UInt8]] =
      switch codec {
      case .h264: h264(frame.bytes)
      case .vp8: vp8(frame.bytes)
      case .vp9: vp9(frame)
      case .plain: [frame.bytes]
      }
    pictureID += 1
    return payloads.enumerated().map { index, payload in
      let isLast = index == payloads.count - 1
      return packet(payload, ticks: ticks, isLast: isLast, cvo: isLast ? cvo : nil)
    }
  }

  package mutating func packet(
    _ payload: [UInt8], ticks: Int, isLast: Bool, cvo: UInt8?
  ) -> [UInt8] {
    var bytes: [UInt8] = [
      cvo == nil ? 0x80 : 0x90, payloadType | (isLast ? 0x80 : 0), UInt8(sequence >> 8),
      UInt8(sequence & 255),
    ]
    sequence &+= 1
    bytes += big(Int(timestamp &+ UInt32(truncatingIfNeeded: ticks)), 4) + big(Int(ssrc), 4)
    if let cvo {
      switch form {
      case .oneByte: bytes += [0xBE, 0xDE, 0, 1, orientationID << 4, cvo, 0, 0]
      case .twoByte: bytes += [0x10, 0x00, 0, 1, orientationID, 1, cvo, 0]
      }
    }
    return bytes + payload
  }

  private func pieces(_ bytes: some Collection<UInt8>) -> [[UInt8]] {
    let bytes = Array(bytes)
    return stride(from: 0, to: bytes.count, by: size).map {
      Array(bytes[$0..<min($0 + size, bytes.count)])
    }
  }

  private func h264(_ bytes: [UInt8]) -> [[UInt8]] {
    let units = EncodedFrame.units(bytes).filter { $0[0] & 31 != 9 }
    let sets = units.filter { [7, 8].contains($0[0] & 31) }
    var payloads: [[UInt8]] = []
    if aggregates, sets.count > 1 {
      payloads.append([0x78] + sets.flatMap { big($0.count, 2) + $0 })
    }
    for unit in units where !aggregates || sets.count < 2 || ![7, 8].contains(unit[0] & 31) {
      guard unit.count > size else {
        payloads.append(unit)
        continue
      }
      let pieces = pieces(unit.dropFirst())
      for (index, piece) in pieces.enumerated() {
        let flags: UInt8 = (index == 0 ? 0x80 : 0) | (index == pieces.count - 1 ? 0x40 : 0)
        payloads.append([unit[0] & 0xE0 | 28, unit[0] & 31 | flags] + piece)
      }
    }
    return payloads
  }

  private func vp8(_ bytes: [UInt8]) -> [[UInt8]] {
    pieces(bytes).enumerated().map { index, piece in
      // A 15-bit PictureID, like libwebrtc.
      [index == 0 ? 0x90 : 0x80, 0x80, 0x80 | UInt8(pictureID >> 8 & 127), UInt8(pictureID & 255)]
        + piece
    }
  }

  private func vp9(_ frame: EncodedFrame) -> [[UInt8]] {
    let pieces = pieces(frame.bytes)
    return pieces.enumerated().map { index, piece in
      var head: UInt8 = 0x80 | (isFlexible ? 0x10 : 0)
      if !frame.isKey { head |= 0x40 }
      if index == 0 { head |= 0x08 }
      if index == pieces.count - 1 { head |= 0x04 }
      var descriptor = [head, 0x80 | UInt8(pictureID >> 8 & 127), UInt8(pictureID & 255)]
      // Two references: the last frame and the one before it.
      if isFlexible, !frame.isKey { descriptor += [1 << 1 | 1, 2 << 1] }
      if frame.isKey, index == 0 {
        // A scalability structure: one layer with its size, one frame in a group.
        descriptor[0] |= 0x02
        descriptor += [0x18, 0, 128, 0, 128, 1, 0]
      }
      return descriptor + piece
    }
  }

  private func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
  }
}

/// One frame as the encoder wrote it.
package struct EncodedFrame: Sendable {
  package let bytes: [UInt8]
  package let isKey: Bool

  package init(bytes: [UInt8], isKey: Bool) { (self.bytes, self.isKey) = (bytes, isKey) }

  /// Returns the NAL units between start codes.
  package static func units(_ bytes: [UInt8]) -> [[UInt8]] {
    var starts: [Int] = []
    var index = 0
    while index + 2 < bytes.count {
      if bytes[index] == 0, bytes[index + 1] == 0, bytes[index + 2] == 1 {
        starts.append(index + 3)
        index += 3
      } else {
        index += 1
      }
    }
    return starts.enumerated().compactMap { number, start in
      var end = number + 1 < starts.count ? starts[number + 1] - 3 : bytes.count
      while end > start, bytes[end - 1] == 0 { end -= 1 }
      return end > start ? Array(bytes[start..<end]) : nil
    }
  }

  /// Returns the frames of an IVF file (VP8, VP9).
  package static func ivf(_ file: Data) -> [EncodedFrame] {
    let bytes = [UInt8](file)
    var frames: [EncodedFrame] = []
    var place = 32
    while place + 12 <= bytes.count {
      let size = (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
      guard place + 12 + size <= bytes.count else { break }
      let frame = Array(bytes[place + 12..<place + 12 + size])
      let isVP9 = bytes[8..<12].elementsEqual(Array("VP90".utf8))
      // VP8: the first bit is 0. VP9, profile 0: show_existing_frame is 0 and frame_type is 0.
      frames.append(EncodedFrame(bytes: frame, isKey: frame[0] & (isVP9 ? 0x0C : 1) == 0))
      place += 12 + size
    }
    return frames
  }

  /// Returns the access units of an H.264 stream with access unit delimiters.
  package static func annexB(_ file: Data) -> [EncodedFrame] {
    var frames: [[[UInt8]]] = []
    for unit in units([UInt8](file)) {
      if unit[0] & 31 == 9 { frames.append([]) }
      if !frames.isEmpty { frames[frames.count - 1].append(unit) }
    }
    return frames.map { units in
      EncodedFrame(
        bytes: units.flatMap { [0, 0, 0, 1] + $0 }, isKey: units.contains { $0[0] & 31 == 5 })
    }
  }

  /// Returns the packets of an Ogg file with one packet per page, without the two header packets.
  package static func ogg(_ file: Data) -> [EncodedFrame] {
    let bytes = [UInt8](file)
    var packets: [[UInt8]] = []
    var place = 0
    while place + 27 <= bytes.count, bytes[place..<place + 4].elementsEqual(Array("OggS".utf8)) {
      let count = Int(bytes[place + 26])
      let lacing = bytes[place + 27..<place + 27 + count]
      var start = place + 27 + count
      var packet: [UInt8] = []
      for length in lacing {
        packet += bytes[start..<start + Int(length)]
        start += Int(length)
        if length < 255 {
          packets.append(packet)
          packet = []
        }
      }
      place = start
    }
    return packets.dropFirst(2).map { EncodedFrame(bytes: $0, isKey: true) }
  }
}

/// A Janus recording in the format of Janus 1.x.
package struct JanusFixture {
  /// The JSON header.
  package var header: String
  /// The arrival time in milliseconds, and the packet.
  package var packets: [(ms: Int, bytes: [UInt8])] = []

  /// - Parameters:
  ///   - kind: `v` or `a`.
  ///   - extensions: Identifiers and URIs of header extensions.
  ///   - written: The time of the first packet, in microseconds since 1970.
  package init(
    _ kind: String, _ codec: String, extensions: [(Int, String)] = [],
    written: Int = 1_700_000_000_000_000, more: String = ""
  ) {
    let map = extensions.map { "\"\($0.0)\": \"\($0.1)\"" }.joined(separator: ", ")
    header =
      "{\"t\": \"\(kind)\", \"c\": \"\(codec)\", "
      + (extensions.isEmpty ? "" : "\"x\": {\(map)}, ")
      + "\"s\": \(written - 30_000), \"u\": \(written)\(more)}"
  }

  /// The contents of the file.
  package var bytes: Data {
    var data = Data("MJR00002".utf8)
    func big(_ value: Int, _ count: Int) {
      for shift in (0..<count).reversed() {
        data.append(UInt8(truncatingIfNeeded: value >> (8 * shift)))
      }
    }
    big(header.utf8.count, 2)
    data.append(contentsOf: header.utf8)
    for packet in packets {
      data.append(contentsOf: "MEET".utf8)
      big(packet.ms, 4)
      big(packet.bytes.count, 2)
      data.append(contentsOf: packet.bytes)
    }
    return data
  }
}
