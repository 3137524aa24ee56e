/// H.264 (RFC 6184): single NAL units, STAP-A and FU-A. The interleaved forms (STAP-B, MTAP, FU-B) belong to
/// a packetization mode that senders don't use, and are rejected.
enum H264Payload {
  private static let startCode: [UInt8] = [0, 0, 0, 1]

  static func frame(_ payloads: FramePayloads) -> DepacketizedFrame {
    var frame = DepacketizedFrame()
    frame.hasFrameData = false
    frame.isStartThere = payloads.payloads.first.map(isBeginning) ?? false
    // Whether the NAL unit at the end of `bytes` continues in the next fragment.
    var isOpen = false
    for (index, payload) in payloads.payloads.enumerated() {
      if payloads.gaps.contains(index) {
        // The received part of a slice is decoded; the decoder conceals the rest.
        if isOpen { frame.isIncomplete = true }
        isOpen = false
      }
      guard let head = payload.first else { continue }
      switch head & 31 {
      case 1...23: append(payload, to: &frame)
      case 24:
        if !appendAggregate(payload.dropFirst(), to: &frame) { frame.malformed += 1 }
      case 28:
        appendFragment(payload, isOpen: &isOpen, to: &frame)
        continue
      default: frame.malformed += 1
      }
      if isOpen { frame.isIncomplete = true }
      isOpen = false
    }
    if isOpen { frame.isIncomplete = true }
    return frame
  }

  private static func append(_ unit: ArraySlice<UInt8>, to frame: inout DepacketizedFrame) {
    guard let head = unit.first else { return }
    frame.bytes += startCode
    frame.bytes += unit
    if head & 31 == 5 { frame.isKey = true }
    if (1...5).contains(head & 31) { frame.hasFrameData = true }
  }

  /// Appends NAL units, each preceded by its size. Returns `false` if the sizes are inconsistent.
  private static func appendAggregate(
    _ body: ArraySlice<UInt8>, to frame: inout DepacketizedFrame
  ) -> Bool {
    var rest = body
    while !rest.isEmpty {
      guard rest.count >= 2 else { return false }
      let size = rest.bigEndian(at: rest.startIndex, count: 2)
      rest.removeFirst(2)
      guard size > 0, size <= rest.count else { return false }
      append(rest.prefix(size), to: &frame)
      rest.removeFirst(size)
    }
    return true
  }

  private static func appendFragment(
    _ payload: ArraySlice<UInt8>, isOpen: inout Bool, to frame: inout DepacketizedFrame
  ) {
    guard payload.count >= 2, let indicator = payload.first else {
      frame.malformed += 1
      return
    }
    let header = payload[payload.startIndex + 1]
    let body = payload.dropFirst(2)
    if header & 0x80 != 0 {
      if isOpen { frame.isIncomplete = true }
      append([indicator & 0xE0 | header & 0x1F] + body, to: &frame)
      isOpen = true
    } else if isOpen {
      frame.bytes += body
    } else {
      // The middle of a unit whose start was lost.
      frame.isIncomplete = true
    }
    if header & 0x40 != 0 { isOpen = false }
  }

  /// Returns whether an access unit can start with this payload: parameter sets, SEI, a delimiter, or a slice
  /// that starts at macroblock 0, whose ue(v) is a single 1 bit.
  private static func isBeginning(_ payload: ArraySlice<UInt8>) -> Bool {
    guard let head = payload.first else { return false }
    var unit = payload
    switch head & 31 {
    case 24: unit = payload.dropFirst(3)
    case 28:
      guard payload.count >= 2 else { return false }
      let header = payload[payload.startIndex + 1]
      guard header & 0x80 != 0 else { return false }
      unit = [header & 31] + payload.dropFirst(2)
    default: break
    }
    guard let type = unit.first.map({ $0 & 31 }) else { return false }
    switch type {
    case 1, 2, 5: return unit.dropFirst().first.map { $0 >= 0x80 } ?? false
    case 6...9: return true
    default: return false
    }
  }
}
