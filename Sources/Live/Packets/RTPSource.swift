internal import DequeModule
internal import Foundation
internal import Orientation
internal import UprightIntake
internal import UprightMediaIO
internal import UprightPipeline
internal import UprightRTP

/// Reads RTP from its own sockets, or from a queue, because libavformat's reader discards header extensions
/// and the CVO in them.
///
/// The timestamps of a call's two streams start at unrelated values. Here, each stream starts when its first
/// packet arrives. Sender reports, which would be more precise, are not read. The first one starts at 0.
final class RTPSource: PacketSource {
  private final class Track {
    var rtp: RTPStream
    /// How long a missing packet is waited for, in milliseconds: longer than packets are out of order on any
    /// path, and far shorter than an input counts as lost.
    private static let longestWait: Int64 = 300

    /// `nil` if the datagrams come from a queue.
    let socket: UDPSocket?
    let codec: RTPCodec
    let payloadType: UInt8
    let redundancy: UInt8?
    /// The arrival time of the first packet, in milliseconds since the first packet of all.
    var firstArrival: Int64?

    init(
      _ media: SessionDescription.Media, _ codec: RTPCodec, binds: Bool
    ) throws(UprightError) {
      self.codec = codec
      payloadType = media.payloadType
      redundancy = media.redundancy
      rtp = RTPStream(
        codec: codec, orientation: OrientationExtension(media.extensions),
        redundancy: media.redundancy, longestWait: Track.longestWait)
      socket = binds ? try UDPSocket(address: media.address, port: media.port) : nil
    }
  }

  let url = "RTP"
  private(set) var container: Demuxer.Container
  private let interrupt: Interrupt
  private let tracks: [Track]
  private let datagrams: TaskQueue<[UInt8]>?
  private var hasEnded = false
  private var streams: [StreamInfo] = []
  private var waiting = Deque<(unit: AccessUnit, track: Int)>()
  private var buffer = [UInt8](repeating: 0, count: 65_536)
  private var firstArrival: ContinuousClock.Instant?

  /// Waits for a keyframe that can be decoded.
  ///
  /// - Throws: `badData`, `cancelled`.
  convenience init(_ feed: RTPFeed, interrupt: Interrupt) throws(UprightError) {
    try self.init(feed.description, feed.datagrams, interrupt)
  }

  /// Binds the sockets, and waits for a keyframe that can be decoded.
  ///
  /// - Throws: `badData`, `usage`, `cannotCreate`, `cancelled`.
  convenience init(description: String, interrupt: Interrupt) throws(UprightError) {
    try self.init(description, nil, interrupt)
  }

  private init(
    _ text: String, _ datagrams: TaskQueue<[UInt8]>?, _ interrupt: Interrupt
  ) throws(UprightError) {
    self.interrupt = interrupt
    self.datagrams = datagrams
    let description = try SessionDescription(text)
    container = Demuxer.Container(format: "rtp", streams: [], isSeekable: false)
    var tracks: [Track] = []
    for media in [description.video, description.audio].compactMap(\.self) {
      guard let codec = media.codec else { continue }
      tracks.append(try Track(media, codec, binds: datagrams == nil))
    }
    self.tracks = tracks
    let parameters = try findKeyframe(description.video.parameterSets)
    let videoTrack = tracks[0]
    streams = [
      StreamInfo(
        index: 0, kind: .video, parameters: parameters,
        timeBase: Rational(1, videoTrack.codec.clockRate),
        carriesCVO: OrientationExtension(description.video.extensions).isNegotiated,
        decoderName: videoTrack.codec.decoderName)
    ]
    if tracks.count > 1 {
      streams.append(
        StreamInfo(
          index: 1, kind: .audio, parameters: try tracks[1].codec.audioParameters(),
          timeBase: Rational(1, tracks[1].codec.clockRate)))
    }
    container = Demuxer.Container(format: "rtp", streams: streams, isSeekable: false)
  }

