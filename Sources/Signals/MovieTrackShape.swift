package import UprightOrientation

/// What the boxes of a track of an MP4 or MOV file say of the shape of its frames.
package struct MovieTrackShape: Sendable, Hashable {
  /// The `track_ID`.
  package let identifier: Int
  /// The shape, without the matrix's scale.
  package let shape: StreamShape

  /// Parses the contents of three boxes of one track.
  ///
  /// - Parameters:
  ///   - header: The content of `tkhd`.
  ///   - apertures: The content of `tapt` (QuickTime). Empty if there is none.
  ///   - descriptions: The content of `stsd`. Only the first sample entry counts.
  /// - Returns: `nil` if `tkhd` is truncated, or the entry has no size, as in tracks other than video.
  package init?(header: [UInt8], apertures: [UInt8], descriptions: [UInt8]) {
    // ISO/IEC 14496-12, 8.3.2. In version 1, two times and the duration have eight bytes.
    let isLong = header.first == 1
    let identifiers = header.numbers(in: isLong ? 20..<24 : 12..<16, width: 4)
    let display = header.numbers(in: isLong ? 88..<96 : 76..<84, width: 4)
    guard identifiers.count == 1, display.count == 2,
      let entry = MP4Boxes(descriptions, in: descriptions.indices.dropFirst(8)).first(where: { _ in
        true
      }),
      let shape = Self.shape(
        descriptions, entry, display: Size(fixed: display), clean: Self.clean(apertures))
    else { return nil }
    (identifier, self.shape) = (identifiers[0], shape)
  }

  /// Returns the size in the clean aperture mode (QuickTime File Format, `clef`). `nil` if there is none.
  private static func clean(_ apertures: [UInt8]) -> Size? {
    MP4Boxes.payload(at: "clef", of: apertures, in: apertures.indices).flatMap {
      let numbers = apertures.numbers(in: $0.dropFirst(4), width: 4)
      return numbers.count == 2 ? Size(fixed: numbers) : nil
    }
  }

  private static func shape(
    _ bytes: [UInt8], _ entry: MP4Box, display: Size, clean: Size?
  ) -> StreamShape? {
    // VisualSampleEntry (ISO/IEC 14496-12, 12.1.3): the size is after 24 bytes, the boxes after 78.
    let size = bytes.numbers(in: entry.payload.dropFirst(24).prefix(4), width: 2)
    guard size.count == 2, size[0] > 0, size[1] > 0 else { return nil }
    let declared = PixelSize(size[0], size[1])
    let boxes = Array(MP4Boxes(bytes, in: entry.payload.dropFirst(78)))
    func numbers(_ type: MP4BoxType, _ count: Int) -> [Int]? {
      boxes.first { $0.type == type }.map { bytes.numbers(in: $0.payload, width: 4) }
        .flatMap { $0.count >= count ? $0 : nil }
    }
    let edges = numbers("clap", 8).flatMap { cut(byClean: $0, of: declared) } ?? (0, 0, 0, 0)
    var shape = StreamShape(declared: declared, edges: edges)
    if let clean { shape.show(clean) }
    // 12.1.4: hSpacing and vSpacing.
    if let spacing = numbers("pasp", 2), spacing[0] > 0, spacing[1] > 0 {
      shape.sampleAspectRatio = Rational(spacing[0], spacing[1])
    } else if shape.sampleAspectRatio == nil {
      // 8.3.2: frames are scaled to the track's size. Some writers give the size of the samples, which says
      // nothing of their shape, or round it.
      var tracked = shape
      tracked.show(display)
      if let ratio = tracked.sampleAspectRatio, abs(ratio.doubleValue - 1) > 0.01,
        display != Size(declared)
      {
        shape.sampleAspectRatio = ratio
      }
    }
    return shape
  }

  /// Returns what a clean aperture leaves out on each side (12.1.4.1). `nil` if it is invalid.
  ///
  /// - Parameter numbers: Numerators and denominators of the width, the height, and the offsets of its centre
  ///   from that of the frame. Only the offsets can be negative.
  private static func cut(
    byClean numbers: [Int], of frame: PixelSize
  ) -> (left: Int, top: Int, right: Int, bottom: Int)? {
    func fraction(_ index: Int) -> Double? {
      let value = Int32(truncatingIfNeeded: numbers[index])
      return numbers[index + 1] > 0 ? Double(value) / Double(numbers[index + 1]) : nil
    }
    guard let width = fraction(0), let height = fraction(2), let x = fraction(4),
      let y = fraction(6), width >= 1, height >= 1
    else { return nil }
    func cut(_ length: Double, _ offset: Double, of whole: Int) -> (Int, Int)? {
      let start = offset + (Double(whole) - length) / 2
      let (first, count) = (Int(clamping: start), Int(clamping: length))
      guard first >= 0, count <= whole, first <= whole - count else { return nil }
      return (first, whole - count - first)
    }
    guard let across = cut(width, x, of: frame.width), let down = cut(height, y, of: frame.height)
    else { return nil }
    return (across.0, down.0, across.1, down.1)
  }
}

extension Size {
  /// The size of a width and a height in 16.16.
  fileprivate init(fixed numbers: [Int]) {
    self.init(width: Double(numbers[0]) / 65536, height: Double(numbers[1]) / 65536)
  }
}
