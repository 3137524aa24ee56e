internal import UprightPolicy
internal import Synchronization
internal import Upright

/// A publisher in its room at Janus.
final class Publication: Sendable {
  private struct State: Sendable {
    /// The identifier of the room, once it exists.
    var room: JSONValue?
    /// Whether the room may exist.
    var mayHaveRoom = false
    var hasBegun = false
    var answer = ""
    /// The `ETag` of the ICE session.
    var etag = Publication.makeTag()
    var ending: Task<Void, Never>?
  }

  /// The name of the publication in its URL.
  let id = String(Secrets.make().filter { $0 != "-" && $0 != "_" }.prefix(16))
  private let started = ContinuousClock.now
  private let offer: PublishOffer
  private let janus: JanusHandle
  private let feed: ForwardedFeed
  private let description: String
  private let secret: String
  /// Called once at the end; with whether the room was destroyed.
  private let didEnd: @Sendable (Bool) -> Void
  private let state = Mutex(State())

  /// How long a publisher may take to connect, in seconds.
  private static let connectTimeout = 15.0
  /// A publisher that sends nothing for this time, in seconds, can be replaced by another.
  private static let stallTimeout = 3.0
  /// The interval at which Janus requests keyframes, in seconds, in addition to those that the session requests.
  private static let keyframeInterval = 10

  private static func makeTag() -> String { "\"\(Secrets.make().prefix(16))\"" }

  /// - Parameters:
  ///   - description: The description of the room, which is unique.
  ///   - secret: The secret of the room.
  init(
    _ offer: PublishOffer, _ janus: JanusHandle, feed: ForwardedFeed, description: String,
    secret: String,
    didEnd: @escaping @Sendable (Bool) -> Void
  ) {
    self.offer = offer
    self.janus = janus
    self.feed = feed
    self.description = description
    self.secret = secret
    self.didEnd = didEnd
  }

  /// The SDP answer.
  var answer: String { state.withLock { $0.answer } }

  /// The `ETag` of the ICE session.
  var etag: String { state.withLock { $0.etag } }

  var hasEnded: Bool { state.withLock { $0.ending != nil } }

  /// Whether the publisher has disconnected without a word, so that another one can replace it.
  var isStalled: Bool {
    if let silence = feed.silence { return silence > Self.stallTimeout }
    return started.duration(to: .now) > .seconds(Self.connectTimeout)
  }

  // MARK: - Start

  /// Creates the room, lets the publisher join it, and has its streams forwarded. `end` must follow if this throws.
  ///
  /// - Throws: `JanusError`, `Problem`, `UprightError`.
  func start(bitrate: Int?) async throws {
    state.withLock { $0.mayHaveRoom = true }
    let room = try Self.identifier("room", in: await janus.request(creation(bitrate: bitrate)))
    state.withLock { $0.room = room }
    let (joined, answer) = try await janus.negotiate(
      [
        "request": "joinandconfigure", "ptype": "publisher", "room": room, "pin": .string(secret),
      ], offer: offer.text, trickles: offer.trickles)
    guard let media = AcceptedMedia(answer: answer) else {
      throw Problem.unprocessable("the WebRTC server accepts no video of the offer")
    }
    guard media.hasCandidates else {
      throw JanusError.noAnswer(
        "it has no candidates; set full_trickle = false in its configuration")
    }
    let target = try feed.begin(media.description) { [weak self] in
      Task { await self?.end() }
    }
    guard let target else {
      throw Problem.conflict("the session has another publisher or has ended")
    }
    state.withLock { ($0.hasBegun, $0.answer) = (true, answer) }
    let publisher = try Self.identifier("id", in: joined)
    let forwarders = try await janus.request(
      forwarding(of: media, from: publisher, room: room, to: target))
    if case .array(let list)? = forwarders["forwarders"],
      let video = list.first(where: { $0["type"]?.text == "video" }),
      let port = video["local_rtcp_port"]?.integer.flatMap(UInt16.init(exactly:))
    {
      feed.requestKeyframes(at: port)
    }
    await janus.onEnd { [weak self] reason in Task { await self?.end(because: reason) } }
    await janus.endWhen("the publisher sends nothing") { [weak self] in self?.isStalled ?? true }
  }

