internal import UprightOrientation
internal import UprightPolicy

/// The text of `explain --why`: a paragraph for the start and one for every event.
struct DecisionExplanation {
  let text: String

  init(_ plan: OrientationPlan) {
    var paragraphs: [String] = []
    if let start = plan.formats.first?.format {
      // The orientation before any event: an event at 0 s can already have changed the first format.
      let first = plan.entries.first?.from ?? start.appOrientation
      paragraphs.append(
        Self.paragraph(
          "start    \(first.name)",
          plan.start.startExplanation(in: first)
            + Self.sizes(plan.guidance.format(for: first), since: "")))
    }
    for entry in plan.entries {
      var body = entry.explanation
      if entry.outcome == .rotate {
        let since = " from \(Milliseconds.text(entry.turn?.ends ?? entry.decidedAt)) s on"
        body += Self.sizes(plan.guidance.format(for: entry.to), since: since)
      }
      paragraphs.append(
        Self.paragraph(
          "\(Milliseconds.text(entry.at)) s  \(entry.event.phrase) -> \(entry.headline)", body))
    }
    text = paragraphs.joined(separator: "\n")
  }

  private static func sizes(_ format: StreamFormat, since: String) -> String {
    format.captureResolution == format.encodeResolution
      ? " The stream is \(format.encodeResolution)\(since)."
      : " The stream is \(format.encodeResolution), captured at \(format.captureResolution),\(since)."
        .replacing(",.", with: ".")
  }

  /// Returns `line`, and below it `body`, indented by four, in lines of at most 96 characters of text.
  private static func paragraph(_ line: String, _ body: String) -> String {
    var lines = [line, "    "]
    for word in body.split(separator: " ") {
      let last = lines[lines.count - 1]
      if last.count + word.count + 1 > 100, last.count > 4 {
        lines.append("    " + word)
      } else {
        lines[lines.count - 1] = last.count == 4 ? last + word : last + " " + word
      }
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
