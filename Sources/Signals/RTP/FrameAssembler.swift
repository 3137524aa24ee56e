internal import UprightOrientation

/// Combines packets into frames: packets with the same timestamp, up to the marker.
struct FrameAssembler: Sendable {
  private struct Open {
    let timestamp: UInt32
    let ticks: Int64
    var payloads = FramePayloads()
    var cvo: CVO?
  }

  private let codec: RTPCodec
  private let orientation: OrientationExtension
  private var memory = OrientationMemory()
  private var open: Open?
  private var isBroken = false
  /// Parameter sets with a separate timestamp. They belong to the next frame.
  private var preface: [UInt8] = []

  /// The largest frame, in bytes. It bounds the memory for a stream without markers.
  private static let maximumSize = 32 << 20
  private static let maximumPreface = 64 << 10

  init(codec: RTPCodec, orientation: OrientationExtension) {
    self.codec = codec
    self.orientation = orientation
  }

  /// Adds the next packet in sequence order, and appends a completed frame to `out`.
  mutating func add(
    _ released: ReorderBuffer.Released, ticks: Int64, statistics: inout RTPStatistics,
    to out: inout [AccessUnit]
  ) {
    let packet = released.received.packet
    let isLossBefore = released.lost > 0 || released.isRestart
    if let timestamp = open?.timestamp, timestamp != packet.timestamp || released.isRestart {
      open?.payloads.isEndLost = isLossBefore
      close(&statistics, to: &out)
    }
    // Packets with only padding keep the path busy; they have the last frame's timestamp.
    if packet.payload.isEmpty {
      if isLossBefore { isBroken = true }
      return
    }
    var frame = open ?? Open(timestamp: packet.timestamp, ticks: ticks)
    if isLossBefore { frame.payloads.gaps.insert(frame.payloads.payloads.count) }
    frame.payloads.size += packet.payload.count
    if frame.payloads.size <= Self.maximumSize {
      frame.payloads.payloads.append(packet.payload)
    } else {
      frame.payloads.isEndLost = true
    }
    frame.cvo = orientation.value(in: packet.extensions) ?? frame.cvo
    open = frame
    if packet.hasMarker { close(&statistics, to: &out) }
  }

  /// Outputs the frame that is in progress, at the end of the stream.
  mutating func finish(_ statistics: inout RTPStatistics, _ out: inout [AccessUnit]) {
    // A frame without its marker at the end of the stream is most likely truncated.
    open?.payloads.isEndLost = true
    close(&statistics, to: &out)
  }

  private mutating func close(_ statistics: inout RTPStatistics, to out: inout [AccessUnit]) {
    guard let frame = open else { return }
    open = nil
    let made =
      switch codec {
      case .h264: H264Payload.frame(frame.payloads)
      case .vp9: VP9Payload.frame(frame.payloads)
      default: VP8Payload.frame(frame.payloads)
      }
    statistics.malformed += made.malformed
    let hasLossBefore = frame.payloads.gaps.contains(0)
    if hasLossBefore { isBroken = true }
    // A gap before a frame whose start is present did not affect the frame.
    let isIncomplete =
      made.isIncomplete || frame.payloads.isEndLost || frame.payloads.gaps.contains { $0 > 0 }
      || !made.isStartThere
    guard !made.bytes.isEmpty else {
      if frame.payloads.payloads.count > made.malformed || isIncomplete {
        statistics.unusableFrames += 1
      }
      isBroken = true
      return
    }
    guard made.hasFrameData else {
      if preface.count + made.bytes.count <= Self.maximumPreface { preface += made.bytes }
      return
    }
    if made.isKey, !isIncomplete { isBroken = false }
    var unit = AccessUnit(bytes: preface + made.bytes, ticks: frame.ticks, isKey: made.isKey)
    preface = []
    unit.isIncomplete = isIncomplete
    unit.followsLoss = isBroken
    unit.cvo = memory.value(
      sent: frame.cvo, isKey: made.isKey, isWhole: !frame.payloads.isEndLost)
    if isIncomplete {
      statistics.incompleteFrames += 1
      isBroken = true
    } else if unit.followsLoss {
      statistics.dependentFrames += 1
    }
    out.append(unit)
  }
}
