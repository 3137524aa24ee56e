internal import UprightOrientation
internal import UprightSignals

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
  /// The time of the stream's tick 0 on a clock that it shares with the source's other stream, in milliseconds: the
  /// sender's, by its reports, or that of arrival. `nil` while it is unknown.
  private var reference: Int64?
  /// The least delay of a packet in this interval, arrival less timestamp, and when the interval ends.
  private var delays: (least: Int64, end: Int64)?

  /// How long a missing packet is waited for, in milliseconds: longer than packets are out of order on any path and
  /// than a WebRTC server takes to have a lost one sent again, and far shorter than an input counts as lost.
  private static let longestWait: Int64 = 300
  /// The intervals in which the least delay is looked for, in milliseconds: the first, and the others.
  private static let intervals: (first: Int64, other: Int64) = (1000, 5000)
  /// The largest correction, in milliseconds. The clock of a sender can be wrong.
  private static let largestCorrection: Int64 = 2000
  /// A smaller correction than this is not worth a gap in the audio, in milliseconds.
  private static let smallestCorrection: Int64 = 10

  init(_ media: SessionDescription.Media, _ codec: RTPCodec) {
    self.codec = codec
    payloadTypes = media.types
    rtp = RTPStream(
      codec: codec, orientation: OrientationExtension(media.extensions),
      redundancy: media.redundancy, longestWait: Self.longestWait)
  }

  var ssrc: UInt32? { rtp.ssrc }

  /// The number of packets that never arrived, or too late.
  var lost: Int { rtp.statistics.lost }

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
  func receive(_ datagram: [UInt8], arrival: Int64) -> [AccessUnit] {
    if firstArrival == nil { (firstArrival, start) = (arrival, arrival) }
    let units = rtp.receive(datagram, arrival: arrival - (firstArrival ?? arrival))
    if expectedSource != nil { recordDelay(of: datagram, arrival: arrival) }
    return units
  }

  /// Gives up missing packets that have been waited for too long.
  ///
  /// - Parameter now: In milliseconds since the first packet of all.
  func expire(at now: Int64) -> [AccessUnit] {
    firstArrival.map { rtp.expire(at: now - $0) } ?? []
  }

  /// The time at which `expire` has something to give up; `nil` if no packet is waited for.
  var nextExpiry: Int64? {
    guard let firstArrival, let expiry = rtp.nextExpiry else { return nil }
    return firstArrival + expiry
  }

  func finish() -> [AccessUnit] { rtp.finish() }

  /// Returns the timestamp of a frame on the source's timeline, in ticks of the codec's clock.
  func timestamp(of unit: AccessUnit) -> Int64 {
    unit.ticks + start * Int64(codec.clockRate / 1000)
  }

  // MARK: - The distance of two streams

  /// Notes the delay of a forwarded packet, which an earlier packet may have been faster than.
  ///
  /// A WebRTC server keeps the sender's reports to itself. But both streams take one path, so their fastest packets
  /// tell how far apart they were sent.
  private func recordDelay(of datagram: [UInt8], arrival: Int64) {
    guard let packet = RTPPacket(datagram), var ticks = rtp.ticks(near: packet.timestamp) else {
      return
    }
    // The timestamp of audio is that of its first sample. It can't be sent before its last one.
    if codec == .opus { ticks += Int64(OpusPacket.duration(packet.payload) ?? 0) }
    let delay = arrival - ticks / Int64(codec.clockRate / 1000)
    guard let current = delays else {
      delays = (delay, arrival + Self.intervals.first)
      return
    }
    delays = (min(delay, current.least), current.end)
    guard arrival >= current.end else { return }
    reference = min(delay, current.least)
    delays = (.max, arrival + Self.intervals.other)
  }

  /// Notes a sender report of this stream.
  ///
  /// - Parameter time: In units of 1/2^32 s.
  func report(time: UInt64, timestamp: UInt32) {
    guard let ticks = rtp.ticks(near: timestamp) else { return }
    let (seconds, fraction) = (Int64(time >> 32), Int64(time & 0xFFFF_FFFF))
    let milliseconds = seconds * 1000 + (fraction * 1000) >> 32
    reference = milliseconds - ticks / Int64(codec.clockRate / 1000)
  }

  /// Moves this stream so that its distance to `other` is the one at the sender, once that is known.
  func align(with other: RTPTrack) {
    guard let reference, let others = other.reference, other.firstArrival != nil else { return }
    let correction = other.start + (reference - others) - start
    if (Self.smallestCorrection...Self.largestCorrection).contains(abs(correction)) {
      start += correction
    }
  }
}
