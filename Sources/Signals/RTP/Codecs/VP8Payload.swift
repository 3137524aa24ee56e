/// VP8 (RFC 7741, 4.2): each part of a frame is preceded by a descriptor.
enum VP8Payload {
  /// A part of a frame, and whether it is the start of the frame.
  struct Piece: Hashable {
    var body: ArraySlice<UInt8>
    var isStart: Bool
  }

  /// Removes the descriptor. Returns `nil` if it is incomplete.
  static func piece(_ payload: ArraySlice<UInt8>) -> Piece? {
    var rest = payload
    guard let head = rest.popFirst() else { return nil }
    if head & 0x80 != 0 {
      guard let fields = rest.popFirst() else { return nil }
      if fields & 0x80 != 0 {
        // PictureID: 7 bits, or 15 if the first bit is set.
        guard let id = rest.popFirst() else { return nil }
        if id & 0x80 != 0, rest.popFirst() == nil { return nil }
      }
      if fields & 0x40 != 0, rest.popFirst() == nil { return nil }
      // TID and KEYIDX share a byte.
      if fields & 0x30 != 0, rest.popFirst() == nil { return nil }
    }
    // S is set and the partition index is 0: the frame's first partition starts.
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
      // A frame can't be decoded without its start.
      if !hasStarted {
        guard piece.isStart else {
          frame.isStartThere = false
          continue
        }
        hasStarted = true
        frame.isStartThere = true
        // Frame tag (RFC 6386, 9.1): the lowest bit is 0 for a keyframe.
        frame.isKey = piece.body.first.map { $0 & 1 == 0 } ?? false
      }
      frame.bytes += piece.body
    }
    return frame
  }
}
