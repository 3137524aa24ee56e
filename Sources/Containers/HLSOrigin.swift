package import Orientation
internal import Synchronization

/// The media playlists of one live session as an HTTP server answers requests for them: their latest text, their
/// latest parts, which are only in memory, and the requests that wait for the next ones.
///
/// The sinks of one session share one origin. Each publishes its media playlist under its file name; the others
/// appear in its rendition reports. A request that waits holds no thread.
public final class HLSOrigin: Sendable {
  /// A part of a media playlist: the sequence number of its segment, and its index in the segment.
  package struct Part: Sendable, Comparable {
    package let segment: Int
    package let index: Int

    package init(segment: Int, index: Int) {
      self.segment = segment
      self.index = index
    }

    package static func < (one: Part, other: Part) -> Bool {
      (one.segment, one.index) < (other.segment, other.index)
    }
  }

  /// The state of a media playlist after a part.
  package struct Edition: Sendable {
    /// The text without rendition reports, of the whole playlist and of a delta update; the second is `nil` if the
    /// update could not skip a segment.
    package var text: String
    package var delta: String?
    /// The sequence number of the last complete segment; one less than the first if there is none.
    package var lastSegment: Int
    /// The last part; `nil` before the first one of a run.
    package var lastPart: Part?
    /// The file name of the part that comes next, if that is certain.
    package var hint: String?
    /// EXT-X-TARGETDURATION and PART-TARGET, in seconds.
    package var targetDuration: Int
    package var partTarget: Double
    /// Whether no part follows.
    package var isEnded = false
  }

  /// The bytes of a part. Answers share them.
  public final class PartData: Sendable {
    public let bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
  }

  private struct Waiter: Sendable {
    let file: String
    /// Returns whether the wait is over.
    let isDone: @Sendable (State) -> Bool
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<Void, Never>
  }

  fileprivate struct State: Sendable {
    var editions: [String: Edition] = [:]
    var parts: [String: PartData] = [:]
    var waiters: [Int: Waiter] = [:]
    var made = 0
    var isSweeping = false
    /// Whether no sink publishes any more.
    var isClosed = false

    mutating func takeWaiters(where isOver: (Waiter) -> Bool) -> [Waiter] {
      let over = waiters.filter { isOver($0.value) }
      for id in over.keys { waiters[id] = nil }
      return Array(over.values)
    }
  }

  private let state = Mutex(State())

  /// Creates an origin without playlists.
  public init() {}

  // MARK: - The sinks

  /// Replaces the playlist `name`, and answers the requests that wait for it.
  ///
  /// - Parameters:
  ///   - part: The part that ends the edition, by file name.
  ///   - expired: The file names of parts that no player may request any more.
  package func publish(
    _ edition: Edition, as name: String, part: (file: String, bytes: [UInt8])?,
    expired: [String] = []
  ) {
    let over = state.withLock { state in
      state.editions[name] = edition
      if let part { state.parts[part.file] = PartData(part.bytes) }
      for file in expired { state.parts[file] = nil }
      state.isClosed = false
      let current = state
      return state.takeWaiters { $0.isDone(current) }
    }
    for waiter in over { waiter.continuation.resume() }
  }

  /// Ends all waits. The playlists and parts stay.
  package func close() {
    let over = state.withLock { state in
      state.isClosed = true
      return state.takeWaiters { _ in true }
    }
    for waiter in over { waiter.continuation.resume() }
  }
}
