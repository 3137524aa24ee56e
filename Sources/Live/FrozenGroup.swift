internal import UprightOrientation
internal import UprightFrames
internal import UprightMediaIO
internal import UprightMedia

/// The packets of one group of pictures of a frame that is repeated. They are encoded once, and go out again with
/// later times for as long as nothing changes.
///
/// A group begins where a keyframe is due and ends before the next one, so that segments begin at the same times as if
/// each frame were encoded.
final class FrozenGroup {
  /// A packet that is shared each time that it is sent.
  private final class Kept {
    let packet: Packet

    init(_ packet: consuming Packet) { self.packet = packet }
  }

  /// How its frames are laid out.
  let direction: FrameDirection
  /// By rung, those of an inactive one are missing.
  private var packets: [[Kept]]
  private var frames = 0
  /// Whether each packet had the time of the frame that was encoded last: the encoders hold no frames back.
  private var isPrompt = true
  /// The index of the packets that are sent next; `nil` while packets are recorded.
  private var next: Int?

  init(_ direction: FrameDirection, rungs: Int) {
    self.direction = direction
    packets = Array(repeating: [], count: rungs)
  }

  /// Whether the packets go out again.
  var isSentAgain: Bool { next != nil }

  /// Records one packet of the frame at `time`.
  func record(_ packet: borrowing Packet, rung: Int, at time: MediaTime) throws(UprightError) {
    if isSentAgain { return }
    let isExpected = packet.time == time && packet.decodingTime == time
    isPrompt = isPrompt && isExpected && (packet.isKey || !packets[rung].isEmpty)
    packets[rung].append(Kept(try packet.shared()))
  }

  /// All packets of a frame have been recorded.
  func endFrame() { frames += 1 }

  /// Goes to the first packets, because a keyframe is due. Returns `false` if the group isn't whole.
  func begin() -> Bool {
    // Two IDR pictures in succession must have different numbers (H.264, 7.4.3, idr_pic_id).
    guard isPrompt, frames > 1, packets[0].count == frames,
      packets.allSatisfy({ $0.isEmpty || $0.count == frames })
    else { return false }
    next = 0
    return true
  }

  /// Calls `send` with the next packet of each rung, at the time of `frame`. Returns `false` if there is no other.
  func send(
    at frame: borrowing VideoFrame,
    _ send: (consuming Packet, Int) throws(UprightError) -> Void
  ) throws(UprightError) -> Bool {
    guard let index = next, index < frames, let time = frame.pts else { return false }
    for (rung, kept) in packets.enumerated() where !kept.isEmpty {
      var packet = try kept[index].packet.shared()
      (packet.pts, packet.dts, packet.duration) = (time, time, frame.duration)
      packet.timeBase = LiveClock.timeBase
      try send(packet, rung)
    }
    next = index + 1
    return true
  }
}
