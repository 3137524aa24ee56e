@testable import UprightSignals

/// The signals of a stream over time: a list of runs of frames in output order.
struct SignalTimeline: Sendable, Hashable {
  /// Consecutive frames with the same signal.
  struct Run: Sendable, Hashable {
    /// The number of frames before the run's first.
    let index: Int
    /// The PTS of the run's first frame, in ticks; `nil` if it has none.
    let pts: Int64?
    /// The signal; `nil` for the stream-level value.
    let signal: DisplayOrientationSignal?
  }

  /// The runs, in output order. Adjacent runs differ.
  private(set) var runs: [Run] = []
  /// The total number of frames.
  private(set) var pictureCount = 0

  /// Whether any frame has a signal.
  var hasSignals: Bool { runs.contains { $0.signal != nil } }

  /// Appends the next frame in output order. Amortised O(1).
  mutating func append(pts: Int64?, signal: DisplayOrientationSignal?) {
    if runs.isEmpty || runs.last?.signal != signal {
      runs.append(Run(index: pictureCount, pts: pts, signal: signal))
    }
    pictureCount += 1
  }
}

/// Builds the timeline of display orientation SEI from the packets of a whole stream, without
/// decoding them.
struct DisplayOrientationScanner: Sendable {
  /// The largest number of pictures decoded after a picture and output before it: 32 fields, twice.
  private static let reorderDepth = 64

  private var reader: AccessUnitReader
  private var order = PictureOrder()
  private var timeline = SignalTimeline()

  /// Creates a scanner for one stream; see `DisplayOrientationTracker.init`.
  init(codec: DisplayOrientationTracker.Codec, configuration: some Collection<UInt8>) {
    reader = AccessUnitReader(codec: codec, configuration: configuration)
  }

  /// Processes one packet, in decoding order.
  mutating func read(_ packet: [UInt8], pts: Int64?) {
    guard let picture = reader.read(packet.span, pts: pts) else { return }
    order.add(picture, pts: pts)
    while order.count > Self.reorderDepth { settle() }
  }

  /// Returns the timeline of all packets processed.
  consuming func finish() -> SignalTimeline {
    while order.count > 0 { settle() }
    return timeline
  }

  private mutating func settle() {
    guard let (pts, values) = order.removeFirst() else { return }
    timeline.append(pts: pts, signal: values.map(DisplayOrientationSignal.init))
  }
}
