internal import Glibc

/// Passes bytes from one thread to another. It holds at most `capacity` bytes plus one piece.
///
/// The writer never waits: `write` returns `false` if there is no room, and `onRoom` is called when there is
/// some again. The reader waits.
package final class BytePipe: @unchecked Sendable {
  // Unchecked: everything below is accessed only under `mutex`. POSIX mutexes are used because only their
  // condition variables wait with a time limit here.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let arrival: UnsafeMutablePointer<pthread_cond_t>
  private let capacity: Int
  private var pieces: [ArraySlice<UInt8>] = []
  private var count = 0
  private var total = 0
  private var isEnded = false
  private var hasRefused = false
  private let onRoom: @Sendable () -> Void

  /// - Parameter onRoom: Called on the reader's thread when there is room again after a refusal.
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

  /// Appends `bytes`. Returns `false`, without appending anything, if there is no room or the pipe has ended.
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

  /// Marks the end of the data. Bytes in the pipe can still be read.
  package func end() {
    pthread_mutex_lock(mutex)
    isEnded = true
    pthread_cond_broadcast(arrival)
    pthread_mutex_unlock(mutex)
  }

  /// The number of bytes written so far.
  package var written: Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return total
  }

  /// Waits for bytes and moves as many as are available. Returns 0 at the end and `nil` if interrupted.
  func read(into target: UnsafeMutableRawBufferPointer, _ interrupt: Interrupt) -> Int? {
    pthread_mutex_lock(mutex)
    while pieces.isEmpty && !isEnded && !interrupt.isRaised {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      // An interrupt doesn't signal the condition, so it is polled.
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
