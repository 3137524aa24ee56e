internal import UprightPolicy
internal import Upright

/// Creates sessions from requests: resolves and checks addresses, binds ports and creates folders.
struct SessionFactory: Sendable {
  let makeSession: MakeSession
  let resolver: any Resolver
  let proxy: EgressProxy
  let acceptor: PublishAcceptor
  let folders: DataFolders
  /// The WebRTC server; `nil` if there is none.
  let webrtc: WebRTCServer?
  /// The HTTP origin for sessions that may move; `nil` if there is none.
  let origin: OriginClient?
  /// The longest duration of a part, in seconds.
  let partSeconds: Double

  /// The duration of a segment that a request asks for, in seconds.
  private func segmentSeconds(of request: SessionRequest) -> Double? {
    request.options["segment"] == nil ? nil : request.transcode.segmentDuration
  }

  /// Makes a session that hasn't started.
  ///
  /// - Throws: `Refusal` if an address isn't allowed, `Problem` if a name or a port is in use.
  func open(
    _ request: SessionRequest, id: String, in sessions: Sessions
  ) async throws -> HostedSession {
    let key = try publishKey(request.input)
    var secrets = [key.text]
    let feed = PublishedFeed()
    let whip = try whipInput(request.input, id: id)
    let input = try await input(
      request.input, id: id, feed: feed, whip: whip, rules: sessions.rules, &secrets)
    let store = try hlsStore(of: request, id: id, sessions)
    let outputs = HostedOutputs(
      session: id, hls: store?.address, segment: segmentSeconds(of: request))
    var configuration = LiveConfiguration(
      input: input,
      outputs: try await targets(request, id: id, rules: sessions.rules, &secrets),
      policy: request.policy, options: request.transcode)
    configuration.outputIDs = try ids(of: request, in: outputs)
    configuration.hlsStore = store.map { ($0.epoch, $0.make) }
    try set(request, id: id, in: &configuration, &secrets)
    let session = try makeSession(configuration, SessionFolders(all: folders, session: id))
    session.prioritize(request.priority)
    let route = PublishRoutes.Route(session: id, feed: feed) { [weak sessions] () throws(Problem) in
      _ = try sessions?.admitPublisher(of: id)
    }
    var claim: PublishAcceptor.Claim?
    if case .publisher(let url) = request.input {
      claim = try await acceptor.claim(url, path: key.path, for: .session(route))
    }
    var admission: (template: String, route: PublishRoutes.Route)?
    if case .admitted(_, let template, _) = request.input { admission = (template, route) }
    for secret in secrets {
      if secret == key.text, key.text == id || key.text.utf8.count < Sessions.shortestKey {
        sessions.secrets.add(inURLs: secret)
      } else {
        sessions.secrets.add(secret)
      }
    }
    return HostedSession(
      id, session, request,
      input: HostedInput(
        description: description(request.input), publishKey: key.text, secrets: secrets,
        claim: claim, admission: admission,
        publish: publishAddress(request.input, path: key.path),
        sample: request.input == .sample ? SamplePublisher(feed) : nil, whip: whip),
      outputs: outputs, playback: request.playback ?? sessions.defaultPlayback,
      origin: configuration.lowLatency?.origin)
  }

  /// Returns the id of each output. Those that were given come before those that are generated.
  private func ids(of request: SessionRequest, in outputs: HostedOutputs) throws -> [String] {
    var ids = request.outputs.map { _ in "" }
    for isGiven in [true, false] {
      for (index, output) in request.outputs.enumerated()
      where (request.outputIDs[index] != nil) == isGiven {
        ids[index] = try outputs.reserve(output, id: request.outputIDs[index])
      }
    }
    return ids
  }

  private func targets(
    _ request: SessionRequest, id: String, rules: AddressRules, _ secrets: inout [String]
  ) async throws -> [LiveOutput] {
    var targets: [LiveOutput] = []
    for output in request.outputs {
      targets.append(try await self.output(output, id: id, rules: rules, &secrets))
    }
    return targets
  }

  /// Sets what a request says besides its input, its outputs and its policy.
  private func set(
    _ request: SessionRequest, id: String, in configuration: inout LiveConfiguration,
    _ secrets: inout [String]
  ) throws {
    configuration.outputCanvases = request.outputCanvases
    configuration.limits.outputs = SessionRequest.maxOutputs
    switch request.input {
    case .pull(let url) where url.isHTTP:
      let secret = Secrets.make()
      secrets.append(secret)
      configuration.httpProxy = proxy.admit(id, secret: secret)
      guard configuration.httpProxy != nil else { throw Problem.draining() }
    case .file(_, _, let repeats): configuration.repeatsFile = repeats
    case .admitted, .sample: configuration.waitsForPublisher = false
    default: break
    }
    if let seconds = request.inputTimeout { configuration.inputTimeout = seconds }
    if let seconds = segmentSeconds(of: request) {
      configuration.segmentSeconds = seconds
    }
    if request.isLowLatency {
      configuration.lowLatency = LowLatencyHLS(partSeconds: partSeconds)
    }
  }

  /// Releases the session's stream path and its access to the egress proxy, and disconnects its publisher.
  func close(_ hosted: HostedSession) async {
    if let claim = hosted.input.claim { await acceptor.release(claim) }
    await hosted.input.whip?.end()
    hosted.input.sample?.end()
    proxy.dismiss(hosted.id)
  }

