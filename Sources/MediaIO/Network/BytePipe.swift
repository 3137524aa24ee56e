internal import Glibc

/// Bytes from one thread to another, at most `capacity` and one piece more at a time.
///
/// The writer never waits: what there is no room for is refused, and `onRoom` tells when there is some
/// again. The reader waits.
package final class BytePipe: @unchecked Sendable {
  // Unchecked: everything below is only touched under `mutex`. POSIX's own, since nothing else here
  // waits with a time limit.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let arrival: UnsafeMutablePointer<pthread_cond_t>
  private let capacity: Int
  private var pieces: [ArraySlice<UInt8>] = []
  private var count = 0
  private var total = 0
  private var isEnded = false
  private var hasRefused = false
  private let onRoom: @Sendable () -> Void

  /// - Parameter onRoom: called on the reader's thread when there is room again after a refusal.
  package init(capacity: Int, onRoom: @escaping @Sendable () -> Void = {}) {
    self.capacity = max(1, capacity)
    self.onRoom = onRoom
    mutex = .allocate(capacity: 1)
    arrival = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(arrival, nil)
  }

  deinit {
    pthread_cond_destroy(arrival)
    pthread_mutex_destroy(mutex)
    arrival.deallocate()
    mutex.deallocate()
  }

  /// Adds `bytes`; false where there is no room or nobody reads any more, and nothing was added.
  package func write(_ bytes: [UInt8]) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if isEnded { return false }
    if count >= capacity {
      hasRefused = true
      return false
    }
    guard !bytes.isEmpty else { return true }
    pieces.append(bytes[...])
    count += bytes.count
    total += bytes.count
    pthread_cond_signal(arrival)
    return true
  }

  /// Says that nothing follows. What is inside can still be read.
  package func end() {
    pthread_mutex_lock(mutex)
    isEnded = true
    pthread_cond_broadcast(arrival)
    pthread_mutex_unlock(mutex)
  }

  /// Bytes that were written so far.
  package var written: Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return total
  }

  /// Waits for bytes and moves as many as there are; 0 at the end, nil where interrupted.
  func read(into target: UnsafeMutableRawBufferPointer, _ interrupt: Interrupt) -> Int? {
    pthread_mutex_lock(mutex)
    while pieces.isEmpty && !isEnded && !interrupt.isRaised {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      // An interrupt wakes nobody: it is looked for every so often.
      time.tv_nsec += 50_000_000
      if time.tv_nsec >= 1_000_000_000 {
        time.tv_sec += 1
        time.tv_nsec -= 1_000_000_000
      }
      pthread_cond_timedwait(arrival, mutex, &time)
    }
    if interrupt.isRaised {
      pthread_mutex_unlock(mutex)
      return nil
    }
    var moved = 0
    while moved < target.count, let piece = pieces.first {
      let part = piece.prefix(target.count - moved)
      target[moved..<moved + part.count].copyBytes(from: part)
      moved += part.count
      if part.count == piece.count {
        pieces.removeFirst()
      } else {
        pieces[0] = piece.dropFirst(part.count)
      }
    }
    count -= moved
    let hasRoomAgain = hasRefused && count < capacity
    if hasRoomAgain { hasRefused = false }
    pthread_mutex_unlock(mutex)
    if hasRoomAgain { onRoom() }
    return moved
  }
}
