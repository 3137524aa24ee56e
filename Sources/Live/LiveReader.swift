internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// Reads the input of a live session on its own thread: opens it, passes its packets on, and reopens it after a loss
/// with increasing delays.
///
/// Sendable by handover: it is created on one thread and runs on another.
final class LiveReader: @unchecked Sendable {
  private let input: LiveInput
  /// Whether a file is read again from its start when it ends.
  private let repeats: Bool
  private let proxy: String?
  private let pixels: Int
  private let audioFormat: AudioFormat
  private let interrupt: Interrupt
  private let packets: ArrivedPackets
  private var isWanted = true
  /// The pipe of the publisher whose stream is being read.
  private var pipe: BytePipe?
  /// The same of a publisher whose RTP is forwarded.
  private var connection: ForwardedConnection?
  /// Whether the last stream that was opened over http is complete: a file, or a playlist that has ended.
  private var isComplete = false

  /// Whether the session was told that this stream has no video yet.
  private var hasSaidNoVideo = false

  /// The delay before the input is reopened, in seconds: the first and the largest.
  private static let backOff = (first: 0.25, last: 5.0)

  /// - Parameters:
  ///   - repeats: Whether a file is read again from its start when it ends.
  ///   - proxy: The proxy for an http input.
  ///   - pixels: The largest number of pixels in a frame.
  ///   - audioFormat: The format of the decoded audio.
  init(
    _ input: LiveInput, repeats: Bool = false, proxy: String?, pixels: Int,
    audioFormat: AudioFormat,
    interrupt: Interrupt, packets: ArrivedPackets
  ) {
    self.input = input
    self.repeats = repeats
    self.proxy = proxy
    self.pixels = pixels
    self.audioFormat = audioFormat
    self.interrupt = interrupt
    self.packets = packets
  }

  private var arrived: Int { packets.counted.arrived }

  /// Reads until the input ends or the session is interrupted.
  func run() {
    var wait = Self.backOff.first
    while isWanted && !interrupt.isRaised {
      let before = arrived
      let opening = ContinuousClock.now
      var failure: UprightError?
      do throws(UprightError) {
        guard let source = try open() else { continue }
        if case .pull(let url) = input, ["http", "https"].contains(InputTrust.scheme(of: url)) {
          isComplete = source.container.isComplete
        }
        // What was read while it grew, or once already, would be read again from its start.
        if !isComplete || before == 0 { try read(source, since: opening) }
      } catch {
        failure = error
        if case .pull(let url) = input { failure = LiveAddress.masked(error, url) }
      }
      if interrupt.isRaised { break }
      if case .published(let feed) = input, let pipe = pipe.take() {
        feed.refuse(pipe, because: failure?.message)
      }
      if case .forwarded(let feed) = input, let connection = connection.take() {
        feed.refuse(connection)
      }
      if repeats, case .file = input, failure == nil, arrived > before {
        put(.repeated)
        continue
      }
      if hasEnded(after: failure) {
        put(.ended(failure))
        break
      }
      var reason = failure?.description ?? "the input ended"
      if case .published(let feed) = input, let refusal = feed.takeRefusal() { reason = refusal }
      if case .forwarded(let feed) = input, let given = feed.takeReason() { reason = given }
      put(.lost(reason))
      if arrived > before { wait = Self.backOff.first }
      guard case .pull = input else { continue }
      interrupt.wait(until: .now + .seconds(wait))
      // A sender that connects to this process must find it listening.
      if !input.awaitsSender { wait = min(wait * 2, Self.backOff.last) }
    }
    input.close()
    packets.close()
  }

  /// Returns whether reopening the input is pointless.
  private func hasEnded(after failure: UprightError?) -> Bool {
    switch input {
    case .file, .packets, .datagrams: true
    case .pull, .published, .forwarded:
      failure.map { $0.code == .unavailable || $0.code == .usage } ?? isComplete
    case .rtp: failure != nil
    }
  }

