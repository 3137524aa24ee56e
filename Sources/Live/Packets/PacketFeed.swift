public import UprightOrientation
internal import UprightMediaIO
internal import UprightMedia

/// Packets in memory, as the input of a live session. Safe to use from any thread.
///
/// Bounded: `send` suspends, and `offer` refuses, while the session is behind.
public final class PacketFeed: Sendable {
  /// The video track.
  public let video: VideoDescription
  /// The audio track; `nil` if there is none.
  public let audio: AudioDescription?
  let timeBase: Rational
  let packets: TaskQueue<EncodedPacket>

  /// Creates a feed.
  ///
  /// - Parameters:
  ///   - video: The packets of the video track.
  ///   - audio: The packets of the audio track; `nil` if there is none.
  ///   - timeBase: Seconds per tick of the video. Packets in another time base are converted to it.
  ///   - capacity: The number of packets that may wait.
  public init(
    _ video: VideoDescription, audio: AudioDescription? = nil, timeBase: Rational,
    capacity: Int = 64
  ) {
    self.video = video
    self.audio = audio
    self.timeBase = timeBase
    packets = TaskQueue(capacity: capacity)
  }

  /// Sends a packet of either track, in decoding order. Suspends while the session is behind.
  ///
  /// - Throws: `cancelled` if the task is cancelled or the session has ended.
  public func send(_ packet: EncodedPacket) async throws(UprightError) {
    guard await packets.send(packet) else {
      throw UprightError(.cancelled, "the session has ended")
    }
  }

  /// Sends a packet without waiting. Returns `false`, and takes nothing, if the session is behind or has
  /// ended.
  public func offer(_ packet: EncodedPacket) -> Bool { packets.offer(packet) }

  /// Ends the input. The session ends after the frames that were sent.
  public func finish() { packets.close() }
}

/// RTP packets in memory, as the input of a packet session or a live session. Safe to use from any thread.
public final class RTPFeed: Sendable {
  /// The session description (RFC 8866): the codecs, the payload types, and which header extension is CVO. Its
  /// addresses and ports are not used.
  public let description: String
  let datagrams: TaskQueue<[UInt8]>

  /// Creates a feed.
  ///
  /// - Parameters:
  ///   - description: The session description (RFC 8866).
  ///   - capacity: The number of RTP packets that may wait.
  public init(description: String, capacity: Int = 1024) {
    self.description = description
    datagrams = TaskQueue(capacity: capacity)
  }

  /// Sends an RTP packet of either track, in the order of arrival; its payload type says which. Returns
  /// `false`, and takes nothing, if the session is behind or has ended: as on a network, the packet is lost.
  public func offer(_ packet: [UInt8]) -> Bool { datagrams.offer(packet) }

  /// Sends an RTP packet. Suspends while the session is behind: for packets that need not be lost, because they
  /// come from a file.
  ///
  /// - Throws: `cancelled` if the task is cancelled or the session has ended.
  public func send(_ packet: [UInt8]) async throws(UprightError) {
    guard await datagrams.send(packet) else {
      throw UprightError(.cancelled, "the session has ended")
    }
  }

  /// Ends the input. The session ends after the frames that were sent.
  public func finish() { datagrams.close() }
}
