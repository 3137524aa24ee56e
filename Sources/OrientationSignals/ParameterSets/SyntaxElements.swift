/// A bit stream that does not keep to its standard, or ends too early.
public struct MalformedSyntax: Error, Sendable, Hashable {
  /// Says nothing more: which element it was is no help to anyone.
  public init() {}
}

/// The descriptors of ISO/IEC 14496-10 7.2, for syntax that is no use unless it is whole.
extension BitReader {
  /// u(n), n up to 32.
  mutating func u(_ count: Int) throws(MalformedSyntax) -> Int {
    guard let value = bits(count) else { throw MalformedSyntax() }
    return Int(value)
  }

  /// u(1).
  mutating func isSet() throws(MalformedSyntax) -> Bool { try u(1) == 1 }

  /// ue(v) within the range that the standard gives the element.
  mutating func ue(upTo limit: Int = .max) throws(MalformedSyntax) -> Int {
    guard let value = exponentialGolomb(), Int(value) <= limit else { throw MalformedSyntax() }
    return Int(value)
  }

  /// se(v) (9.1.1).
  mutating func se() throws(MalformedSyntax) -> Int {
    let code = try ue()
    return code & 1 == 1 ? code / 2 + 1 : -(code / 2)
  }

  /// Passes over `count` bits, however many.
  mutating func skip(bits count: Int) throws(MalformedSyntax) {
    for start in stride(from: 0, to: count, by: 32) { _ = try u(min(32, count - start)) }
  }
}