  private static func identifier(
    _ name: String, in data: JSONValue
  ) throws(JanusError) -> JSONValue {
    guard let identifier = data[name]?.identifier else {
      throw .noAnswer("the answer has no \(name)")
    }
    return identifier
  }

  private func creation(bitrate: Int?) -> JSONValue {
    [
      "request": "create", "description": .string(description), "secret": .string(secret),
      "pin": .string(secret), "is_private": .bool(false), "publishers": .integer(1),
      "bitrate": .integer(bitrate ?? 0), "bitrate_cap": .bool(bitrate != nil),
      "fir_freq": .integer(Self.keyframeInterval), "audiocodec": "opus",
      "videocodec": .string(PublishOffer.videoCodecs.joined(separator: ",")),
      "videoorient_ext": .bool(true), "audiolevel_ext": .bool(false),
      "playoutdelay_ext": .bool(false), "transport_wide_cc_ext": .bool(true),
      "notify_joining": .bool(false), "record": .bool(false),
    ]
  }

  private func forwarding(
    of media: AcceptedMedia, from publisher: JSONValue, room: JSONValue,
    to target: ForwardedFeed.Target
  ) -> JSONValue {
    func stream(_ mid: String, _ type: Int, _ source: UInt32, _ more: [JSONValue.Member])
      -> JSONValue
    {
      .object(
        [
          .init("mid", .string(mid)), .init("host", "127.0.0.1"), .init("host_family", "ipv4"),
          .init("port", .integer(Int(target.port))), .init("pt", .integer(type)),
          .init("ssrc", .integer(Int(source))),
        ] + more)
    }
    // Janus sends RTCP nowhere; it opens a port on which it receives requests for keyframes.
    let feedback = JSONValue.Member("rtcp_port", .integer(Int(target.port)))
    var streams = [
      stream(media.videoID, AcceptedMedia.videoType, target.videoSource, [feedback])
    ]
    if let audioID = media.audioID {
      streams.append(stream(audioID, AcceptedMedia.audioType, target.audioSource, []))
    }
    return [
      "request": "rtp_forward", "room": room, "secret": .string(secret),
      "publisher_id": publisher, "host": "127.0.0.1", "host_family": "ipv4",
      "streams": .array(streams),
    ]
  }

  /// Passes on candidates.
  func trickle(_ candidates: [JSONValue]) async throws(JanusError) {
    try await janus.trickle(candidates)
  }

  /// Restarts ICE with new credentials of the publisher, whose address has changed. The ETag changes. Returns Janus'
  /// credentials and candidates as a fragment (RFC 8840).
  ///
  /// - Throws: `JanusError`.
  func restart(_ credentials: ICECredentials) async throws(JanusError) -> String {
    let (_, answer) = try await janus.negotiate(
      ["request": "configure"], offer: offer.text(with: credentials), trickles: true)
    guard let fragment = AcceptedMedia(answer: answer)?.fragment else {
      throw .noAnswer("the answer has no ICE credentials")
    }
    state.withLock { $0.etag = Self.makeTag() }
    return fragment
  }

  // MARK: - End

  /// Disconnects the publisher and destroys the room. Returns when that is done. May be called more than once.
  ///
  /// - Parameter reason: What the session reports; `nil` if the publisher has ended the stream.
  func end(because reason: String? = nil) async {
    let (task, isFirst, hasBegun) = state.withLock { state in
      if let ending = state.ending { return (ending, false, false) }
      let task = Task { await self.disconnect() }
      state.ending = task
      return (task, true, state.hasBegun)
    }
    if isFirst, hasBegun { feed.end(because: reason) }
    await task.value
  }

  private func disconnect() async {
    let (room, mayHaveRoom) = state.withLock { ($0.room, $0.mayHaveRoom) }
    var isDestroyed = !mayHaveRoom
    if let room {
      do throws(JanusError) {
        _ = try await janus.request(
          ["request": "destroy", "room": room, "secret": .string(secret)])
        isDestroyed = true
      } catch {
        // A restart of Janus has destroyed it.
        isDestroyed = error.isGone
      }
    }
    await janus.close()
    didEnd(isDestroyed)
  }
}
