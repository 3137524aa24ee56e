internal import Foundation
internal import MediaIO
public import RotationPolicy

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
    do throws(PolicyError) {
      for (number, line) in live?.available() ?? [] {
        guard let event = try RotationEvent.parse(line: line, number: number) else { continue }
        waiting.append(event)
      }
    } catch {
      throw MediaError(error, code: .badData)
    }
  }
}

/// Lines that have arrived on a descriptor, without waiting for more.
private final class LiveLines {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var count = 0
  private var isOpen = true
  /// A pipe that was just begun may need a moment for its first bytes.
  private var patience: Int32 = 200

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// The whole lines that are there, numbered from 1.
  func available() -> [(Int, [UInt8])] {
    while isOpen && isReadable() {
      var chunk = [UInt8](repeating: 0, count: 65536)
      let received = unsafe chunk.withUnsafeMutableBytes {
        unsafe Foundation.read(descriptor, $0.baseAddress, $0.count)
      }
      if received <= 0 { isOpen = false } else { buffer += chunk[..<received] }
    }
    var lines: [(Int, [UInt8])] = []
    while let end = buffer.firstIndex(of: 10) {
      count += 1
      lines.append((count, Array(buffer[..<end])))
      buffer.removeSubrange(...end)
    }
    if !isOpen && !buffer.isEmpty {
      count += 1
      lines.append((count, buffer))
      buffer = []
    }
    return lines
  }

  private func isReadable() -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    defer { patience = 0 }
    return unsafe poll(&request, 1, patience) > 0
  }
}
