/// A bitstream that violates its standard or ends too early.
package struct MalformedSyntax: Error, Sendable, Hashable {
  /// Creates the error. It carries no details: the element that failed is of no use to a user.
  package init() {}
}

/// The descriptors of ISO/IEC 14496-10 7.2, for syntax that is unusable unless it is complete.
extension BitReader {
  /// Reads u(n), n up to 32.
  mutating func u(_ count: Int) throws(MalformedSyntax) -> Int {
    guard let value = bits(count) else { throw MalformedSyntax() }
    return Int(value)
  }

  /// Reads u(1).
  mutating func isSet() throws(MalformedSyntax) -> Bool { try u(1) == 1 }

  /// Reads ue(v) within the element's range in the standard.
  mutating func ue(upTo limit: Int = .max) throws(MalformedSyntax) -> Int {
    guard let value = exponentialGolomb(), Int(value) <= limit else { throw MalformedSyntax() }
    return Int(value)
  }

  /// Reads se(v) (9.1.1).
  mutating func se() throws(MalformedSyntax) -> Int {
    let code = try ue()
    return code & 1 == 1 ? code / 2 + 1 : -(code / 2)
  }

  /// Skips any number of bits.
  mutating func skip(bits count: Int) throws(MalformedSyntax) {
    for start in stride(from: 0, to: count, by: 32) { _ = try u(min(32, count - start)) }
  }
}
