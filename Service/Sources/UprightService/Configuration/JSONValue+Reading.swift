internal import UprightOrientation
internal import UprightPolicy

extension JSONValue {
  /// The value as a floating-point number, if it is a number.
  var double: Double? {
    switch self {
    case .number(let number): number
    case .integer(let number): Double(number)
    default: nil
    }
  }

  /// The value, if it is a string.
  var text: String? { if case .string(let text) = self { text } else { nil } }

  /// A duration in seconds: a number of seconds, or text with the unit s, m, h or d; `nil` for anything else.
  var seconds: Double? { quantity(["s": 1, "m": 60, "h": 3600, "d": 86400]) }

  /// A size in bytes: a number of bytes, or text with the unit K, M, G or T, which are powers of 1024; `nil` for
  /// anything else.
  var bytes: Int? {
    quantity(["K": 1024, "M": 1_048_576, "G": 1_073_741_824, "T": 1_099_511_627_776]).map {
      Int(clamping: $0)
    }
  }

  private func quantity(_ units: [Character: Double]) -> Double? {
    guard let text else { return double }
    let factor = text.last.flatMap { units[$0] }
    let digits = factor == nil ? text[...] : text.dropLast()
    // `Double` also reads other forms, such as hexadecimal numbers and nan.
    guard digits.utf8.count <= 18, digits.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 }),
      let number = Double(digits)
    else { return nil }
    return number * (factor ?? 1)
  }
}

/// Returns a client's text for a message: at most 60 characters, with control and format characters replaced
/// by `?`.
func printable(_ text: String) -> String {
  let safe = text.unicodeScalars.prefix(60).map {
    $0.properties.generalCategory == .control || $0.properties.generalCategory == .format
      ? "?" : String($0)
  }
  return safe.joined()
}
