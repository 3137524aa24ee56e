internal import Glibc
internal import UprightOrientation
public import UprightPolicy
internal import UprightFrames
internal import UprightMediaIO
internal import UprightMedia

/// The source of orientation events.
public enum EventSource: Sendable {
  /// None: the signals in the stream are the events.
  case none
  /// A list in order of time.
  case list([RotationEvent])
  /// JSON Lines on standard input, read during the run.
  case standardInput
}

/// Returns events up to a time, from any source.
struct EventQueue {
  private var waiting: ArraySlice<RotationEvent> = []
  private var live: StandardInputEvents?
  private let offset: Double
  /// The maximum number of waiting events; no more are read until frames use them.
  private static let maxAhead = 10_000

  init(_ source: EventSource, offset: Double) {
    self.offset = offset
    switch source {
    case .none: break
    case .list(let events): waiting = events[...]
    case .standardInput: live = StandardInputEvents(descriptor: 0)
    }
  }

  /// Returns all events up to `seconds`, in order.
  mutating func take(upTo seconds: Double) throws(UprightError) -> [RotationEvent] {
    if live != nil { try read() }
    var due: [RotationEvent] = []
    while let first = waiting.first, first.at + offset <= seconds {
      waiting.removeFirst()
      due.append(shifted(first))
    }
    return due
  }

  /// Returns the remaining events.
  mutating func takeRest() throws(UprightError) -> [RotationEvent] { try take(upTo: .infinity) }

  /// Adds the offset to the time of an event. Times before the start of the input become 0.
  private func shifted(_ event: RotationEvent) -> RotationEvent {
    var event = event
    event.at = max(0, event.at + offset)
    return event
  }

  private mutating func read() throws(UprightError) {
    // The limit bounds the memory that a writer can make this process use.
    guard waiting.count < Self.maxAhead else { return }
    do throws(PolicyError) { waiting += try live?.available() ?? [] } catch {
      throw UprightError(error, code: .badData)
    }
  }
}

/// Reads the events that have arrived on a descriptor, without waiting for more.
private struct StandardInputEvents {
  private let descriptor: Int32
  private var reader = EventReader()
  private var isOpen = true
  /// The poll timeout in milliseconds. A new pipe may need some time for its first bytes; later calls don't
  /// wait.
  private var timeout: Int32 = 200

  /// The maximum number of bytes read in one call, so that frames continue while more events arrive.
  private static let maxBytes = 1 << 20

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Returns the events of the complete lines that have arrived.
  ///
  /// - Throws: An error that describes an invalid line.
  mutating func available() throws(PolicyError) -> [RotationEvent] {
    var events: [RotationEvent] = []
    var chunk = [UInt8](repeating: 0, count: EventReader.longestLine)
    var read = 0
    while isOpen, read < Self.maxBytes, isReadable() {
      let received = unsafe chunk.withUnsafeMutableBytes {
        unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
      }
      guard received > 0 else {
        isOpen = false
        if let last = try reader.finish() { events.append(last) }
        break
      }
      read += received
      events += try reader.read(Array(chunk[..<received]))
    }
    return events
  }

  private mutating func isReadable() -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    defer { timeout = 0 }
    return unsafe poll(&request, 1, timeout) > 0
  }
}