  /// Returns `nil` if there is no publisher and none is waited for any longer.
  private func open() throws(UprightError) -> (any PacketSource)? {
    switch input {
    case .pull(let url):
      return try Demuxer(url: url, settings: bounded(settings(url)), interrupt: interrupt)
    case .file(let path):
      return try openSource(path, interrupt: interrupt)
    case .published(let feed):
      guard let (pipe, container) = feed.next(interrupt) else { return nil }
      self.pipe = pipe
      switch container {
      case .flv: return try FLVSource(pipe, interrupt: interrupt)
      case .mpegts:
        packets.count { $0.surveyed = .now }
        defer { packets.count { $0.surveyed = nil } }
        return try Demuxer(
          transportStream: pipe, settings: bounded(Self.transportSettings), interrupt: interrupt)
      }
    case .forwarded(let feed):
      guard let connection = feed.next(interrupt) else {
        // A publisher that was refused before it could connect.
        if let reason = feed.takeReason() { put(.lost(reason)) }
        return nil
      }
      self.connection = connection
      return try RTPSource(
        connection.description, from: .forwarded(connection), interrupt: interrupt)
    case .rtp(let description):
      return try RTPSource(
        SessionDescription(description), from: .ports, interrupt: interrupt)
    case .datagrams(let feed): return try RTPSource(feed, interrupt: interrupt)
    case .packets(let feed): return MemorySource(feed)
    }
  }

  /// Adds the limits for decoders.
  private func bounded(_ settings: [String: String]) -> [String: String] {
    settings.merging(["max_pixels": "\(pixels)"]) { $1 }
  }

  /// Settings for FLV, which describes its streams at the start. `analyzeduration` is in microseconds of
  /// media time. At a low bitrate, `probesize` bytes would take ten seconds to arrive. An `analyzeduration`
  /// of 0 means 90 seconds.
  private static let flvSettings = [
    "probesize": "32768", "analyzeduration": "500000", "fpsprobesize": "3",
  ].merging(decoders) { $1 }

  /// Settings for a transport stream. At most this many bytes or microseconds are read before it is open.
  ///
  /// Everything waits until libavformat has guessed the codec of a private stream, by default from up to 2500 packets.
  private static let transportSettings = [
    "probesize": "1000000", "analyzeduration": "1000000", "max_probe_packets": "20",
  ].merging(decoders) { $1 }

  /// The codecs that libavformat may open to probe a stream.
  private static let decoders = ["codec_whitelist": LiveCodecs.names.joined(separator: ",")]

  /// Returns the settings for a URL, with a short probe and a timeout on every read.
  private func settings(_ url: String) -> [String: String] {
    var settings = Self.decoders
    // Microseconds.
    settings["rw_timeout"] = "5000000"
    switch InputTrust.scheme(of: url) {
    case "rtmp", "rtmps", "rtmpt", "rtmpe":
      settings.merge(Self.flvSettings) { $1 }
      settings["tls_verify"] = "1"
    case "rtsp", "rtsps":
      // Over UDP, the server's reply would determine where packets are sent. Use only the one TCP connection.
      settings["rtsp_transport"] = "tcp"
      settings["protocol_whitelist"] = "tcp,tls"
      settings["timeout"] = "5000000"
      // The tracks are in the description. By default, five seconds.
      settings["analyzeduration"] = "1000000"
    case "srt", "udp", "tcp":
      settings.merge(Self.transportSettings) { $1 }
      // Otherwise the socket is bound to every local address.
      if let end = LiveAddress.endpoint(url), InputTrust.scheme(of: url) == "udp",
        !UDPSocket.isGroup(end.host)
      {
        settings["localaddr"] = end.host
      }
    case "http", "https":
      // The default, five seconds, is what a session that moves to another machine would miss.
      settings["analyzeduration"] = "1000000"
      settings["http_proxy"] = proxy
      settings["tls_verify"] = "1"
    default: break
    }
    return settings
  }

  /// Whether packets can be read faster than real time, so that the reader must wait for their timestamps.
  private var isPaced: Bool {
    switch input {
    case .file: true
    case .pull(let url):
      switch InputTrust.scheme(of: url) {
      case nil, "file", "http", "https": true
      default: false
      }
    case .published, .forwarded, .rtp, .datagrams, .packets: false
    }
  }

