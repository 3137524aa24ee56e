internal import Orientation

/// Writes a plan as JSON while its events come: what `OrientationPlan.json.pretty` is in the end, in memory
/// that does not grow with the number of events, but for 16 bytes a change of format.
public struct PlanPrinter: Sendable {
  private var plan: OrientationPlan
  private var text: [UInt8] = Array("{\n  \"events\": [".utf8)
  private var events = 0
  private var former = 0.0
  private var formats: [(from: Double, orientation: InterfaceOrientation)] = []
  /// How many of them are written; nil before the last event.
  private var writtenFormats: Int?
  /// The warnings of the events whose text was taken last.
  public private(set) var warnings: [String] = []

  /// A printer of what `plan` answers from here on: one that has answered nothing.
  public init(_ plan: OrientationPlan) { self.plan = plan }

  /// Answers an event.
  ///
  /// - Throws: what `OrientationPlan.push` throws.
  public mutating func push(_ event: RotationEvent) throws(PolicyError) {
    try plan.push(event)
    print(before: event.at)
  }

  /// Answers all that waits: what follows is taken until there is no more.
  public mutating func finish() {
    plan.finish()
    print(before: .infinity)
    if events > 0 { JSONValue.breakLine(after: 0, 2, &text) }
    text += "],\n  \"formats\": [".utf8
    writtenFormats = 0
  }

  /// Bytes of the text that wait to be taken.
  public var count: Int { text.count }

  /// The text since the last call, in UTF-8; empty where there is none yet, or no more.
  public mutating func take() -> [UInt8] {
    writeFormats()
    defer {
      text.removeAll(keepingCapacity: true)
      warnings = []
    }
    return text
  }

  private mutating func writeFormats() {
    guard let first = writtenFormats, first < formats.count else { return }
    let end = min(first + 4096, formats.count)
    for index in first..<end {
      let change = FormatChange(
        from: formats[index].from, format: plan.guidance.format(for: formats[index].orientation))
      JSONValue.breakLine(after: index, 4, &text)
      change.json().writePretty(to: &text, indent: 4)
    }
    writtenFormats = end
    if end == formats.count { text += "\n  ]\n}\n".utf8 }
  }

  private mutating func print(before seconds: Double) {
    warnings += plan.warnings
    for entry in plan.takeEntries() {
      JSONValue.breakLine(after: events, 4, &text)
      entry.json.writePretty(to: &text, indent: 4)
      events += 1
    }
    for change in plan.takeFormats(before: seconds) {
      formats.append((change.from, change.format.appOrientation))
    }
    // What comes at the same instant may still take back a change of format.
    guard seconds > former else { return }
    plan.forget(before: former)
    former = seconds
  }
}
