internal import UprightOrientation

/// Replaces the display orientation messages of H.264 and HEVC access units by filler payload of the same length, so that
/// the container's orientation alone applies (ISO/IEC 14496-10, D.1.4; ISO/IEC 23008-2, D.2.4).
struct MessagePatch {
  private let codec: DisplayOrientationTracker.Codec
  /// The bytes of a NAL unit's length.
  private let lengthSize: Int
  private let file: any ByteFile
  /// The bytes that were read last, and where they are.
  private var window: [UInt8] = []
  private var windowStart = 0
  /// Messages are in units of SEI, which are small.
  private static let largestUnit = 1 << 20
  private static let windowSize = 1 << 12

  /// Returns `nil` if units of access units aren't preceded by their lengths.
  init?(
    _ file: any ByteFile, codec: DisplayOrientationTracker.Codec,
    configuration: some Collection<UInt8>
  ) {
    guard case .lengths(let size) = NALFraming(configuration: configuration, codec: codec) else {
      return nil
    }
    (self.file, self.codec, lengthSize) = (file, codec, size)
  }

  private mutating func bytes(at position: Int, _ count: Int) throws(UprightError) -> ArraySlice<
    UInt8
  > {
    let isInside =
      position >= windowStart && position - windowStart <= window.count - count
    if !isInside {
      window = try file.bytes(in: position..<position + max(count, Self.windowSize))
      windowStart = position
    }
    return window.dropFirst(position - windowStart).prefix(count)
  }

  /// Returns the edits of one access unit. Only the lengths and types of its other units are read.
  ///
  /// - Throws: `badData` if a message can't be replaced.
  mutating func edits(in sample: Range<Int>) throws(UprightError) -> [ByteEdit] {
    var edits: [ByteEdit] = []
    var position = sample.lowerBound
    while position + lengthSize < sample.upperBound {
      let head = try bytes(at: position, lengthSize + 1)
      guard head.count == lengthSize + 1, let type = head.last else { break }
      let length = head.dropLast().reduce(0) { $0 << 8 | Int($1) }
      let start = position + lengthSize
      // A length of 0, or one beyond the sample, is none: what follows can't be found.
      guard length > 0, length <= sample.upperBound - start else { break }
      if isMessageUnit(type), length <= Self.largestUnit {
        let unit = Array(try bytes(at: start, length))
        if unit.count == length, let edit = try edit(of: unit, at: start) { edits.append(edit) }
      }
      position = start + length
    }
    return edits
  }

  private func isMessageUnit(_ header: UInt8) -> Bool {
    switch codec {
    case .h264: header & 0x1F == 6
    // Prefix and suffix SEI.
    case .hevc: [39, 40].contains(header >> 1 & 0x3F)
    }
  }

  /// Returns the edit of a unit with SEI; `nil` if it has no display orientation.
  func edit(of unit: [UInt8], at offset: Int) throws(UprightError) -> ByteEdit? {
    guard unit.count > codec.headerLength else { return nil }
    let body = unit.indices.dropFirst(codec.headerLength)
    let rbsp = EmulationPrevention.unescaped(unit.span, body)
    let messages = SEIMessages.ranges(in: rbsp).filter {
      $0.type == DisplayOrientationMessage.payloadType
    }
    guard !messages.isEmpty else { return nil }
    // Emulation prevention may make the new unit shorter or longer than the old one. The last message evens that out.
    var surplus = 0
    for _ in 0..<4 {
      guard let filled = fill(messages, in: rbsp, surplus: surplus) else { break }
      let escaped = EmulationPrevention.escaped(filled)
      let missing = body.count - escaped.count
      if missing == 0 {
        return ByteEdit(at: offset, unit, unit.prefix(codec.headerLength) + escaped)
      }
      surplus += missing
    }
    throw UprightError(
      .badData, "a display orientation message (SEI) can't be removed without moving bytes",
      remedy: "add --sei, which writes the file anew")
  }
  /// Returns the payload with filler in place of `messages`, of which the last one has `surplus` more bytes; `nil` if a
  /// size has more than one byte.
  private func fill(_ messages: [SEIMessages.Place], in rbsp: [UInt8], surplus: Int) -> [UInt8]? {
    var filled: [UInt8] = []
    var position = 0
    for (index, message) in messages.enumerated() {
      let size = message.range.count - 2 + (index == messages.count - 1 ? surplus : 0)
      guard (0..<255).contains(size) else { return nil }
      filled += rbsp[position..<message.range.lowerBound]
      filled += [3, UInt8(truncatingIfNeeded: size)] + [UInt8](repeating: 0xFF, count: size)
      position = message.range.upperBound
    }
    return filled + rbsp[position...]
  }
}
