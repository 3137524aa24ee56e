public import UprightOrientation
internal import Synchronization
public import UprightFrames
internal import UprightMediaIO
internal import UprightMedia

/// Orients a stream of compressed frames in memory: packets in, packets out.
///
/// Packets are decoded, turned and encoded on two threads of the session. All queues are bounded: if nobody
/// reads `output`, `send` suspends. A session that is not used any more ends by itself.
///
/// The input is whole frames, by `send` or `offer`, or an `RTPFeed` of RTP packets.
public final class PacketSession: Sendable {
  /// Takes the stream's events. Their times are those of the packets, in seconds.
  public let inbox = EventInbox()
  private let input = TaskQueue<EncodedPacket>(capacity: 8)
  private let hasAudio: Bool
  private let run: PacketRun

  /// Starts a session.
  ///
  /// - Parameters:
  ///   - description: The video packets that will be sent.
  ///   - audio: The audio packets that will be sent. They come out as they are, in ticks of the sample rate.
  ///   - timeBase: Seconds per tick of the video. Packets in another time base are converted to it.
  ///   - encoding: How the output is encoded.
  ///   - options: How frames are turned and laid out.
  /// - Throws: `usage` for options that contradict each other, `badData` if the policy can't start,
  ///   `unavailable` if a codec isn't linked.
  public init(
    _ description: VideoDescription, audio: AudioDescription? = nil, timeBase: Rational,
    encoding: EncodeOptions = EncodeOptions(), _ options: AdapterOptions = AdapterOptions()
  ) throws(UprightError) {
    hasAudio = audio != nil
    run = try PacketRun(
      .packets(input),
      MemorySource(description, audio: audio, timeBase: timeBase, packets: input),
      timeBase: timeBase, encoding, options, inbox)
    run.start()
  }

  /// Starts a session whose input is RTP packets: H.264, VP8 or VP9, with CVO in their header extensions, and
  /// Opus or G.711. They are sorted and joined into frames. A missing packet is waited for until 300 ms have
  /// passed or 512 later ones have arrived; then the decoder conceals the loss.
  ///
  /// Output begins with the first keyframe that can be decoded. Video is in ticks of 1/90000 s, audio in ticks
  /// of its clock. Times count from the first packet. Send the packets to `feed`, not to the session.
  ///
  /// - Parameters:
  ///   - feed: Receives the packets.
  ///   - encoding: How the output is encoded.
  ///   - options: How frames are turned and laid out.
  /// - Throws: `badData` for a session description that can't be read, or if the policy can't start; `usage` for
  ///   options that contradict each other; `unavailable` if a codec isn't linked.
  public init(
    _ feed: RTPFeed, encoding: EncodeOptions = EncodeOptions(),
    _ options: AdapterOptions = AdapterOptions()
  ) throws(UprightError) {
    input.close()
    hasAudio = true
    _ = try SessionDescription(feed.description)
    run = try PacketRun(
      .datagrams(feed), nil, timeBase: Rational(1, 90_000), encoding, options, inbox)
    run.start()
  }

  deinit { cancel() }

  /// Sends a packet, in decoding order. Suspends while the session is behind.
  ///
  /// - Throws: `cancelled` if the task is cancelled or the session has ended, and if its input is an `RTPFeed`; `usage`
  ///   for audio that wasn't described.
  public func send(_ packet: EncodedPacket) async throws(UprightError) {
    try check(packet)
    guard await input.send(packet) else {
      throw run.failure ?? UprightError(.cancelled, "the session has ended")
    }
  }

  /// - Throws: `usage` for a packet of a track that wasn't described.
  private func check(_ packet: EncodedPacket) throws(UprightError) {
    guard packet.track == .audio, !hasAudio else { return }
    throw UprightError(
      .usage, "a packet of audio, and the session has none", at: "track",
      remedy: "describe the audio when the session is made")
  }

