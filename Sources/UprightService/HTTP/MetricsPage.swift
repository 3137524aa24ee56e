/// Prometheus's text format, one family after the other.
struct MetricsPage: Sendable {
  enum Kind: String { case counter, gauge, summary }

  private(set) var text = ""
  private var name = ""

  /// Begins a family; its samples follow.
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

  /// A family of one sample.
  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
    family(name, kind, help)
    sample(value)
  }

  /// A summary's samples: quantiles of the latest `values`.
  mutating func quantiles(_ values: [Double]) {
    let sorted = values.filter(\.isFinite).sorted()
    for quantile in [0.5, 0.9, 0.99] {
      guard !sorted.isEmpty else { return }
      let rank = min(sorted.count - 1, Int((Double(sorted.count) * quantile).rounded(.up)) - 1)
      sample(sorted[max(0, rank)], ["quantile": String(quantile)])
    }
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}
