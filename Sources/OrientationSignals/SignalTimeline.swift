/// The signals of a stream over time: a list of runs of frames in output order.
package struct SignalTimeline: Sendable, Hashable {
  /// Consecutive frames with the same signal.
  package struct Run: Sendable, Hashable {
    /// The number of frames before the run's first.
    package let index: Int
    /// The PTS of the run's first frame, in ticks; `nil` if it has none.
    package let pts: Int64?
    /// The signal; `nil` for the stream-level value.
    package let signal: DisplayOrientationSignal?
  }

  /// The runs, in output order. Adjacent runs differ.
  package private(set) var runs: [Run] = []
  /// The total number of frames.
  package private(set) var pictureCount = 0

  /// Creates an empty timeline.
  package init() {}

  /// Whether any frame has a signal.
  package var hasSignals: Bool { runs.contains { $0.signal != nil } }

  /// Appends the next frame in output order. Amortised O(1).
  package mutating func append(pts: Int64?, signal: DisplayOrientationSignal?) {
    if runs.isEmpty || runs.last?.signal != signal {
      runs.append(Run(index: pictureCount, pts: pts, signal: signal))
    }
    pictureCount += 1
  }
}

/// Builds the timeline of display orientation SEI from the packets of a whole stream, without
/// decoding them.
package struct DisplayOrientationScanner: Sendable {
  /// The largest number of pictures decoded after a picture and output before it: 32 fields, twice.
  private static let reorderDepth = 64

  private var reader: AccessUnitReader
  private var order = PictureOrder()
  private var timeline = SignalTimeline()

  /// Creates a scanner for one stream; see `DisplayOrientationTracker.init`.
  package init(codec: DisplayOrientationTracker.Codec, configuration: some Collection<UInt8>) {
    reader = AccessUnitReader(codec: codec, configuration: configuration)
  }

  /// Processes one packet, in decoding order. O(size).
  package mutating func note(_ packet: Span<UInt8>, pts: Int64?) {
    guard let picture = reader.read(packet, pts: pts) else { return }
    order.add(picture, pts: pts)
    while order.count > Self.reorderDepth { settle() }
  }

  /// Processes one packet, in decoding order.
  package mutating func note(_ packet: [UInt8], pts: Int64?) { note(packet.span, pts: pts) }

  /// Processes one packet, in decoding order. The bytes are not retained.
  package mutating func note(_ packet: UnsafeRawBufferPointer, pts: Int64?) {
    unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      note(unsafe bytes.span, pts: pts)
    }
  }

  /// Returns the timeline of all packets processed.
  package consuming func finish() -> SignalTimeline {
    while order.count > 0 { settle() }
    return timeline
  }

  private mutating func settle() {
    guard let (pts, values) = order.removeFirst() else { return }
    timeline.append(pts: pts, signal: values.map(DisplayOrientationSignal.init))
  }
}
