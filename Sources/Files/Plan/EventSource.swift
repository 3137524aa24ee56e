internal import Foundation
public import RotationPolicy
internal import UprightMediaIO
internal import UprightOrienting

/// Where the orientation events come from.
public enum EventSource: Sendable {
  /// Nowhere: the stream's own signals are the events.
  case none
  /// A list in the order of time.
  case list([RotationEvent])
  /// JSON Lines on standard input, read as the run goes.
  case standardInput
}

/// Gives out events up to a time, wherever they come from.
struct EventFeed {
  private var waiting: ArraySlice<RotationEvent> = []
  private var live: LiveLines?
  private let offset: Double
  /// Events that may wait for their frames before more are read.
  private static let mostAhead = 10_000

  init(_ source: EventSource, offset: Double) {
    self.offset = offset
    switch source {
    case .none: break
    case .list(let events): waiting = events[...]
    case .standardInput: live = LiveLines(descriptor: 0)
    }
  }

  /// Every event whose time has come, in order.
  mutating func take(upTo seconds: Double) throws(MediaError) -> [RotationEvent] {
    if live != nil { try read() }
    var due: [RotationEvent] = []
    while let first = waiting.first, first.at + offset <= seconds {
      waiting.removeFirst()
      due.append(shifted(first))
    }
    return due
  }

  /// All that is left.
  mutating func takeRest() throws(MediaError) -> [RotationEvent] { try take(upTo: .infinity) }

  /// Shifted to the input's time; what would fall before its start counts as being at the start.
  private func shifted(_ event: RotationEvent) -> RotationEvent {
    var event = event
    event.at = max(0, event.at + offset)
    return event
  }

  private mutating func read() throws(MediaError) {
    // The frames come first: what waits for them is bounded, and so is what a writer can make us hold.
    guard waiting.count < Self.mostAhead else { return }
    do throws(PolicyError) { waiting += try live?.available() ?? [] } catch {
      throw MediaError(error, code: .badData)
    }
  }
}

/// Events that have arrived on a descriptor, without waiting for more.
private struct LiveLines {
  private let descriptor: Int32
  private var reader = EventReader()
  private var isOpen = true
  /// A pipe that was just begun may need a moment for its first bytes.
  private var patience: Int32 = 200

  /// Bytes that are read in one call: frames go on while more comes in.
  private static let mostBytes = 1 << 20

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Those of the whole lines that are there.
  ///
  /// - Throws: what is wrong with a line.
  mutating func available() throws(PolicyError) -> [RotationEvent] {
    var events: [RotationEvent] = []
    var chunk = [UInt8](repeating: 0, count: EventReader.longestLine)
    var read = 0
    while isOpen, read < Self.mostBytes, isReadable() {
      let received = unsafe chunk.withUnsafeMutableBytes {
        unsafe Foundation.read(descriptor, $0.baseAddress, $0.count)
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
    defer { patience = 0 }
    return unsafe poll(&request, 1, patience) > 0
  }
}
