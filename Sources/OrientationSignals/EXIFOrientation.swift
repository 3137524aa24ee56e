package import UprightOrientation

/// The orientation in a JPEG image's metadata, also of a Motion JPEG frame: the Exif attribute
/// information in its APP1 segment (CIPA DC-008, 4.5.4 and 4.6.4 A).
package enum EXIFOrientation {
  /// Returns the orientation of tag 0x0112, or `nil` if it is absent or invalid. O(headers): reads
  /// up to the first scan.
  package static func orientation(inJPEG bytes: some Collection<UInt8>) -> ImageOrientation? {
    // The attribute information fits in one segment of 64 KiB and is near the start.
    let bytes = Array(bytes.prefix(1 << 17))
    guard bytes.starts(with: [0xFF, 0xD8]) else { return nil }
    var position = 2
    while position + 4 <= bytes.count, bytes[position] == 0xFF {
      let marker = bytes[position + 1]
      // Start of scan or end of image: no more headers follow.
      guard marker != 0xDA, marker != 0xD9 else { return nil }
      let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
      let end = position + 2 + length
      guard length >= 2, end <= bytes.count else { return nil }
      let segment = bytes[position + 4..<end]
      if marker == 0xE1, segment.starts(with: Array("Exif".utf8) + [0, 0]) {
        return orientation(inTIFF: Array(segment.dropFirst(6)))
      }
      position = end
    }
    return nil
  }

  /// Reads IFD 0 of a TIFF structure (TIFF 6.0, section 2).
  private static func orientation(inTIFF bytes: [UInt8]) -> ImageOrientation? {
    let isLittle = bytes.starts(with: Array("II".utf8))
    guard isLittle || bytes.starts(with: Array("MM".utf8)) else { return nil }
    func number(at position: Int, bytes count: Int) -> Int? {
      guard position >= 0, position <= bytes.count - count else { return nil }
      let field = bytes[position..<position + count]
      return (isLittle ? field.reversed() : Array(field)).reduce(0) { $0 << 8 | Int($1) }
    }
    guard let start = number(at: 4, bytes: 4), let count = number(at: start, bytes: 2) else {
      return nil
    }
    for entry in 0..<count {
      let place = start + 2 + 12 * entry
      guard let tag = number(at: place, bytes: 2) else { return nil }
      guard tag == 0x0112 else { continue }
      return number(at: place + 8, bytes: 2).flatMap(ImageOrientation.init(exif:))
    }
    return nil
  }
}
