internal import UprightOrientation
internal import UprightPolicy
internal import UprightMediaIO
internal import UprightMedia

/// An input's identity, independent of its path or URL: its size, and digests of its first and last bytes.
struct InputIdentity: Sendable, Hashable {
  let size: Int
  /// SHA-256 of the first 64 KiB.
  let head: String
  /// SHA-256 of the last 64 KiB.
  let tail: String

  private static let length = 64 << 10

  /// Reads the first and the last bytes of an input.
  ///
  /// - Throws: `noInput` if it can't be read, or not at any position.
  init(of url: String, interrupt: Interrupt = Interrupt()) throws(UprightError) {
    let unseekable = UprightError(
      .noInput, "the input can't be opened, or isn't seekable", at: url,
      remedy: "name a file, or a URL of a server that takes range requests")
    guard let source = ByteSource(url: url, interrupt: interrupt), let size = source.size else {
      throw unseekable
    }
    let part = min(size, Self.length)
    let (head, tail) = (
      source.read(at: 0, count: part), source.read(at: size - part, count: part)
    )
    guard head.count == part, tail.count == part else { throw unseekable }
    self.size = size
    self.head = try ByteDigest.digest(of: head)
    self.tail = try ByteDigest.digest(of: tail)
  }
}

extension InputIdentity {
  var members: [JSONValue.Member] {
    [.init("size", .integer(size)), .init("head", .string(head)), .init("tail", .string(tail))]
  }

  init(_ node: JSONNode) throws(PolicyError) {
    size = try node.required("size").count(in: 0...TickRuns.largest)
    head = try node.required("head").string()
    tail = try node.required("tail").string()
  }
}