  /// Returns the publish key and the stream path. The key is the last component of a publisher's path; a new
  /// one is generated if the path of RTMP has only one component or the input has no publisher.
  ///
  /// - Throws: `Refusal` if the key could be guessed by others than programs of this machine.
  private func publishKey(
    _ input: SessionRequest.Input
  ) throws(Refusal) -> (text: String, path: String) {
    let made = Secrets.make()
    if case .admitted(_, _, let key) = input { return (key.isEmpty ? made : key, "") }
    guard case .publisher(let url) = input else { return (made, "") }
    let parts = url.streamPath
    guard parts.count >= 2 || url.scheme == "srt", let key = parts.last else {
      return (made, (parts + [made]).joined(separator: "/"))
    }
    guard key.utf8.count >= Sessions.shortestKey || url.isLoopback else {
      throw Refusal("the publish key is shorter than \(Sessions.shortestKey) characters")
    }
    return (key, parts.joined(separator: "/"))
  }

  /// Returns where a publisher connects; `nil` if nobody has to be told.
  private func publishAddress(_ input: SessionRequest.Input, path: String) -> PublishAddress? {
    switch input {
    case .publisher(let url): PublishAddress(url, path: path)
    case .listener(let url): PublishAddress(url, path: "")
    default: nil
    }
  }

  /// Returns the publisher's side of a WHIP input; `nil` for other inputs.
  private func whipInput(
    _ input: SessionRequest.Input, id: String
  ) throws(Refusal) -> WHIPInput? {
    guard case .whip(let bitrate) = input else { return nil }
    guard let webrtc else {
      throw Refusal("input: whip needs a WebRTC server; start the service with --webrtc")
    }
    return WHIPInput(webrtc, session: id, bitrate: bitrate)
  }

  /// Returns where the HLS of a session with an epoch goes; `nil` for other sessions.
  ///
  /// - Throws: `Refusal` if it can't be in an HTTP origin.
  private func hlsStore(
    of request: SessionRequest, id: String, _ sessions: Sessions
  ) throws(Refusal) -> (address: String, epoch: Int, make: @Sendable () -> any HLSStore)? {
    guard let epoch = request.epoch else { return nil }
    guard let origin else {
      guard !request.outputs.contains(.hls) else {
        throw Refusal(
          "epoch: the HLS of a session that may move needs an origin; start the service with --hls-origin"
        )
      }
      return nil
    }
    guard !request.isLowLatency else {
      throw Refusal("latency: the parts of a session with an epoch would not be in the origin")
    }
    guard (request.playback ?? sessions.defaultPlayback) == .open else {
      throw Refusal("playback: must be open with an epoch; protect the origin itself")
    }
    let mark = WriterMark(
      epoch: epoch, id: String(UInt64.random(in: .min ... .max), radix: 36))
    return (
      OriginStore.address(origin, id), epoch,
      { OriginStore(origin, session: id, mark: mark) }
    )
  }

  // MARK: - Addresses

  private func input(
    _ input: SessionRequest.Input, id: String, feed: PublishedFeed, whip: WHIPInput?,
    rules: AddressRules, _ secrets: inout [String]
  ) async throws -> LiveInput {
    switch input {
    case .publisher(let url):
      secrets += url.passphraseSecrets
      return .published(feed)
    case .admitted, .sample: return .published(feed)
    case .whip: return .forwarded(whip?.feed ?? ForwardedFeed())
    case .file(let path, _, _): return .file(path: path)
    case .rtp(let description): return .rtp(description: description)
    case .listener(let url):
      secrets += url.secrets
      return .pull(url: Self.listening(url))
    case .pull(let url):
      secrets += url.secrets
      return .pull(url: try await checked(url, rules))
    }
  }

  /// Returns the output with its checked address or its path. Adds its secrets to `secrets`.
  func output(
    _ output: SessionRequest.Output, id: String, rules: AddressRules, _ secrets: inout [String]
  ) async throws -> LiveOutput {
    switch output {
    case .hls: return .hls(folder: try folders.live(id))
    case .file(let name, let limits):
      return .recording(path: try folders.recording(name, of: id), limits: limits)
    case .push(let url):
      secrets += url.secrets
      return .push(url: try await checked(url, rules))
    }
  }

  /// Returns the URL with the host replaced by the checked address, so that the name isn't resolved again.
  /// TLS needs the name, so rtmps keeps it. http keeps it too: the egress proxy checks each hop.
  private func checked(_ url: StreamURL, _ rules: AddressRules) async throws -> String {
    if url.isHTTP { return url.text }
    let addresses = try await resolver.addresses(of: url.host)
    for address in addresses { try rules.check(address, for: url.scheme) }
    guard let address = addresses.first else { throw Refusal("\(url.host) has no address") }
    return url.scheme == "rtmps" ? url.text : url.text(at: address)
  }

  /// Returns the URL with a literal address, because a port is bound to an address, and with `mode=listener`
  /// for srt.
  private static func listening(_ url: StreamURL) -> String {
    var url = url
    if url.host == "localhost" { url.host = "127.0.0.1" }
    guard url.scheme == "srt", url.queryValue("mode") == nil else { return url.text }
    return url.text + (url.query == nil ? "?" : "&") + "mode=listener"
  }

  // MARK: - Description

  /// Returns the requested input, without secrets.
  private func description(_ input: SessionRequest.Input) -> JSONValue {
    switch input {
    case .publisher(let url) where url.scheme != "srt" && url.streamPath.count < 2:
      ["url": .string(url.redacted + "/***"), "mode": "listen"]
    case .admitted(let url, _, _): ["url": .string(url.text), "mode": "listen"]
    case .publisher(let url), .listener(let url):
      ["url": .string(url.redacted), "mode": "listen"]
    case .pull(let url): ["url": .string(url.redacted), "mode": "pull"]
    case .file(_, let name, _): ["url": .string("file:\(name)"), "mode": "pull"]
    case .rtp: ["url": "rtp:", "mode": "listen"]
    case .whip: ["url": "whip:", "mode": "listen"]
    case .sample: ["url": "sample:", "mode": "pull"]
    }
  }
}