  /// Sends a packet without waiting. Returns `false`, and takes nothing, if the session is behind or has
  /// ended, and for audio that wasn't described.
  public func offer(_ packet: EncodedPacket) -> Bool {
    (packet.track == .video || hasAudio) && input.offer(packet)
  }

  /// Sends a packet, in decoding order. Blocks the thread, up to `deadline` if there is one, while the
  /// session is behind; then returns `false` and takes nothing.
  ///
  /// - Throws: The error that ended the session; `cancelled` if it has ended or its input is an `RTPFeed`; `usage` for
  ///   audio that wasn't described.
  package func send(_ packet: EncodedPacket, by deadline: ContinuousClock.Instant?)
    throws(UprightError) -> Bool
  {
    try check(packet)
    return try taken(input.put(packet, by: deadline))
  }

  /// The same for a session whose input is an `RTPFeed`.
  package func send(rtp packet: [UInt8], by deadline: ContinuousClock.Instant?) throws(UprightError)
    -> Bool
  {
    guard case .datagrams(let feed) = run.input else { return try taken(false) }
    return try taken(feed.datagrams.put(packet, by: deadline))
  }

  /// Returns whether a queue has taken a packet in time.
  private func taken(_ result: Bool?) throws(UprightError) -> Bool {
    if result == false { throw run.failure ?? UprightError(.cancelled, "the session has ended") }
    return result ?? false
  }

  /// Returns the next element of the output. Blocks the thread, up to `deadline` if there is one. For one
  /// reader, which uses either this or `output`.
  ///
  /// - Throws: The error that ended the session.
  package func receive(by deadline: ContinuousClock.Instant?) throws(UprightError) -> Received {
    let (element, isLate) = run.output.take(by: deadline)
    if let element { return .element(element) }
    if isLate { return .late }
    if let failure = run.failure { throw failure }
    return .end
  }

  /// What `receive` returns.
  package enum Received {
    case element(PacketOutput)
    case late
    case end
  }

  /// Calls `body` when the session may have space for a packet again, or an element of output, and when it ends; and
  /// once now. After `offer` has returned `false`, offer the packet again then.
  ///
  /// - Parameter body: Called on any thread. It must not block. A second one takes the place of the first.
  public func onReady(_ body: @escaping @Sendable () -> Void) {
    run.output.watch(for: .element, body)
    switch run.input {
    case .packets(let packets): packets.watch(for: .space, body)
    case .datagrams(let feed): feed.datagrams.watch(for: .space, body)
    }
  }

  /// What has gone through the session so far.
  public var counters: PacketCounters { run.counters }

  /// Makes the next frame a keyframe.
  public func requestKeyframe() { run.requestKeyframe() }

  /// Ends the input. `output` ends after the packets of all frames.
  public func finish() { run.input.close() }

  /// Ends the session within one frame. `output` throws `cancelled`.
  public func cancel() {
    // In this order: a closed input alone is a normal end.
    run.cancel()
    run.input.close(discarding: true)
  }

  /// Ends the session, and waits until its threads have ended.
  package func close() {
    cancel()
    run.join()
  }

  /// The session's output, for one reader.
  public var output: Output { Output(run: run) }

  /// The formats, packets and decisions, in order.
  public struct Output: AsyncSequence, AsyncIteratorProtocol, Sendable {
    fileprivate let run: PacketRun

    /// Returns the next element, or `nil` at the end.
    ///
    /// - Throws: The error that ended the session; `cancelled` if the task or the session is cancelled;
    ///   `misuse` while another task waits for an element.
    public func next() async throws(UprightError) -> PacketOutput? {
      if let element = try await run.output.next() { return element }
      if let failure = run.failure { throw failure }
      if Task.isCancelled { throw UprightError(.cancelled, "cancelled") }
      return nil
    }

    /// Returns the next element. Throws the errors of `next()`.
    public func next(
      isolation actor: isolated (any Actor)?
    ) async throws(UprightError) -> PacketOutput? {
      try await next()
    }

    /// The sequence itself.
    public func makeAsyncIterator() -> Self { self }
  }
}
