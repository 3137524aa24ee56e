/// Passes bytes from one thread to another. It holds at most `capacity` bytes plus one piece.
///
/// The writer never waits: `write` returns `false` if there is no room, and `onRoom` is called when there is
/// some again. The reader waits.
package final class BytePipe: @unchecked Sendable {
  // Unchecked: everything below is accessed only while `arrival` is locked.
  private let arrival = WaitCondition()
  private let capacity: Int
  private var pieces: [[UInt8]] = []
  private var count = 0
  private var total = 0
  private var isEnded = false
  private var hasRefused = false
  private let onRoom: @Sendable () -> Void

  /// - Parameter onRoom: Called on the reader's thread when there is room again after a refusal.
  package init(capacity: Int, onRoom: @escaping @Sendable () -> Void = {}) {
    self.capacity = max(1, capacity)
    self.onRoom = onRoom
  }

  /// Appends `bytes`. Returns `false`, without appending anything, if there is no room or the pipe has ended.
  package func write(_ bytes: [UInt8]) -> Bool {
    arrival.lock()
    defer { arrival.unlock() }
    if isEnded { return false }
    if count >= capacity {
      hasRefused = true
      return false
    }
    guard !bytes.isEmpty else { return true }
    pieces.append(bytes)
    count += bytes.count
    total += bytes.count
    arrival.broadcast()
    return true
  }

  /// Marks the end of the data. Bytes in the pipe can still be read.
  package func end() {
    arrival.withLock {
      isEnded = true
      arrival.broadcast()
    }
  }

  /// The number of bytes written so far.
  package var written: Int {
    arrival.lock()
    defer { arrival.unlock() }
    return total
  }

  /// Waits for bytes and takes the next piece, as it was written. Returns `nil` at the end, and if the interrupt is
  /// raised.
  package func take(_ interrupt: Interrupt = Interrupt()) -> [UInt8]? {
    let (piece, hasRoomAgain): ([UInt8]?, Bool) = interrupt.waking(arrival) {
      arrival.withLock {
        arrival.wait(while: pieces.isEmpty && !isEnded && !interrupt.isRaised)
        guard !interrupt.isRaised, !pieces.isEmpty else { return (nil, false) }
        let piece = pieces.removeFirst()
        count -= piece.count
        let hasRoomAgain = hasRefused && count < capacity
        if hasRoomAgain { hasRefused = false }
        return (piece, hasRoomAgain)
      }
    }
    if hasRoomAgain { onRoom() }
    return piece
  }
}
