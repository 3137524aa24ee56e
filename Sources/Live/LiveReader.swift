internal import UprightOrientation
internal import Synchronization
internal import UprightIntake
internal import UprightMediaIO
internal import UprightPipeline

/// The items that the input thread passes to the session thread.
enum LiveItem: ~Copyable {
  /// A stream was opened.
  case opened(hasAudio: Bool, frameRate: Double?)
  /// A frame with its timestamp in ticks of `LiveClock`, and its orientation signal.
  case frame(VideoFrame, OrientationSignal?)
  /// Audio samples, and the publisher's timestamp of the first one in ticks of `LiveClock`.
  case audio(AudioFrame, at: Int64)
  /// The stream ended or failed; it may return.
  case lost(String)
  /// The input ended and is not reopened; with the error if it failed.
  case ended(UprightError?)
}

/// Reads the input of a live session on its own thread: opens it, decodes it, passes frames on, and reopens
/// it after a loss with increasing delays.
///
/// Sendable by handover: it is created on one thread and runs on another.
final class LiveReader: @unchecked Sendable {
  /// Counters of the input.
  struct Counters: Sendable {
    var frames = 0
    var bytes = 0
    /// The number of packets that could not be read or decoded.
    var damaged = 0
    /// The number of video packets that have arrived.
    var arrived = 0
    /// The number of frames that were not decoded because the session was too slow.
    var shed = 0
    /// The time spent waiting for the input, in seconds.
    var waited = 0.0
    /// Whether a packet is being decoded or passed on.
    var isBusy = false
    /// The decoding time of each packet, in seconds.
    var times = DurationHistogram()
  }

  private let input: LiveInput
  /// Whether a file is read again from its start when it ends.
  private let repeats: Bool
  private let proxy: String?
  private let pixels: Int
  private let audioFormat: AudioFormat
  private let interrupt: Interrupt
  private let queue: BoundedQueue<LiveItem>
  private let counters = Mutex(Counters())
  private let sheds = Atomic(false)
  private var isWanted = true
  /// The pipe of the publisher whose stream is being read.
  private var pipe: BytePipe?
  /// The same of a publisher whose RTP is forwarded.
  private var connection: ForwardedConnection?
  /// Whether the last stream that was opened over http is complete: a file, or a playlist that has ended.
  private var isComplete = false

  /// The delay before the input is reopened, in seconds: the first and the largest.
  private static let backOff = (first: 0.25, last: 5.0)

  /// Added to the times of a file that is read again, in ticks of `LiveClock`.
  private var shift: Int64 = 0
  /// The times of the first frame of this reading of a file, and of the end of its last one, both shifted.
  private var span: (start: Int64, end: Int64)?

  /// - Parameters:
  ///   - repeats: Whether a file is read again from its start when it ends.
  ///   - proxy: The proxy for an http input.
  ///   - pixels: The largest number of pixels in a frame.
  ///   - audioFormat: The format of the decoded audio.
  init(
    _ input: LiveInput, repeats: Bool = false, proxy: String?, pixels: Int,
    audioFormat: AudioFormat,
    interrupt: Interrupt, queue: BoundedQueue<LiveItem>
  ) {
    self.input = input
    self.repeats = repeats
    self.proxy = proxy
    self.pixels = pixels
    self.audioFormat = audioFormat
    self.interrupt = interrupt
    self.queue = queue
  }

  var currentCounters: Counters { counters.withLock { $0 } }

  /// Sets whether frames that no other frame refers to are skipped before decoding. Callable from any thread.
  func shed(_ sheds: Bool) { self.sheds.store(sheds, ordering: .relaxed) }

  /// Reads until the input ends or the session is interrupted.
  func run() {
    var wait = Self.backOff.first
    while isWanted && !interrupt.isRaised {
      let before = currentCounters.frames
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
      if case .published(let feed) = input, let pipe = pipe.take() { feed.refuse(pipe) }
      if case .forwarded(let feed) = input, let connection = connection.take() {
        feed.refuse(connection)
      }
      if repeats, case .file = input, failure == nil, continueFile() { continue }
      if hasEnded(after: failure) {
        put(.ended(failure))
        break
      }
      var reason = failure?.description ?? "the input ended"
      if case .published(let feed) = input, let refusal = feed.takeRefusal() { reason = refusal }
      if case .forwarded(let feed) = input, let given = feed.takeReason() { reason = given }
      put(.lost(reason))
      if currentCounters.frames > before { wait = Self.backOff.first }
      guard case .pull = input else { continue }
      interrupt.wait(until: .now + .seconds(wait))
      // A sender that connects to this process must find it listening.
      if !input.awaitsSender { wait = min(wait * 2, Self.backOff.last) }
    }
    input.close()
    queue.close()
  }

