internal import DequeModule
internal import Glibc
internal import UprightOrientation
internal import Synchronization
internal import UprightMedia
internal import UprightMediaIO
internal import UprightSignals

/// Reads RTP from sockets or from a queue, because libavformat's reader discards header extensions and the CVO in
/// them.
///
/// The timestamps of a call's two streams start at unrelated values. Here, each stream starts when its first
/// packet arrives, until the distance is known: from sender reports, or for a WebRTC server from more arrivals. The first one starts at 0.
final class RTPSource: PacketSource {
  /// Where the datagrams come from.
  enum Transport {
    /// The ports of the description.
    case ports
    /// A queue.
    case queue(TaskQueue<[UInt8]>)
    /// A WebRTC server on this machine.
    case forwarded(ForwardedConnection)
  }

  let url = "RTP"
  private(set) var container: Demuxer.Container
  private let interrupt: Interrupt
  private let transport: Transport
  private let sockets: [UDPSocket]
  private let tracks: [RTPTrack]
  private var hasEnded = false
  private var streams: [StreamInfo] = []
  private var waiting = Deque<(unit: AccessUnit, track: Int)>()
  private var buffer = [UInt8](repeating: 0, count: 65_536)
  private var firstArrival: ContinuousClock.Instant?
  /// The time of the last request for a keyframe, in milliseconds since the first packet.
  private var lastRequest: Int64?

  /// The least time between two requests for a keyframe, in milliseconds.
  private static let requestInterval: Int64 = 500

  /// Waits for a keyframe that can be decoded.
  ///
  /// - Throws: `badData`, `cancelled`.
  convenience init(_ feed: RTPFeed, interrupt: Interrupt) throws(UprightError) {
    try self.init(
      SessionDescription(feed.description), from: .queue(feed.datagrams), interrupt: interrupt)
  }

