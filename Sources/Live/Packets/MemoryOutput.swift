internal import UprightMedia

/// An output of a live session in memory, for one reader: an asynchronous sequence of what the session writes.
/// It ends with the session.
///
/// Bounded. If nobody reads it, the session drops packets of this output up to the next keyframe, as for any
/// slow output. The others are not delayed.
public final class MemoryOutput<Element: Sendable>: AsyncSequence, Sendable {
  let queue: TaskQueue<Element>

  /// Creates an output for one session.
  ///
  /// - Parameter capacity: The number of elements that may wait for the reader.
  public init(capacity: Int = 64) { queue = TaskQueue(capacity: capacity) }

  /// Reads the elements in order.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let queue: TaskQueue<Element>

    /// Returns the next element; `nil` at the end, if the task is cancelled, and while another task waits for
    /// one: an output has one reader.
    public func next() async -> Element? { try? await queue.next() }

    /// Returns the next element. See `next()`.
    public func next(isolation actor: isolated (any Actor)?) async -> Element? {
      try? await queue.next()
    }
  }

  /// Returns an iterator over the elements that have not been read.
  public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }
}

extension MemoryOutput: Hashable {
  /// Returns whether both are the same object.
  public static func == (a: MemoryOutput, b: MemoryOutput) -> Bool { a === b }

  /// Hashes the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// An element of a live session's encoded packets.
public enum LivePacket: Sendable {
  /// The packets from here on have this format. The audio's doesn't change.
  case format(VideoDescription, AudioDescription)
  /// A packet of the video or of the audio track, in decoding order.
  case packet(EncodedPacket)
}

/// An element of a live session's segments (RFC 8216, 3).
public enum LiveSegment: Sendable {
  /// The segments from here on have this format: a discontinuity. The bytes are their initialization segment;
  /// `nil` if segments need none.
  case format(VideoDescription, [UInt8]?)
  /// A segment. It begins with a keyframe at `start` seconds of media time and lasts `duration` seconds.
  case segment([UInt8], start: Double, duration: Double)
}
