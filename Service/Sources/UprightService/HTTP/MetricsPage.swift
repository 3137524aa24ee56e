internal import Upright

/// Writes metrics in the Prometheus text format 0.0.4.
struct MetricsPage: Sendable {
  enum Kind: String { case counter, gauge, histogram }
  typealias Labels = [(String, String)]

  private(set) var text = ""
  private var name = ""

  /// Begins a metric family. Its samples follow.
  mutating func family(_ name: String, _ kind: Kind, _ help: String) {
    self.name = name
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
  }

  mutating func sample(_ value: Int, _ labels: Labels = [], suffix: String = "") {
    sample(text: String(value), labels, suffix)
  }

  mutating func sample(_ value: Double, _ labels: Labels = [], suffix: String = "") {
    sample(text: value.isFinite ? String(value) : "0", labels, suffix)
  }

  private mutating func sample(text value: String, _ labels: Labels, _ suffix: String) {
    text += name + suffix
    if !labels.isEmpty {
      text += "{" + labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
    }
    text += " \(value)\n"
  }

  /// Adds one sample for each value that `label` can have: 1 for the current one, 0 for the others.
  mutating func sample<Value: CaseIterable & RawRepresentable<String> & Equatable>(
    _ current: Value, as label: String, _ labels: Labels
  ) {
    for value in Value.allCases {
      sample(value == current ? 1 : 0, labels + [(label, value.rawValue)])
    }
  }

  /// Adds a family with one sample.
  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
    family(name, kind, help)
    sample(value)
  }

  /// Adds a family with one sample.
  mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
    family(name, kind, help)
    sample(value)
  }

  /// Adds a histogram: the cumulative count for each upper bound in seconds, the sum and the count.
  mutating func add(_ name: String, _ help: String, _ times: DurationHistogram) {
    family(name, .histogram, help)
    var count = 0
    for (bound, more) in zip(DurationHistogram.bounds.map { "\($0)" } + ["+Inf"], times.counts) {
      count += more
      sample(count, [("le", bound)], suffix: "_bucket")
    }
    sample(times.sum, suffix: "_sum")
    sample(count, suffix: "_count")
  }

  /// Escapes the value of a label. By scalars, because a carriage return and a line feed are one character.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
