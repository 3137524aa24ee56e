internal import UprightLive

/// Writes metrics in the Prometheus text format.
struct MetricsPage: Sendable {
  enum Kind: String { case counter, gauge, histogram }

  private(set) var text = ""
  private var name = ""

  /// Begins a metric family. Its samples follow.
  mutating func family(_ name: String, _ kind: Kind, _ help: String) {
    self.name = name
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
  }

  mutating func sample(
    _ value: Int, _ labels: KeyValuePairs<String, String> = [:], suffix: String = ""
  ) {
    sample(text: String(value), labels, suffix)
  }

  mutating func sample(
    _ value: Double, _ labels: KeyValuePairs<String, String> = [:], suffix: String = ""
  ) {
    sample(text: value.isFinite ? String(value) : "0", labels, suffix)
  }

  private mutating func sample(
    text value: String, _ labels: KeyValuePairs<String, String>, _ suffix: String
  ) {
    text += name + suffix
    if !labels.isEmpty {
      text += "{" + labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
    }
    text += " \(value)\n"
  }

  /// Adds a family with one sample.
  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
    family(name, kind, help)
    sample(value)
  }

  /// Adds a histogram: the cumulative count for each upper bound in seconds, the sum and the count.
  mutating func add(_ name: String, _ help: String, _ times: DurationHistogram) {
    family(name, .histogram, help)
    var count = 0
    for (bound, more) in zip(DurationHistogram.bounds.map { "\($0)" } + ["+Inf"], times.counts) {
      count += more
      sample(count, ["le": bound], suffix: "_bucket")
    }
    sample(times.sum, suffix: "_sum")
    sample(count, suffix: "_count")
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
