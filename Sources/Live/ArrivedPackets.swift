internal import DequeModule
internal import UprightMediaIO
internal import UprightOrientation

/// A moment of a live input: how often it was opened, and the newest presentation time of its video since then.
///
/// An event takes effect at the frame that was the newest to have arrived, however long that frame waits to be decoded.
struct ArrivalMark: Comparable, Sendable {
  /// The number of times that the input has been opened.
  var run = 0
  /// The publisher's timestamp, in ticks of `LiveClock`. The lowest before the first packet.
  var time = Int64.min

  /// Returns how much newer it is than `other`, in ticks; 0 if they are of different connections.
  func lead(over other: ArrivalMark) -> Int64 {
    guard run == other.run, time > other.time else { return 0 }
    return Int64(clamping: Int128(time) - Int128(other.time))
  }

  static func < (a: ArrivalMark, b: ArrivalMark) -> Bool { (a.run, a.time) < (b.run, b.time) }
}

/// What the reading thread passes to the decoding thread.
enum ArrivedItem: ~Copyable {
  /// The video of a stream begins: with the number of the stream's opening, and the time for which it was read to find
  /// its tracks.
  case video(LiveVideoReader, run: Int, lookAhead: Duration)
  /// The stream lists audio, which may come later.
  case audioAnnounced
  /// An audio track begins.
  case audio(LiveAudioReader)
  case packet(Packet)
  /// A file is read again from its start.
  case repeated
  /// The stream ended or failed; it may return.
  case lost(String)
  /// The input ended and is not reopened; with the error if it failed.
  case ended(UprightError?)
}

/// The packets that have arrived and aren't decoded yet. Reading never waits for decoding, as long as they are few.
final class ArrivedPackets: @unchecked Sendable {
  // Unchecked: everything below is accessed only while `condition` is locked.
  private let condition = WaitCondition()
  private var items = Deque<Box>()
  private var bytes = 0
  private var isClosed = false
  private var mark = ArrivalMark()
  /// The time of the last keyframe, in ticks, and the opening of the input that it belongs to.
  private var lastKeyframe: ArrivalMark?
  /// Whether video was to be skipped up to a keyframe, and there was none.
  private var wantsKeyframe = false
  /// The keyframe that was skipped to, until the next one. Frames that are shown before it refer to what was skipped, if its
  /// group of pictures is open.
  private var resumed: Int64?

  private var counters = LiveInputCounters()

  /// Further input waits in the network.
  private static let limit = (count: 4096, bytes: 8 << 20)
  /// A step back of the timestamps of more than this is a new timeline, in ticks. Frames are reordered by less.
  private static let jump = LiveClock.rate

  /// Queues hold no noncopyable elements.
  private final class Box {
    var item: ArrivedItem?
    let size: Int
    /// Whether it is a keyframe; `nil` if it is no video packet.
    let isKey: Bool?
    /// When the frame of a video packet is shown, in ticks of `LiveClock`; `nil` if that is unknown.
    let time: Int64?

    init(_ item: consuming ArrivedItem, size: Int, isKey: Bool?, time: Int64?) {
      self.item = consume item
      self.size = size
      self.isKey = isKey
      self.time = time
    }
  }

  /// The counters of both threads.
  var counted: LiveInputCounters { condition.withLock { counters } }

  /// Changes the counters.
  func count(_ body: (inout LiveInputCounters) -> Void) { condition.withLock { body(&counters) } }

  /// The newest video that has arrived.
  var newest: ArrivalMark { condition.withLock { mark } }

  /// The number of items that wait.
  var depth: Int { condition.withLock { items.count } }

  /// The input was opened. Returns the number of that.
  func open() -> Int {
    condition.withLock {
      mark = ArrivalMark(run: mark.run + 1)
      return mark.run
    }
  }

  /// Adds a packet, and waits for room before. Returns `false` if nobody takes it.
  func put(_ packet: consuming sending Packet, isVideo: Bool) -> Bool {
    let (size, isKey) = (packet.size, packet.isKey)
    guard isVideo else { return put(.packet(packet), size: size) }
    let time = (packet.pts ?? packet.dts).map {
      $0.rescaled(from: packet.timeBase, to: LiveClock.timeBase)
    }
    if let time, Int64.plausibleTicks.contains(time) {
      let isSkipped = condition.withLock {
        mark.time = mark.time > time + Self.jump ? time : max(mark.time, time)
        if isKey {
          noteKeyframe(ArrivalMark(run: mark.run, time: time))
          resumed = nil
        }
        guard isLeading(isKey: isKey, time) else { return false }
        counters.shed += 1
        return true
      }
      if isSkipped { return true }
    }
    return put(.packet(packet), size: size, video: isKey, time: time)
  }

