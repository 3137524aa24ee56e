/// A text table with aligned columns.
struct TextTable {
  /// The table, with a line break at the end of each row.
  let text: String

  init(_ rows: [[String]]) {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    text = rows.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      var line = cells.joined(separator: "  ")[...]
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }
}
