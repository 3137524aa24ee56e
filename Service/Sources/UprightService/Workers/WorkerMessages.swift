internal import Upright
internal import UprightOrientation
internal import UprightPolicy

/// What a worker is told. The first is `begin`.
enum WorkerOrder: Codable, Sendable {
  case begin(WorkerPlan)
  case call(Int, WorkerCall)
  case stop(comesBack: Bool)
  /// RTP of a publisher arrives at the socket that comes along.
  case forward(description: String, ForwardedFeed.Target)
  case keyframePort(UInt16)
  case forwardEnded(reason: String?)
  /// What the playlist's store needs: the text that follows an earlier one.
  case continueText(call: Int, earlier: String?)
  /// A call of the playlist's store has ended.
  case stored(call: Int, UprightError?)
}

/// What a worker is told on the stream of its publisher, besides its bytes.
enum PublisherOrder: Codable, Sendable {
  case began(PublishedFeed.Container)
  case ended(refusal: String?)
}

/// A call of `Session` that is made in the worker.
enum WorkerCall: Codable, Sendable {
  case post([StreamEvent])
  case change(LiveChange)
  case add(LiveOutput, id: String?, canvas: CanvasRule?)
  case startOutput(String)
  case stopOutput(String)
  case removeOutput(String)
  case listens(seconds: Double)
  case picture
  case policy
}

/// The result of a `WorkerCall`.
enum WorkerAnswer: Codable, Sendable {
  case decisions([RotationDecision])
  case applied(AppliedChange)
  case output(LiveOutputStatus)
  case listens(Bool)
  /// The bytes come along.
  case picture(PixelSize?)
  case policy(WorkerPolicy?)
  case failed(UprightError)
}

/// The policy and its state, as `/policy` shows them.
struct WorkerPolicy: Codable, Sendable {
  var document: PolicyDocument
  var state: String
}

/// What a worker tells, besides bytes alone: the number, in decimal, of packets of the publisher that it has taken.
enum WorkerReport: Codable, Sendable {
  /// The state of the session, and the time since the last packet of a publisher of RTP.
  case snapshot(LiveSnapshot, silence: Double?)
  case update(LiveUpdate)
  case answer(Int, WorkerAnswer)
  /// The publisher with this number can't be used, with the reason that it gets, if there is one.
  case refused(publisher: Int, reason: String?)
  /// The bytes come along.
  case origin(HLSOrigin.Change)
  case store(Int, call: Int, WorkerStoreCall)
  /// The session has ended; with its policy.
  case ended(WorkerPolicy?)
}

extension WorkerReport {
  /// Whether its counts are in a range in which they can be added for years.
  var isPlausible: Bool {
    guard case .snapshot(let snapshot, _) = self else { return true }
    let all = snapshot.counters
    var counts = [
      all.framesIn, all.framesOut, all.formatChanges, all.inputLosses, all.bytesIn, all.bytesOut,
      all.queueDepth, all.restarts,
    ]
    counts += all.dropped.values
    for times in [all.decodeTimes, all.orientTimes, all.encodeTimes, all.eventToFrameTimes] {
      counts += times.counts
    }
    for output in snapshot.outputs {
      counts += [output.frames, output.bytes, output.dropped, output.failures, output.reconnects]
    }
    return counts.allSatisfy { (0...1 << 48).contains($0) }
  }
}

/// A call of an `HLSStore` that the service makes. The bytes of a file come along.
enum WorkerStoreCall: Codable, Sendable {
  case save(name: String)
  case claim(name: String)
  /// The text that `claim` needs.
  case continued(String)
  case publish(text: String, name: String)
  case remove(name: String)
  case abandon
}

/// A session's configuration as a worker needs it.
struct WorkerPlan: Codable, Sendable {
  enum Input: Codable, Sendable {
    case published
    case forwarded
    case pull(url: String)
    case file(path: String)
    case rtp(description: String)
  }

  var input: Input
  var outputs: [LiveOutput]
  var outputIDs: [String]
  var outputCanvases: [CanvasRule?]
  var repeatsFile: Bool
  var policy: PolicyDocument
  /// The options by their names, as JSON.
  var options: String
  var segmentSeconds: Double
  /// The longest duration of a part with low latency.
  var partSeconds: Double?
  var inputTimeout: Double
  var waitsForPublisher: Bool
  var httpProxy: String?
  /// The epoch and the address of the stores of an HLS output.
  var storeEpoch: Int?
  var storeAddress: String
  var limits: LiveLimits
  /// The media time at the start; `nil` for the first worker.
  var startTime: Double?
  /// The events of the session so far, from which its policy has its state, and those that are still ahead.
  var events: [StreamEvent] = []
  /// The number of events whose decisions are known.
  var decided = 0
  /// What the worker may use of the system.
  var confinement: Confinement?
  /// The outputs that don't start.
  var stoppedOutputs: [String] = []

  /// - Throws: `usage` for what can't be passed to another process.
  init(_ configuration: LiveConfiguration) throws(UprightError) {
    switch configuration.input {
    case .published: input = .published
    case .forwarded: input = .forwarded
    case .pull(let url): input = .pull(url: url)
    case .file(let path): input = .file(path: path)
    case .rtp(let description): input = .rtp(description: description)
    case .datagrams, .packets:
      throw UprightError(.usage, "an input in memory can't be passed to a process")
    }
    outputs = configuration.outputs
    outputIDs = configuration.outputIDs
    outputCanvases = configuration.outputCanvases
    repeatsFile = configuration.repeatsFile
    policy = configuration.policy
    options = try configuration.options.named().compact
    segmentSeconds = configuration.segmentSeconds
    partSeconds = configuration.lowLatency?.partSeconds
    inputTimeout = configuration.inputTimeout
    waitsForPublisher = configuration.waitsForPublisher
    httpProxy = configuration.httpProxy
    storeEpoch = configuration.hlsStore?.epoch
    storeAddress = configuration.hlsStore?.make().address ?? ""
    limits = configuration.limits
  }

  /// The configuration in the worker, with this input.
  ///
  /// - Throws: `usage` for options that aren't valid, which the service has checked.
  func configuration(_ input: LiveInput) throws -> LiveConfiguration {
    var configuration = LiveConfiguration(
      input: input, outputs: outputs, policy: policy,
      options: try TranscodeOptions(json: JSONValue(parsing: options.utf8)))
    configuration.outputIDs = outputIDs
    configuration.outputCanvases = outputCanvases
    configuration.repeatsFile = repeatsFile
    configuration.segmentSeconds = segmentSeconds
    configuration.inputTimeout = inputTimeout
    configuration.startTime = startTime
    configuration.waitsForPublisher = waitsForPublisher
    configuration.httpProxy = httpProxy
    configuration.limits = limits
    return configuration
  }
}