  /// Binds the ports, if there are any, and waits for a keyframe that can be decoded.
  ///
  /// - Throws: `badData`, `usage`, `cannotCreate`, `cancelled`.
  init(
    _ description: SessionDescription, from transport: Transport, interrupt: Interrupt
  ) throws(UprightError) {
    self.interrupt = interrupt
    self.transport = transport
    container = Demuxer.Container(format: "rtp", streams: [], isSeekable: false)
    let media = [description.video, description.audio].compactMap(\.self)
    tracks = media.compactMap { media in media.codec.map { RTPTrack(media, $0) } }
    switch transport {
    case .ports:
      let media = try description.ports().map { (port) throws(UprightError) in try port.bind() }
      // Without reports, the stream can be read too.
      sockets = media + description.controlPorts.compactMap { try? $0.bind() }
    case .queue: sockets = []
    case .forwarded(let connection):
      sockets = [connection.socket]
      tracks[0].expectedSource = connection.target.videoSource
      if tracks.count > 1 { tracks[1].expectedSource = connection.target.audioSource }
    }
    let parameters = try findKeyframe(description.video.parameterSets)
    let videoTrack = tracks[0]
    var video = StreamInfo(
      index: 0, kind: .video, parameters: parameters,
      timeBase: Rational(1, videoTrack.codec.clockRate))
    video.carriesCVO = OrientationExtension(description.video.extensions).isNegotiated
    video.decoderName = videoTrack.codec.decoderName
    streams = [video]
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
      if next.track == 0 {
        if next.unit.isKey,
          let found = try tracks[0].codec.parameters(ofKeyframe: next.unit.bytes, sets: sets)
        {
          return found
        }
        requestKeyframe()
      }
      waiting.removeFirst()
    }
  }

  func bestStream(_ kind: StreamKind) -> StreamInfo? { streams.first { $0.kind == kind } }

  func select(_ indices: Set<Int>) {}

  var losses: [String] { [] }

  var lostPackets: Int { tracks.reduce(0) { $0 + $1.lost } }

  /// Returns the next packet; `nil` at the end of a queue, when a publisher has gone, and after BYE.
  ///
  /// - Throws: `cancelled`.
  func read() throws(UprightError) -> Packet? {
    while waiting.isEmpty, !hasEnded { try receive() }
    guard let (unit, index) = waiting.popFirst() else { return nil }
    let track = tracks[index]
    if index == 0, unit.isIncomplete || unit.followsLoss { requestKeyframe() }
    var duration = 0
    if track.codec == .opus { duration = OpusPacket.duration(unit.bytes) ?? 0 }
    var packet = try Packet(
      unit.bytes, stream: streams[index], pts: track.timestamp(of: unit), isKey: unit.isKey,
      duration: Int64(duration))
    packet.cvo = unit.cvo
    return packet
  }

  /// Requests a keyframe from a WebRTC server. Does nothing for other senders, and soon after another request.
  func requestKeyframe() {
    guard case .forwarded(let connection) = transport else { return }
    let (port, now) = (connection.feedbackPort.load(ordering: .relaxed), elapsed)
    guard port > 0, lastRequest.map({ now - $0 >= Self.requestInterval }) ?? true else { return }
    lastRequest = now
    let request = ControlPacket.pictureLossIndication(
      of: connection.target.videoSource, from: connection.target.audioSource)
    connection.socket.send(request, toLoopbackPort: port)
  }

  // MARK: - Receiving

  /// Waits for datagrams, or until a missing packet is given up.
  private func receive() throws(UprightError) {
    if interrupt.isRaised { throw UprightError(.cancelled, "stopped", at: url) }
    if case .queue(let datagrams) = transport {
      guard let datagram = datagrams.take() else { return finish() }
      return receive(datagram, sender: 0, arrival: elapsed)
    }
    // What arrived before the end is still read.
    let ending: Interrupt? =
      if case .forwarded(let connection) = transport { connection.ending } else { nil }
    let isLast = ending?.isRaised ?? false
    receiveFromSockets(until: ending)
    if isLast { return finish() }
    for (index, track) in tracks.enumerated() {
      for unit in track.expire(at: elapsed) { waiting.append((unit, index)) }
    }
  }

  private func receiveFromSockets(until ending: Interrupt?) {
    let descriptors = sockets.map(\.descriptor) + (ending.map { [$0.descriptor] } ?? [])
    var requests = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let expiry = tracks.compactMap(\.nextExpiry).min()
    let deadline = expiry.flatMap { firstArrival?.advanced(by: .milliseconds($0)) }
    guard interrupt.poll(&requests, until: deadline) else { return }
    let arrival = elapsed
    for socket in sockets {
      // Limited, so that a flood on one socket does not block the other.
      for _ in 0..<256 {
        guard let datagram = socket.receive(into: &buffer) else { break }
        receive(Array(datagram.bytes), sender: datagram.sender, arrival: arrival)
      }
    }
  }

  /// The time since the first packet, in milliseconds.
  private var elapsed: Int64 {
    guard let elapsed = firstArrival?.duration(to: .now).components else { return 0 }
    return elapsed.seconds * 1000 + elapsed.attoseconds / 1_000_000_000_000_000
  }

  private func receive(_ datagram: [UInt8], sender: UInt16, arrival: Int64) {
    if RTPPacket.isControl(datagram) { return receiveControl(datagram) }
    guard let index = tracks.firstIndex(where: { $0.accepts(datagram, from: sender) }) else {
      return
    }
    if firstArrival == nil { firstArrival = .now }
    for unit in tracks[index].receive(datagram, arrival: arrival) { waiting.append((unit, index)) }
    guard case .forwarded(let connection) = transport else { return }
    connection.lastArrival.withLock { $0 = .now }
    if tracks.count > 1 { tracks[1].align(with: tracks[0]) }
  }

  private func receiveControl(_ datagram: [UInt8]) {
    // A WebRTC server consumes its publisher's reports.
    if case .forwarded = transport { return }
    for packet in ControlPacket.parse(datagram) {
      switch packet {
      case .senderReport(let ssrc, let time, let timestamp):
        tracks.first { $0.ssrc == ssrc }?.report(time: time, timestamp: timestamp)
        if tracks.count > 1 { tracks[1].align(with: tracks[0]) }
      case .goodbye(let ssrcs):
        if let ssrc = tracks[0].ssrc, ssrcs.contains(ssrc) { finish() }
      }
    }
  }

  /// Adds the frames that still wait for packets, at the end of the stream.
  private func finish() {
    hasEnded = true
    for (index, track) in tracks.enumerated() {
      for unit in track.finish() { waiting.append((unit, index)) }
    }
  }
}
