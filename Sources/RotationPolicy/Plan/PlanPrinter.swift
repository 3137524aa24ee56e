internal import UprightOrientation

/// An incremental writer of a plan as JSON.
///
/// The text equals `OrientationPlan.json.pretty`. Memory doesn't grow with the number of events, except for
/// 16 bytes per change of format.
package struct PlanPrinter: ~Copyable, Sendable {
  private var plan: OrientationPlan
  private var text = TextBuffer()
  private var events = 0
  private var former = 0.0
  private var formats: [(from: Double, orientation: InterfaceOrientation)] = []
  /// The number of formats written. `nil` until `finish()` is called.
  private var writtenFormats: Int?
  /// The warnings of the events since the last call of `take()`.
  package private(set) var warnings: [String] = []

  /// Creates a printer for `plan`, which must not have any events yet.
  package init(_ plan: OrientationPlan) {
    self.plan = plan
    text.append("{\n  \"events\": [")
  }

  /// Adds an event to the plan.
  ///
  /// - Throws: The errors of `OrientationPlan.push`.
  package mutating func push(_ event: RotationEvent) throws(PolicyError) {
    try plan.push(event)
    print(before: event.at)
  }

  /// Completes the plan. Call `take()` until it returns no more text.
  package mutating func finish() {
    plan.finish()
    print(before: .infinity)
    if events > 0 { JSONValue.breakLine(after: 0, 2, &text) }
    text.append("],\n  \"formats\": [")
    writtenFormats = 0
  }

  /// The number of bytes of buffered text.
  package var count: Int { text.count }

  /// Returns the text since the last call, in UTF-8. Empty if there is none yet, or no more.
  package mutating func take() -> [UInt8] {
    writeFormats()
    warnings = []
    return text.take()
  }

  private mutating func writeFormats() {
    guard let first = writtenFormats, first < formats.count else { return }
    let end = min(first + 4096, formats.count)
    for index in first..<end {
      let change = FormatChange(
        from: formats[index].from, format: plan.guidance.format(for: formats[index].orientation))
      JSONValue.breakLine(after: index, 4, &text)
      change.json.writePretty(to: &text, indent: 4)
    }
    writtenFormats = end
    if end == formats.count { text.append("\n  ]\n}\n") }
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
    // A later event at the same time can still revert a change of format.
    guard seconds > former else { return }
    plan.forget(before: former)
    former = seconds
  }
}
