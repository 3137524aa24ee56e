/// Reads events from JSON Lines as the bytes come: one JSON object a line, blank lines are skipped, times
/// must not go backwards.
public struct EventReader: Sendable {
  /// Bytes of a line.
  public static let longestLine = 64 << 10

  /// What has come of a line whose end has not.
  private var rest: [UInt8] = []
  private var lines = 0
  private var last = 0.0

  /// A reader at the first line.
  public init() {}

  /// The events of the lines that end in `bytes`, in their order.
  ///
  /// - Throws: what is wrong with the first line that is no event, by its number; `syntax` for one that is
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

  /// The event of the last line, where no line break ends it.
  ///
  /// - Throws: what is wrong with it.
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
