internal import CUprightSRT
internal import Foundation
internal import NIOCore
internal import Synchronization
internal import Upright

/// A publisher that is connected to an SRT port and has been let in. One thread passes its stream on.
///
/// While the feed has no room, nothing is read. SRT's own buffer fills then, and SRT drops what doesn't fit.
final class SRTPublisher: Sendable {
  private struct State {
    var lastArrival = NIODeadline.now()
    /// Whether the feed has no room.
    var isHeld = false
    var isReplaced = false
    /// The number of packets that SRT has dropped, because they were late or had no room.
    var dropped = 0
  }

  private let socket: SRTSOCKET
  private let feed: PublishedFeed
  private let silence: TimeAmount
  private let count: @Sendable (Int) -> Void
  private let state = Mutex(State())
  private let room = DispatchSemaphore(value: 0)
  private let end = DispatchSemaphore(value: 0)

  /// A publisher without a packet for this time gives way to another one.
  private static let patience = TimeAmount.seconds(2)

  /// - Parameters:
  ///   - silence: Without a packet for this time it is disconnected.
  ///   - count: Called with the number of packets that SRT has dropped since the last call.
  init(
    _ socket: SRTSOCKET, _ feed: PublishedFeed, silence: TimeAmount,
    _ count: @escaping @Sendable (Int) -> Void
  ) {
    (self.socket, self.feed, self.silence, self.count) = (socket, feed, silence, count)
  }

  /// Passes the stream on until the publisher leaves or is silent for too long, or the session ends or refuses it.
  func run() {
    feed.onRoom { [room] in room.signal() }
    defer {
      feed.onRoom {}
      countDropped()
    }
    // A call that waits for a packet while the publisher leaves would take one and not return it.
    var events = CInt(SRT_EPOLL_IN.rawValue | SRT_EPOLL_ERR.rawValue)
    let arrivals = srt_epoll_create()
    defer { srt_epoll_release(arrivals) }
    guard (try? SRTPort.set(socket, SRTO_RCVSYN, 0)) != nil,
      unsafe srt_epoll_add_usock(arrivals, socket, &events) == 0
    else { return }
    let latency = latency
    var hasLeft = false
    var event = SRT_EPOLL_EVENT()
    var buffer = [CChar](repeating: 0, count: Int(SRT_LIVE_MAX_PLSIZE))
    var nextCount = NIODeadline.now()
    while true {
      let count = unsafe srt_recvmsg(socket, &buffer, CInt(clamping: buffer.count))
      guard count > 0 else {
        switch srt_getlasterror(nil) {
        case SRT_EASYNCRCV.rawValue:
          let wait = silence.nanoseconds / 1_000_000
          guard unsafe srt_epoll_uwait(arrivals, &event, 1, wait) > 0 else { return }
        case SRT_ECONNLOST.rawValue where !hasLeft:
          // What it sent before it left is due only after SRT's latency.
          hasLeft = true
          srt_epoll_clear_usocks(arrivals)
          srt_epoll_set(arrivals, CInt(SRT_EPOLL_ENABLE_EMPTY.rawValue))
          _ = unsafe srt_epoll_uwait(arrivals, &event, 1, latency)
        default: return
        }
        continue
      }
      let now = NIODeadline.now()
      state.withLock { $0.lastArrival = now }
      if now >= nextCount {
        nextCount = now + .seconds(1)
        countDropped()
      }
      guard write(buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }) else { return }
    }
  }

  /// How long SRT holds back what it receives, so that what was lost can be sent again, in milliseconds.
  private var latency: Int64 {
    var (value, size) = (CInt(0), CInt(MemoryLayout<CInt>.size))
    guard unsafe srt_getsockflag(socket, SRTO_RCVLATENCY, &value, &size) == 0 else { return 0 }
    // Packets come in a little later than they are due.
    return Int64(value) + 50
  }

  /// Waits until the feed has taken the bytes. Returns `false` if it takes nothing more of this publisher.
  private func write(_ bytes: [UInt8]) -> Bool {
    while !feed.write(bytes) {
      let goes = state.withLock { state in
        state.isHeld = true
        return !state.isReplaced
      }
      guard goes, feed.isPublishing else { return false }
      room.wait()
    }
    state.withLock { state in
      if state.isHeld { (state.isHeld, state.lastArrival) = (false, .now()) }
    }
    return true
  }

  private func countDropped() {
    var statistics = SRT_TRACEBSTATS()
    guard unsafe srt_bstats(socket, &statistics, 0) == 0 else { return }
    let total = Int(statistics.pktRcvDropTotal)
    let new = state.withLock { state in
      defer { state.dropped = total }
      return total - state.dropped
    }
    guard new > 0 else { return }
    count(new)
    feed.lose(packets: new)
  }

  /// The number of packets that SRT has dropped.
  var dropped: Int { state.withLock { $0.dropped } }

  /// Whether another publisher may take its place: it is gone, or has sent nothing for a while.
  var yields: Bool {
    if srt_getsockstate(socket) != SRTS_CONNECTED { return true }
    return state.withLock { !$0.isHeld && .now() - $0.lastArrival >= Self.patience }
  }

  /// Disconnects it. Waits until `finish`.
  func replace() {
    state.withLock { $0.isReplaced = true }
    _ = srt_close(socket)
    room.signal()
    end.wait()
  }

  /// Called when its session may have another publisher.
  func finish() { end.signal() }
}