  /// Whether a video packet belongs to the group that was skipped to and is shown before it.
  private func isLeading(isKey: Bool?, _ time: Int64?) -> Bool {
    guard isKey == false, let resumed, let time else { return false }
    return time < resumed && time > resumed - Self.jump
  }

  private func noteKeyframe(_ new: ArrivalMark) {
    if let last = lastKeyframe {
      let ticks = new.lead(over: last)
      if ticks > 0 { counters.keyframeInterval = Double(ticks) / Double(LiveClock.rate) }
    }
    lastKeyframe = new
  }

  /// Adds an item, and waits for room before. Returns `false` if nobody takes it.
  ///
  /// - Parameters:
  ///   - isKey: Whether a video packet is a keyframe; `nil` for anything else.
  ///   - time: When its frame is shown, in ticks of `LiveClock`.
  func put(
    _ item: consuming sending ArrivedItem, size: Int = 0, video isKey: Bool? = nil,
    time: Int64? = nil
  ) -> Bool {
    let box = Box(item, size: size, isKey: isKey, time: time)
    condition.lock()
    defer { condition.unlock() }
    condition.wait(
      while: !isClosed && !items.isEmpty
        && (items.count >= Self.limit.count || bytes >= Self.limit.bytes - size))
    if isClosed { return false }
    items.append(box)
    bytes += size
    condition.broadcast()
    return true
  }

  /// Waits for an item and returns it; `nil` at the end.
  func take() -> sending ArrivedItem? {
    condition.lock()
    defer { condition.unlock() }
    condition.wait(while: items.isEmpty && !isClosed)
    guard let box = items.popFirst() else { return nil }
    bytes -= box.size
    condition.broadcast()
    return box.item.take()
  }

  /// Discards the video before the newest keyframe that waits, and after it what is shown before it. The audio stays. If none
  /// waits, the reader asks the publisher for one, if it can. Returns whether there was any.
  func skipToNewestKeyframe() -> Bool {
    condition.withLock {
      guard let newest = items.lastIndex(where: { $0.isKey == true }) else {
        wantsKeyframe = true
        return false
      }
      guard items[..<newest].contains(where: { $0.isKey != nil }) else { return false }
      resumed = items[newest].time
      var kept = Deque<Box>()
      for (index, box) in items.enumerated() {
        if index < newest ? box.isKey == nil : !isLeading(isKey: box.isKey, box.time) {
          kept.append(box)
        } else {
          counters.shed += 1
          bytes -= box.size
        }
      }
      items = kept
      condition.broadcast()
      return true
    }
  }

  /// Returns whether a keyframe is to be asked for, once for each time that one is missing.
  func takeKeyframeRequest() -> Bool {
    condition.withLock {
      defer { wantsKeyframe = false }
      return wantsKeyframe
    }
  }

  /// Accepts no more items. Those that wait are still taken.
  func close() {
    condition.withLock {
      isClosed = true
      condition.broadcast()
    }
  }

  /// Accepts no more items, and discards those that wait.
  func refuse() {
    condition.withLock {
      isClosed = true
      items.removeAll()
      bytes = 0
      condition.broadcast()
    }
  }
}

/// Counters of a live input.
struct LiveInputCounters: Sendable {
  var frames = 0
  var bytes = 0
  /// The number of packets that could not be read or decoded.
  var damaged = 0
  /// The number of video packets that have arrived.
  var arrived = 0
  /// The number of packets that were skipped because the session was too slow.
  var shed = 0
  /// The number of packets of audio in codecs that aren't accepted.
  var refused = 0
  /// The number of packets that the network has lost.
  var lost = 0
  /// The time between the last two keyframes, in seconds; `nil` before the second.
  var keyframeInterval: Double?
  /// Since when a publisher's stream has been read to find its tracks; `nil` once they are known.
  var surveyed: ContinuousClock.Instant?
  /// Whether a packet is being decoded or passed on.
  var isBusy = false
  /// The decoding time of each packet, in seconds.
  var times = DurationHistogram()
}
