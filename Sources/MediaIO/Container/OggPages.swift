/// The pages of an Ogg file (RFC 3533, section 6).
enum OggPages {
  /// The largest page, in bytes: its header with 255 segments of 255 bytes.
  private static let largest = 27 + 255 + 255 * 255

  /// Returns whether `file` is chained: streams end, and others begin (section 4). libavformat reads the first link
  /// and then fails, or takes the packets of the next one for those of the first.
  ///
  /// The serial numbers of all streams differ, so the last page is of no stream that begins at the start.
  static func isChained(_ file: ByteSource) -> Bool {
    guard let size = file.size else { return false }
    var (first, position) = (Set<[UInt8]>(), 0)
    // Pages that begin a stream (flag 0x02) precede all others of their link.
    while case let header = file.read(at: position, count: largest), let page = Page(header[...]),
      page.flags & 0x02 != 0
    {
      first.insert(page.serial)
      position += page.size
    }
    let tail = file.read(at: max(0, size - largest), count: largest)
    let last = tail.indices.reversed().lazy.compactMap { Page(tail[$0...]) }.first
    guard !first.isEmpty, let last else { return false }
    return !first.contains(last.serial)
  }

  private struct Page {
    let flags: UInt8
    let serial: [UInt8]
    let size: Int

    /// Returns `nil` if `bytes` don't begin with a page's header.
    init?(_ bytes: ArraySlice<UInt8>) {
      let start = bytes.startIndex
      guard bytes.count >= 27, bytes.prefix(5) == [0x4F, 0x67, 0x67, 0x53, 0] else { return nil }
      flags = bytes[start + 5]
      serial = Array(bytes[start + 14..<start + 18])
      let count = Int(bytes[start + 26])
      size = 27 + count + bytes.dropFirst(27).prefix(count).reduce(0) { $0 + Int($1) }
    }
  }
}
