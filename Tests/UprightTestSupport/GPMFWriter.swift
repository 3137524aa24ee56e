/// Writes samples of GPMF, GoPro's format of metadata, byte by byte.
package enum GPMFWriter {
  /// Returns an element with padding.
  package static func element(
    _ key: String, _ type: UInt8, _ size: Int, _ count: Int, _ content: [UInt8]
  ) -> [UInt8] {
    let be = MovieWriter.be
    let padding = [UInt8](repeating: 0, count: (4 - content.count % 4) % 4)
    return Array(key.utf8) + [type] + be(size, 1) + be(count, 2) + content + padding
  }

  /// Returns a stream of readings, each of the same number of 16-bit values, to be divided by `scale`.
  package static func stream(scale: [Int], _ key: String, _ readings: [[Int]]) -> [UInt8] {
    func words(_ values: [Int]) -> [UInt8] {
      values.flatMap { MovieWriter.be(Int(UInt16(truncatingIfNeeded: $0)), 2) }
    }
    let short = UInt8(ascii: "s")
    let content =
      element("SCAL", short, 2, scale.count, words(scale))
      + element(
        key, short, 2 * (readings.first?.count ?? 0), readings.count, words(readings.flatMap { $0 })
      )
    return element("STRM", 0, 1, content.count, content)
  }

  /// Returns a sample: a device with these streams.
  package static func device(_ streams: [[UInt8]]) -> [UInt8] {
    let content = element("DVNM", UInt8(ascii: "c"), 1, 6, Array("Camera".utf8)) + streams.joined()
    return element("DEVC", 0, 1, content.count, content)
  }
}
