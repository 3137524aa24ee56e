internal import UprightOrientation
internal import UprightPolicy

/// The text of `explain`: a table with a row for the start and one for every event.
struct DecisionTable {
  let text: String

  init(_ plan: OrientationPlan) {
    var rows = [["time", "event", "decision", "reason", "app orientation", "capture", "encode"]]
    if let start = plan.formats.first {
      rows.append(["", "(start)", "", ""] + Self.columns(start.format))
    }
    for entry in plan.entries {
      let format = plan.guidance.format(for: entry.to)
      rows.append(
        [
          Milliseconds.text(entry.at), entry.event.payload.compact, entry.outcome.rawValue,
          entry.reason ?? "",
        ] + Self.columns(format))
    }
    text = TextTable(rows).text
  }

  private static func columns(_ format: StreamFormat) -> [String] {
    [
      format.appOrientation.name, format.captureResolution.description,
      format.encodeResolution.description,
    ]
  }
}
