internal import Orientation
internal import UprightRTP

/// One RTP stream of a source, and its place on the source's timeline. Used by one thread.
final class RTPTrack {
  let codec: RTPCodec
  private let payloadTypes: [UInt8]
  private var rtp: RTPStream
  /// The SSRC that every packet must have; `nil` for any.
  var expectedSource: UInt32?
  /// The port from which the first accepted packet came, if there is an expected SSRC.
  private var sender: UInt16?
  /// The arrival of the first packet, in milliseconds since the first packet of all.
  private var firstArrival: Int64?
  /// The time of the stream's tick 0 on the source's timeline, in milliseconds.
  private var start: Int64 = 0
  /// The time of the stream's tick 0 on the sender's clock, in milliseconds; `nil` before the first sender report.
  private var reportedStart: Int64?

  /// How long a missing packet is waited for, in milliseconds: longer than packets are out of order on any path and
  /// than a WebRTC server takes to have a lost one sent again, and far shorter than an input counts as lost.
  private static let longestWait: Int64 = 300
  /// The largest correction by sender reports, in milliseconds. The clock of a sender can be wrong.
  private static let largestCorrection: Int64 = 2000
  /// A smaller correction than this is not worth a gap in the audio, in milliseconds.
  private static let smallestCorrection: Int64 = 5

  init(_ media: SessionDescription.Media, _ codec: RTPCodec) {
    self.codec = codec
    payloadTypes = media.types
    rtp = RTPStream(
      codec: codec, orientation: OrientationExtension(media.extensions),
      redundancy: media.redundancy, longestWait: Self.longestWait)
  }

  var ssrc: UInt32? { rtp.ssrc }

  /// Returns whether the datagram may be RTP of this stream. Anyone can send to a port.
  func accepts(_ datagram: [UInt8], from sender: UInt16) -> Bool {
    guard datagram.count >= 12, payloadTypes.contains(datagram[1] & 0x7F) else { return false }
    guard let expectedSource else { return true }
    let source = datagram[8..<12].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard source == expectedSource, self.sender ?? sender == sender else { return false }
    self.sender = sender
    return true
  }

  /// Adds an accepted packet, and returns the frames that it completes.
  ///
  /// - Parameter arrival: In milliseconds since the first packet of all.
  func take(_ datagram: [UInt8], arrival: Int64) -> [AccessUnit] {
    if firstArrival == nil { (firstArrival, start) = (arrival, arrival) }
    return rtp.take(datagram, arrival: arrival - (firstArrival ?? arrival))
  }

  /// Gives up missing packets that have been waited for too long.
  ///
  /// - Parameter now: In milliseconds since the first packet of all.
  func expire(at now: Int64) -> [AccessUnit] {
    firstArrival.map { rtp.expire(at: now - $0) } ?? []
  }

  func finish() -> [AccessUnit] { rtp.finish() }

  /// Returns the timestamp of a frame on the source's timeline, in ticks of the codec's clock.
  func timestamp(of unit: AccessUnit) -> Int64 {
    unit.ticks + start * Int64(codec.clockRate / 1000)
  }

  // MARK: - Sender reports

  /// Notes a sender report of this stream.
  ///
  /// - Parameter time: In units of 1/2^32 s.
  func report(time: UInt64, timestamp: UInt32) {
    guard let ticks = rtp.ticks(near: timestamp) else { return }
    let (seconds, fraction) = (Int64(time >> 32), Int64(time & 0xFFFF_FFFF))
    let milliseconds = seconds * 1000 + (fraction * 1000) >> 32
    reportedStart = milliseconds - ticks / Int64(codec.clockRate / 1000)
  }

  /// Moves this stream so that its distance to `other` is the one that the sender reports.
  func align(with other: RTPTrack) {
    guard let reportedStart, let others = other.reportedStart, other.firstArrival != nil else {
      return
    }
    let correction = other.start + (reportedStart - others) - start
    if (Self.smallestCorrection...Self.largestCorrection).contains(abs(correction)) {
      start += correction
    }
  }
}
