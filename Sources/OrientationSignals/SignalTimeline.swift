/// What stood when: a list of runs of pictures in output order.
public struct SignalTimeline: Sendable, Hashable {
  /// Neighbouring pictures with the same signal.
  public struct Run: Sendable, Hashable {
    /// How many pictures came before the run's first.
    public let index: Int
    /// The PTS of the run's first picture, in ticks; nil where it had none.
    public let pts: Int64?
    /// What stands; nil for the stream-level value.
    public let signal: DisplayOrientationSignal?
  }

  /// The runs, in output order; no two neighbours are alike.
  public private(set) var runs: [Run] = []
  /// How many pictures there are in all.
  public private(set) var pictureCount = 0

  /// A timeline without pictures.
  public init() {}

  /// Whether any picture has a signal.
  public var hasSignals: Bool { runs.contains { $0.signal != nil } }

  /// Adds the next picture in output order. Amortised O(1).
  public mutating func append(pts: Int64?, signal: DisplayOrientationSignal?) {
    if runs.isEmpty || runs.last?.signal != signal {
      runs.append(Run(index: pictureCount, pts: pts, signal: signal))
    }
    pictureCount += 1
  }
}

/// Reads a whole stream's packets, undecoded, into a timeline of its display orientation SEI.
public struct DisplayOrientationScanner: Sendable {
  /// No picture comes out later than this many others that were decoded after it: 32 fields, twice.
  private static let reorderDepth = 64

  private var reader: AccessUnitReader
  private var order = PictureOrder()
  private var timeline = SignalTimeline()

  /// A scanner for one stream; see `DisplayOrientationTracker.init`.
  public init(codec: DisplayOrientationTracker.Codec, configuration: some Collection<UInt8>) {
    reader = AccessUnitReader(codec: codec, configuration: configuration)
  }

  /// Looks at one packet, in decoding order. O(size).
  public mutating func note(_ packet: Span<UInt8>, pts: Int64?) {
    guard let picture = reader.read(packet, pts: pts) else { return }
    order.add(picture, pts: pts)
    while order.count > Self.reorderDepth { settle() }
  }

  /// Looks at one packet, in decoding order.
  public mutating func note(_ packet: [UInt8], pts: Int64?) { note(packet.span, pts: pts) }

  /// Looks at one packet, in decoding order. The bytes are not kept.
  public mutating func note(_ packet: UnsafeRawBufferPointer, pts: Int64?) {
    unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      note(unsafe bytes.span, pts: pts)
    }
  }

  /// The timeline of all that was noted.
  public consuming func finish() -> SignalTimeline {
    while order.count > 0 { settle() }
    return timeline
  }

  private mutating func settle() {
    guard let (pts, values) = order.removeFirst() else { return }
    timeline.append(pts: pts, signal: values.map(DisplayOrientationSignal.init))
  }
}