  // MARK: - One stream

  /// - Throws: `inputOutput` if the video goes on in another codec, or the audio of an input that can be opened again at once.
  private func checkCodecs(
    of tracks: LiveTracks, in source: any PacketSource
  ) throws(UprightError) {
    guard let demuxer = source as? Demuxer else { return }
    var streams = [tracks.video]
    if case .pull = input { streams.append(tracks.audio) }
    for case let stream? in streams where demuxer.hasChangedCodec(stream) {
      throw UprightError(
        .inputOutput, "the stream continues in another codec", at: source.url)
    }
  }

  /// - Parameter opening: When opening `source` began.
  private func read(
    _ source: any PacketSource, since opening: ContinuousClock.Instant
  ) throws(UprightError) {
    let start = ContinuousClock.now
    hasSaidNoVideo = false
    try source.checkReadable()
    (source as? Demuxer)?.endAtOtherVideo()
    let tracks = try LiveTracks(source, pixels: pixels, format: audioFormat, packets)
    var pacer = isPaced ? PacketPacer(interrupt, since: opening) : nil
    var alignment =
      source.container.format == "rtsp"
      ? ArrivalAlignment(video: source.bestStream(.video)?.codecName) : nil
    var failures = 0
    var early: [PacketBox] = []
    let lostBefore = packets.counted.lost
    while isWanted {
      do throws(UprightError) {
        guard var packet = try source.read() else {
          try checkCodecs(of: tracks, in: source)
          break
        }
        failures = 0
        pacer?.wait(for: packet)
        try tracks.begin(with: packet)
        try checkCodecs(of: tracks, in: source)
        let isVideo = packet.streamIndex == tracks.video
        alignment?.align(&packet, isVideo: isVideo, arrival: start.duration(to: .now))
        packets.count {
          $0.bytes += packet.size
          $0.lost = lostBefore + source.lostPackets
          if isVideo { $0.arrived += 1 }
        }
        if packets.takeKeyframeRequest() { (source as? RTPSource)?.requestKeyframe() }
        if tracks.video != nil {
          for box in early {
            if let packet = box.take() {
              isWanted = packets.put(packet, isVideo: false) && isWanted
            }
          }
          early = []
          isWanted = packets.put(packet, isVideo: isVideo) && isWanted
        } else {
          if early.count < Self.earlyPackets { early.append(PacketBox(packet, format: nil)) }
          try waitForVideo(source, since: start)
        }
      } catch {
        guard error.code == .badData, tracks.video != nil, failures < 100 else { throw error }
        failures += 1
        packets.count { $0.damaged += 1 }
      }
    }
    if tracks.video == nil { throw Self.noVideo(source) }
  }

  /// How many packets that arrive before the video are kept, for the audio among them: more than come until the session gives up.
  private static let earlyPackets = 1024

  /// A camera may start seconds after its microphone. The session says that it waits after the first time, and gives up
  /// after the second, in seconds; after the first if the publisher declares audio alone.
  private static let videoTimeouts = (said: 2.0, given: 5.0)

  /// Called for each packet before the first of the video.
  ///
  /// - Parameter start: When reading began.
  private func waitForVideo(
    _ source: any PacketSource, since start: ContinuousClock.Instant
  ) throws(UprightError) {
    let seconds = start.secondsUntilNow
    guard seconds > Self.videoTimeouts.said else { return }
    let isDeclaredAbsent = (source as? FLVSource)?.declaresNoVideo == true
    if isDeclaredAbsent || seconds > Self.videoTimeouts.given { throw Self.noVideo(source) }
    if hasSaidNoVideo { return }
    hasSaidNoVideo = true
    put(.lost("the stream has no video yet"))
  }

  private static func noVideo(_ source: any PacketSource) -> UprightError {
    UprightError(.badData, "the stream has no video", at: source.url)
  }

  private func put(_ item: consuming sending ArrivedItem) {
    isWanted = packets.put(item) && isWanted
  }
}
