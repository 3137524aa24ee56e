internal import UprightSignals

/// Whether tracks of a Matroska or WebM file are encrypted (RFC 9559, 5.1.4.1.31.8). libavformat says it only of
/// tracks whose key has an identifier.
enum MatroskaEncryption {
  private static let header: UInt32 = 0x1A45_DFA3
  private static let segment: UInt32 = 0x1853_8067
  private static let cluster: UInt32 = 0x1F43_B675
  /// Tracks, TrackEntry, ContentEncodings, ContentEncoding, ContentEncryption.
  private static let path: [UInt32] = [0x1654_AE6B, 0xAE, 0x6D80, 0x6240, 0x5035]
  private static let algorithm: UInt32 = 0x47E1
  private static let track: UInt32 = 0xAE
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
        if element.id == track { index += 1 }
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
      if position == 0, element.id != header { return nil }
      position += element.content
      if element.id == segment { continue }
      guard element.id != cluster, let size = element.size, size <= 1 << 60 - position else {
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
