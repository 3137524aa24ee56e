/// VP9 (RFC 9628, 4.2): each part of a layer frame is preceded by a descriptor. The layers of a picture are
/// combined into one superframe.
enum VP9Payload {
  /// The fields of a descriptor, and the bytes after it.
  struct Piece: Hashable {
    var body: ArraySlice<UInt8>
    /// Whether this is the start of the layer frame.
    var isStart: Bool
    /// Whether this is the end of the layer frame.
    var isEnd: Bool
    /// Whether the frame refers to earlier frames.
    var isInter: Bool
    /// The spatial layer; 0 is the base layer.
    var spatialLayer: UInt8
  }

  /// Removes the descriptor. Returns `nil` if it is incomplete.
  static func piece(_ payload: ArraySlice<UInt8>) -> Piece? {
    var rest = payload
    guard let head = rest.popFirst() else { return nil }
    let isFlexible = head & 0x10 != 0
    let isInter = head & 0x40 != 0
    var layer: UInt8 = 0
    if head & 0x80 != 0 {
      guard let id = rest.popFirst() else { return nil }
      if id & 0x80 != 0, rest.popFirst() == nil { return nil }
    }
    if head & 0x20 != 0 {
      guard let indices = rest.popFirst() else { return nil }
      layer = indices >> 1 & 7
      // TL0PICIDX
      if !isFlexible, rest.popFirst() == nil { return nil }
    }
    if isInter, isFlexible {
      // Up to three references, each with a bit that indicates another one.
      var count = 0
      while true {
        guard count < 3, let reference = rest.popFirst() else { return nil }
        count += 1
        if reference & 1 == 0 { break }
      }
    }
    if head & 0x02 != 0, !skipScalability(&rest) { return nil }
    return Piece(
      body: rest, isStart: head & 0x08 != 0, isEnd: head & 0x04 != 0, isInter: isInter,
      spatialLayer: layer)
  }

  /// Skips the scalability structure: the sizes of the layers and the pictures of a group.
  private static func skipScalability(_ rest: inout ArraySlice<UInt8>) -> Bool {
    guard let head = rest.popFirst() else { return false }
    if head & 0x10 != 0 {
      let sizes = 4 * (Int(head >> 5) + 1)
      guard rest.count >= sizes else { return false }
      rest.removeFirst(sizes)
    }
    guard head & 0x08 != 0 else { return true }
    guard let pictures = rest.popFirst() else { return false }
    for _ in 0..<pictures {
      guard let picture = rest.popFirst() else { return false }
      let references = Int(picture >> 2 & 3)
      guard rest.count >= references else { return false }
      rest.removeFirst(references)
    }
    return true
  }

  static func frame(_ payloads: FramePayloads) -> DepacketizedFrame {
    var frame = DepacketizedFrame()
    var layers: [[UInt8]] = []
    var isInside = false
    for (index, payload) in payloads.payloads.enumerated() {
      guard let piece = piece(payload) else {
        frame.malformed += 1
        continue
      }
      if payloads.gaps.contains(index) { isInside = false }
      if piece.isStart {
        if layers.isEmpty {
          frame.isKey = !piece.isInter && isKeyframe(piece.body)
          // Higher layers are predicted from the base layer and can't be decoded without it.
          frame.isStartThere = piece.spatialLayer == 0
        }
        layers.append([])
        isInside = true
      }
      guard isInside else {
        if layers.isEmpty { frame.isStartThere = false } else { frame.isIncomplete = true }
        continue
      }
      layers[layers.count - 1] += piece.body
      if piece.isEnd { isInside = false }
    }
    if isInside { frame.isIncomplete = true }
    if !frame.isStartThere { return frame }
    frame.bytes = superframe(layers)
    return frame
  }

  /// Returns whether the frame is a keyframe, from the uncompressed header (VP9 bitstream, 6.2): frame_marker
  /// 2, the profile, show_existing_frame 0 and frame_type 0.
  private static func isKeyframe(_ body: ArraySlice<UInt8>) -> Bool {
    guard let first = body.first, first >> 6 == 2 else { return false }
    let isProfile3 = first & 0x30 == 0x30
    return first << (isProfile3 ? 5 : 4) & 0xC0 == 0
  }

  /// Combines frames of several layers and appends the superframe index (VP9 bitstream, annex B).
  static func superframe(_ layers: [[UInt8]]) -> [UInt8] {
    let frames = layers.filter { !$0.isEmpty }
    guard frames.count > 1, frames.count <= 8 else { return frames.flatMap { $0 } }
    let marker: UInt8 = 0b1101_1000 | UInt8(frames.count - 1)
    var bytes = frames.flatMap { $0 }
    bytes.append(marker)
    for frame in frames {
      for shift in stride(from: 0, through: 24, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: frame.count >> shift))
      }
    }
    bytes.append(marker)
    return bytes
  }
}