  /// Makes the next reading of a file begin where this one ended. Returns `false` if it had no frame.
  private func continueFile() -> Bool {
    guard let span, span.end > span.start else { return false }
    shift = Int64(clamping: Int128(shift) + Int128(span.end) - Int128(span.start))
    self.span = nil
    return true
  }

  /// Returns a time of a file that may be read again, in ticks of `LiveClock`.
  private func shifted(_ time: Int64) -> Int64 { Int64(clamping: Int128(time) + Int128(shift)) }

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
      guard let pipe = feed.next(interrupt) else { return nil }
      self.pipe = pipe
      return try Demuxer(
        pipe: pipe, format: "flv", name: "the publisher's stream",
        settings: bounded(Self.flvSettings),
        interrupt: interrupt)
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
    case "srt", "udp", "tcp":
      settings["probesize"] = "1000000"
      settings["analyzeduration"] = "1000000"
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

  /// - Parameter opening: When opening `source` began.
  private func read(
    _ source: any PacketSource, since opening: ContinuousClock.Instant
  ) throws(UprightError) {
    guard let video = source.bestStream(.video) else {
      throw UprightError(.badData, "the stream has no video", at: source.url)
    }
    try source.checkReadable()
    try LiveCodecs.check(video, at: source.url)
    let videoReader = try LiveVideoReader(source, video, pixels: pixels)
    let audioReader = LiveAudioReader(source, as: audioFormat)
    source.select(Set([video.index, audioReader?.index].compactMap(\.self)))
    put(.opened(hasAudio: audioReader != nil, frameRate: video.frameRate?.doubleValue))
    var pacer = isPaced ? PacketPacer(interrupt, since: opening) : nil
    var failures = 0
    defer { counters.withLock { $0.isBusy = false } }
    while isWanted {
      do throws(UprightError) {
        let start = ContinuousClock.now
        counters.withLock { $0.isBusy = false }
        guard let packet = try source.read() else { break }
        failures = 0
        pacer?.wait(for: packet)
        counters.withLock {
          $0.waited += start.secondsUntilNow
          $0.bytes += packet.size
          $0.isBusy = packet.streamIndex == video.index
          if $0.isBusy { $0.arrived += 1 }
        }
        videoReader.note(packet)
        if packet.streamIndex == video.index {
          videoReader.sheds = sheds.load(ordering: .relaxed)
          try decode { () throws(UprightError) in try videoReader.take(packet, pass) }
          counters.withLock { $0.shed += videoReader.takeShed() }
        } else if packet.streamIndex == audioReader?.index {
          try audioReader?.take(packet) { samples, time in put(.audio(samples, at: shifted(time))) }
        } else if source.isVideo(stream: packet.streamIndex) {
          // Reopening the input detects its present streams.
          throw UprightError(
            .inputOutput, "the video continues in another codec or stream", at: source.url)
        }
      } catch {
        guard error.code == .badData, failures < 100 else { throw error }
        failures += 1
        counters.withLock { $0.damaged += 1 }
      }
    }
    try videoReader.finish(pass)
    counters.withLock { $0.damaged += videoReader.damagedPackets }
  }

  private func decode(_ body: () throws(UprightError) -> Void) throws(UprightError) {
    let (start, waited) = (ContinuousClock.now, secondsBlocked)
    try body()
    let seconds = start.secondsUntilNow - (secondsBlocked - waited)
    counters.withLock { $0.times.add(seconds) }
  }

  /// The time spent waiting for the session to take decoded frames, in seconds.
  private var secondsBlocked = 0.0

  private func pass(_ frame: consuming VideoFrame, _ signal: OrientationSignal?) {
    if repeats, let time = frame.pts.map(shifted) {
      frame.pts = time
      // A frame without a duration lasts as long as the step to it.
      let step = frame.duration > 0 ? frame.duration : max(1, time - (span?.end ?? time))
      let end = Int64(clamping: Int128(time) + Int128(step))
      span = (span?.start ?? time, max(span?.end ?? end, end))
    }
    counters.withLock { $0.frames += 1 }
    let start = ContinuousClock.now
    put(.frame(frame, signal))
    secondsBlocked += start.secondsUntilNow
  }

  private func put(_ item: consuming sending LiveItem) {
    isWanted = queue.put(item) && isWanted
  }
}