  /// Skips everything before the first keyframe that can be decoded.
  private func findKeyframe(_ sets: [UInt8]) throws(UprightError) -> CodecParameters {
    while true {
      guard let next = waiting.first else {
        if hasEnded { throw UprightError(.badData, "the stream has no keyframe", at: url) }
        try receive()
        continue
      }
      if next.track == 0, next.unit.isKey,
        let found = try tracks[0].codec.parameters(ofKeyframe: next.unit.bytes, sets: sets)
      {
        return found
      }
      waiting.removeFirst()
    }
  }

  func bestStream(_ kind: StreamKind) -> StreamInfo? { streams.first { $0.kind == kind } }

  func select(_ indices: Set<Int>) {}

  var losses: [String] { [] }

  /// Returns the next packet; `nil` at the end of a queue. A socket has no end.
  ///
  /// - Throws: `cancelled`.
  func read() throws(UprightError) -> Packet? {
    while waiting.isEmpty, !hasEnded { try receive() }
    guard let (unit, index) = waiting.popFirst() else { return nil }
    let track = tracks[index]
    let rate = Int64(track.codec.clockRate)
    var duration = 0
    if track.codec == .opus { duration = OpusPacket.duration(unit.bytes) ?? 0 }
    var packet = try Packet(
      unit.bytes, stream: streams[index], pts: unit.ticks + (track.firstArrival ?? 0) * rate / 1000,
      isKey: unit.isKey, duration: Int64(duration))
    packet.cvo = unit.cvo
    return packet
  }

  /// Waits for datagrams, at sockets for at most 50 ms.
  private func receive() throws(UprightError) {
    if interrupt.isRaised { throw UprightError(.cancelled, "stopped", at: url) }
    if let datagrams {
      guard let datagram = datagrams.take() else { return finish() }
      if let index = tracks.firstIndex(where: { mayBelong(datagram[...], to: $0) }) {
        receive(datagram, index, arrival: elapsed())
      }
      return
    }
    let sockets = tracks.compactMap(\.socket)
    var requests = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    guard unsafe poll(&requests, nfds_t(requests.count), 50) > 0 else { return }
    let arrival = elapsed()
    for (index, socket) in sockets.enumerated() {
      // Limited, so that a flood on one socket does not block the other.
      for _ in 0..<256 {
        guard let datagram = socket.receive(into: &buffer) else { break }
        if mayBelong(datagram, to: tracks[index]) {
          receive(Array(datagram), index, arrival: arrival)
        }
      }
    }
  }

  /// Adds the frames that still wait for packets, at the end of a queue.
  private func finish() {
    hasEnded = true
    for (index, track) in tracks.enumerated() {
      for unit in track.rtp.finish() { waiting.append((unit, index)) }
    }
  }

  /// The time since the first packet, in milliseconds.
  private func elapsed() -> Int64 {
    let now = ContinuousClock.now
    let first = firstArrival ?? now
    firstArrival = first
    let elapsed = first.duration(to: now).components
    return elapsed.seconds * 1000 + elapsed.attoseconds / 1_000_000_000_000_000
  }

  private func receive(_ datagram: [UInt8], _ index: Int, arrival: Int64) {
    let track = tracks[index]
    let firstArrival = track.firstArrival ?? arrival
    track.firstArrival = firstArrival
    for unit in track.rtp.take(datagram, arrival: arrival - firstArrival) {
      waiting.append((unit, index))
    }
  }

  /// Returns whether the datagram may be RTP with the described payload type. Anyone can send to a port.
  private func mayBelong(_ datagram: ArraySlice<UInt8>, to track: Track) -> Bool {
    guard datagram.count >= 12 else { return false }
    let type = datagram[datagram.startIndex + 1] & 0x7F
    // G.711's comfort noise has a separate payload type.
    return type == track.payloadType || type == track.redundancy
      || (type == 13 && !track.codec.isVideo)
  }
}
