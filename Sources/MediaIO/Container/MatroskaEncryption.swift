internal import UprightSignals

/// Whether tracks of a Matroska or WebM file are encrypted (RFC 9559, 5.1.4.1.31.8). libavformat says it only of
/// tracks whose key has an identifier.
enum MatroskaEncryption {
  /// Tracks, TrackEntry, ContentEncodings, ContentEncoding, ContentEncryption.
  private static let path = [MatroskaID.tracks, MatroskaID.entry, 0x6D80, 0x6240, 0x5035]
  private static let algorithm: UInt32 = 0x47E1
  /// The names of ContentEncAlgo.
  private static let names = ["unknown", "DES", "3DES", "Twofish", "Blowfish", "AES"]
  /// The largest Tracks element that is read, in bytes.
  private static let largest = 16 << 20

  /// Returns the algorithms by the index of the track among the tracks.
  static func algorithms(in source: ByteSource) -> [Int: String] {
    guard let tracks = tracks(of: source) else { return [:] }
    var found: [Int: String] = [:]
    var index = -1
    func walk(_ range: Range<Int>, _ path: ArraySlice<UInt32>) {
      var position = range.lowerBound
      while position < range.upperBound, let element = EBMLElement(tracks, at: position),
        let size = element.size, size <= range.upperBound - element.content
      {
        let content = element.content..<element.content + size
        position = content.upperBound
        if path.isEmpty, element.id == algorithm {
          let number = content.last.map { Int(tracks[$0]) } ?? 0
          // 0: the content is signed only.
          if number > 0 { found[index] = names[number < names.count ? number : 0] }
        }
        guard element.id == path.first else { continue }
        if element.id == MatroskaID.entry { index += 1 }
        walk(content, path.dropFirst())
      }
    }
    walk(tracks.indices, path.dropFirst())
    return found
  }

  /// Returns the content of the Tracks element, which is before the first cluster.
  private static func tracks(of source: ByteSource) -> [UInt8]? {
    var position = 0
    for _ in 0..<1000 {
      guard
        let element = EBMLElement(source.read(at: position, count: EBMLElement.headerLimit), at: 0)
      else { return nil }
      if position == 0, element.id != MatroskaID.header { return nil }
      position += element.content
      if element.id == MatroskaID.segment { continue }
      guard element.id != MatroskaID.cluster, let size = element.size, size <= 1 << 60 - position
      else {
        return nil
      }
      if element.id == path[0] {
        return size <= largest ? source.read(at: position, count: size) : nil
      }
      position += size
    }
    return nil
  }
}
