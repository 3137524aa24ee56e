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
        return TIFFOrientation(Array(segment.dropFirst(6)))?.orientation
      }
      position = end
    }
    return nil
  }
}
