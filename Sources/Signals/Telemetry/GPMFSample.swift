/// A sample of a `gpmd` track (GoPro's metadata format, GPMF): devices (`DEVC`) with streams (`STRM`), each of which has a
/// payload of readings for the time of the sample, after what describes it.
///
/// An element is a key of four characters, a type, the size of a structure and the number of structures, and the
/// structures, padded to 32 bits. All numbers are big-endian. Type 0 is an element that contains elements.
package struct GPMFSample: Sendable, Hashable {
  /// The readings of one sensor, in the order of their times: evenly distributed over the time of the sample.
  package struct Stream: Sendable, Hashable {
    package let kind: TelemetryReading.Kind
    /// The index of its device in the sample.
    package let device: Int
    /// `nil` for a reading that isn't finite.
    package let readings: [TelemetryReading?]

    init(kind: TelemetryReading.Kind, device: Int, readings: [TelemetryReading?]) {
      (self.kind, self.device, self.readings) = (kind, device, readings)
    }

    /// Creates the stream of a sample that has one reading, as CAMM's have.
    package init(alone reading: TelemetryReading) {
      self.init(kind: reading.kind, device: 0, readings: [reading])
    }
  }

  /// The streams of known kinds that have readings, in their order.
  package private(set) var streams: [Stream] = []
  private var devices = 0
  private var count = 0

  private static let kinds: [MP4BoxType: TelemetryReading.Kind] = [
    "GRAV": .gravity, "CORI": .cameraOrientation, "IORI": .imageOrientation,
    "ACCL": .acceleration, "GYRO": .rotationRate,
  ]

  /// The largest number of readings. A sample lasts a second, and sensors read some 200 times in it.
  private static let limit = 1 << 16
  /// The deepest nesting that is read.
  private static let deepest = 8

  /// Parses a sample. What is damaged is left out.
  package init(_ sample: [UInt8]) {
    read(sample, sample.indices, depth: 0)
  }

  private struct Element {
    let key: MP4BoxType
    let type: UInt8
    let size: Int
    let count: Int
    let content: Range<Int>
  }

  /// Returns the elements in `range`, up to the first one that is truncated.
  private static func elements(_ bytes: [UInt8], _ range: Range<Int>) -> [Element] {
    var reader = ByteReader(bytes, range)
    var found: [Element] = []
    while found.count < limit, let key = reader.integer(4), let type = reader.count(1),
      let size = reader.count(1), let count = reader.count(2),
      let content = reader.skip(size * count)
    {
      // Padding ends a sample.
      if key == 0 { break }
      found.append(
        Element(
          key: MP4BoxType(number: UInt32(truncatingIfNeeded: key)),
          type: UInt8(truncatingIfNeeded: type), size: size, count: count, content: content))
      let rest = (4 - size * count & 3) & 3
      guard rest == 0 || reader.skip(rest) != nil else { break }
    }
    return found
  }

  private mutating func read(_ bytes: [UInt8], _ range: Range<Int>, depth: Int) {
    let elements = Self.elements(bytes, range)
    let scale =
      elements.first { $0.key == "SCAL" }
      .map { Self.numbers(bytes, $0, columns: 1).joined() }.map(Array.init) ?? []
    // The first cameras don't write their order.
    let axes =
      elements.first { $0.key == "ORIN" && $0.content.count == 3 }
      .map { String(decoding: bytes[$0.content], as: UTF8.self) } ?? "ZXY"
    for element in elements {
      if element.type == 0 {
        if depth < Self.deepest { read(bytes, element.content, depth: depth + 1) }
        if element.key == "DEVC" { devices += 1 }
      } else if let kind = Self.kinds[element.key] {
        add(Self.numbers(bytes, element, columns: kind.count), kind, scale, axes)
      }
    }
  }

  private mutating func add(
    _ rows: [[Double]], _ kind: TelemetryReading.Kind, _ scale: [Double], _ axes: String
  ) {
    let readings = rows.prefix(Self.limit - count).map { row in
      // One divisor for all, or one for each.
      let values = row.indices.map { index in
        row[index] / (scale.count == row.count ? scale[index] : scale.first ?? 1)
      }
      return TelemetryReading(kind, values, axes: axes)
    }
    count += readings.count
    guard readings.contains(where: { $0 != nil }) else { return }
    streams.append(Stream(kind: kind, device: devices, readings: readings))
  }

  /// Returns the numbers of an element in rows of `columns`; none if a structure has another number of them.
  private static func numbers(
    _ bytes: [UInt8], _ element: Element, columns: Int
  ) -> [[Double]] {
    guard let width = widths[element.type], element.size % width == 0 else { return [] }
    let own = element.size / width
    guard own == columns || columns == 1, own > 0 else { return [] }
    var reader = ByteReader(bytes, element.content)
    return (0..<element.count).map { _ in
      (0..<own).map { _ in number(reader.integer(width) ?? 0, element.type) }
    }
  }

  /// The types of numbers, with the bytes that they have.
  private static let widths: [UInt8: Int] = [
    UInt8(ascii: "b"): 1, UInt8(ascii: "B"): 1, UInt8(ascii: "s"): 2, UInt8(ascii: "S"): 2,
    UInt8(ascii: "l"): 4, UInt8(ascii: "L"): 4, UInt8(ascii: "f"): 4, UInt8(ascii: "d"): 8,
    UInt8(ascii: "j"): 8, UInt8(ascii: "J"): 8, UInt8(ascii: "q"): 4, UInt8(ascii: "Q"): 8,
  ]

  private static func number(_ bits: UInt64, _ type: UInt8) -> Double {
    switch type {
    case UInt8(ascii: "b"):
      Double(Int8(truncatingIfNeeded: bits))
    case UInt8(ascii: "s"):
      Double(Int16(truncatingIfNeeded: bits))
    case UInt8(ascii: "l"):
      Double(Int32(truncatingIfNeeded: bits))
    case UInt8(ascii: "j"):
      Double(Int64(bitPattern: bits))
    case UInt8(ascii: "f"):
      Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    case UInt8(ascii: "d"):
      Double(bitPattern: bits)
    // 16 and 32 bits of fraction.
    case UInt8(ascii: "q"):
      Double(Int32(truncatingIfNeeded: bits)) / 65536
    case UInt8(ascii: "Q"):
      Double(Int64(bitPattern: bits)) / 4_294_967_296
    default: Double(bits)
    }
  }
}
