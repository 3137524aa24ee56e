/// An incremental reader of events in JSON Lines: one JSON object per line.
///
/// Blank lines are skipped. Times must not go backwards.
public struct EventReader: Sendable {
  /// The maximum length of a line, in bytes.
  public static let longestLine = 64 << 10

  /// The bytes of the last, incomplete line.
  private var rest: [UInt8] = []
  private var lines = 0
  private var last = 0.0

  /// Creates a reader that starts at the first line.
  public init() {}

  /// Reads the next bytes and returns the events of the lines that end in `bytes`, in order.
  ///
  /// - Throws: The error of the first line that isn't a valid event, with its line number; `syntax` if a line is
  ///   longer than `longestLine`.
  public mutating func read(_ bytes: [UInt8]) throws(PolicyError) -> [RotationEvent] {
    var events: [RotationEvent] = []
    var left = bytes[...]
    while let end = left.firstIndex(of: 0x0A) {
      var line = left[..<end]
      left = left[(end + 1)...]
      if !rest.isEmpty {
        line = (rest + line)[...]
        rest = []
      }
      if let event = try parse(line) { events.append(event) }
    }
    rest += left
    try Self.check(rest.count, ofLine: lines + 1)
    return events
  }

  /// Returns the event of the last line if it doesn't end with a line break.
  ///
  /// - Throws: The error of that line if it isn't a valid event.
  public mutating func finish() throws(PolicyError) -> RotationEvent? {
    defer { rest = [] }
    return rest.isEmpty ? nil : try parse(rest[...])
  }

  private mutating func parse(_ line: ArraySlice<UInt8>) throws(PolicyError) -> RotationEvent? {
    lines += 1
    try Self.check(line.count, ofLine: lines)
    guard let event = try RotationEvent.parse(slice: line, number: lines) else { return nil }
    guard event.at >= last else { throw .backwards(event.at, after: last, at: event.place) }
    last = event.at
    return event
  }

  private static func check(_ count: Int, ofLine number: Int) throws(PolicyError) {
    guard count > longestLine else { return }
    throw PolicyError(
      .syntax, "a line is longer than \(longestLine >> 10) KiB", at: "line \(number)",
      remedy: "write one event, a JSON object, on each line")
  }
}
