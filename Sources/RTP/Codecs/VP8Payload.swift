/// VP8 (RFC 7741, 4.2): a descriptor in front of each piece of a frame.
enum VP8Payload {
  /// Where the frame's bytes begin, and whether the frame itself begins there.
  struct Piece: Hashable {
    var body: ArraySlice<UInt8>
    var isStart: Bool
  }

  /// Takes the descriptor off; nil where it is not whole.
  static func piece(_ payload: ArraySlice<UInt8>) -> Piece? {
    var rest = payload
    guard let head = rest.popFirst() else { return nil }
    if head & 0x80 != 0 {
      guard let fields = rest.popFirst() else { return nil }
      if fields & 0x80 != 0 {
        // PictureID: 7 bits, or 15 where the first bit is set.
        guard let id = rest.popFirst() else { return nil }
        if id & 0x80 != 0, rest.popFirst() == nil { return nil }
      }
      if fields & 0x40 != 0, rest.popFirst() == nil { return nil }
      // TID and KEYIDX share a byte.
      if fields & 0x30 != 0, rest.popFirst() == nil { return nil }
    }
    // S and a partition index of 0: the frame's first partition begins.
    return Piece(body: rest, isStart: head & 0x10 != 0 && head & 0x07 == 0)
  }

  static func frame(_ payloads: FramePayloads) -> DepacketizedFrame {
    var frame = DepacketizedFrame()
    var hasStarted = false
    for (index, payload) in payloads.payloads.enumerated() {
      guard let piece = piece(payload) else {
        frame.malformed += 1
        continue
      }
      if payloads.gaps.contains(index), hasStarted { break }
      // Without its beginning a frame cannot be decoded.
      if !hasStarted {
        guard piece.isStart else {
          frame.isStartThere = false
          continue
        }
        hasStarted = true
        frame.isStartThere = true
        // Frame tag (RFC 6386, 9.1): its lowest bit is 0 for a keyframe.
        frame.isKey = piece.body.first.map { $0 & 1 == 0 } ?? false
      }
      frame.bytes += piece.body
    }
    return frame
  }
}
