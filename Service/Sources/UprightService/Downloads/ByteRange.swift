/// The requested part of a file (RFC 9110, 14.1.2).
enum ByteRange: Sendable, Hashable {
  /// The whole file: there is no `Range` header, or one that a server may ignore.
  case whole
  case part(ClosedRange<Int>)
  /// The range is outside the file.
  case unsatisfiable

  /// Parses a `Range` header for a file of `size` bytes. A header with several ranges gives the whole file.
  init(_ header: String?, size: Int) {
    guard let header, header.lowercased().hasPrefix("bytes="), !header.contains(",") else {
      self = .whole
      return
    }
    let sides = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard sides.count == 2,
      sides.allSatisfy({ $0.utf8.count <= 18 && $0.utf8.allSatisfy { (48...57).contains($0) } })
    else {
      self = .whole
      return
    }
    switch (Int(sides[0]), Int(sides[1])) {
    case (let first?, let last?) where first > last: self = .whole
    case (let first?, let last):
      self = first < size ? .part(first...min(last ?? size - 1, size - 1)) : .unsatisfiable
    case (nil, let suffix?):
      self = suffix > 0 && size > 0 ? .part(max(0, size - suffix)...size - 1) : .unsatisfiable
    case (nil, nil): self = .whole
    }
  }
}
