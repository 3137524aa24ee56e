internal import UprightOrientation

extension DisplayOrientationMessage {
  /// Parses the payload of a message of type 47, without emulation prevention bytes. Returns `nil`
  /// if it is truncated or its period is out of range. Trailing bytes are ignored, as the syntax's
  /// extension mechanism requires.
  package init?(payload: some Collection<UInt8>, codec: DisplayOrientationTracker.Codec) {
    // The longest message has 19 + 29 + 1 bits.
    var bits = BitReader(Array(payload.prefix(8)))
    guard let isCancel = bits.flag() else { return nil }
    guard !isCancel else {
      self = .cancel
      return
    }
    guard let horizontal = bits.flag(), let vertical = bits.flag(), let rotation = bits.bits(16)
    else { return nil }
    let period: UInt32?
    switch codec {
    case .h264:
      period = bits.exponentialGolomb()
      // display_orientation_extension_flag: data after a 1 is to be ignored, so both values are
      // handled alike.
      guard bits.flag() != nil else { return nil }
    case .hevc:
      period = bits.bits(1)
    }
    guard let period, period <= Self.maximumRepetitionPeriod else { return nil }
    self = .set(
      SEIDisplayOrientation(
        horizontalFlip: horizontal, verticalFlip: vertical,
        anticlockwiseRotation: UInt16(truncatingIfNeeded: rotation)),
      repetitionPeriod: UInt16(truncatingIfNeeded: period))
  }

  /// Returns the bytes of the payload, byte-aligned as the SEI message syntax requires. A period
  /// above 16384 is written as 16384; HEVC has only 0 and 1.
  package func payload(for codec: DisplayOrientationTracker.Codec) -> [UInt8] {
    var bits = BitWriter()
    switch self {
    case .cancel:
      bits.append(1, count: 1)
    case .set(let values, let period):
      bits.append(0, count: 1)
      bits.append(values.horizontalFlip ? 1 : 0, count: 1)
      bits.append(values.verticalFlip ? 1 : 0, count: 1)
      bits.append(UInt32(values.anticlockwiseRotation), count: 16)
      switch codec {
      case .h264:
        bits.appendExponentialGolomb(min(period, Self.maximumRepetitionPeriod))
        bits.append(0, count: 1)
      case .hevc:
        bits.append(period > 0 ? 1 : 0, count: 1)
      }
    }
    return bits.aligned()
  }

  /// Returns a complete SEI NAL unit with this one message: header, message, trailing bits and
  /// emulation prevention, without start code or length. It belongs before the first slice of its
  /// access unit.
  package func nal(for codec: DisplayOrientationTracker.Codec) -> [UInt8] {
    let payload = payload(for: codec)
    let raw = [UInt8(Self.payloadType), UInt8(payload.count)] + payload + [0x80]
    return codec.seiHeader + EmulationPrevention.escaped(raw)
  }

  /// Returns the messages in one SEI NAL unit (without start code or length), in order; empty for
  /// any other NAL unit. Truncated messages are left out.
  package static func messages(
    inNAL nal: some Collection<UInt8>, codec: DisplayOrientationTracker.Codec
  ) -> [DisplayOrientationMessage] {
    let bytes = Array(nal)
    guard case .sei = NALUnit(bytes.span, bytes.indices, codec: codec) else { return [] }
    return messages(in: bytes.span, bytes.indices.dropFirst(codec.headerLength), codec: codec)
  }

  /// Returns the messages of the SEI RBSP (7.3.2.3) whose escaped bytes are in `body`.
  static func messages(
    in bytes: Span<UInt8>, _ body: Range<Int>, codec: DisplayOrientationTracker.Codec
  ) -> [DisplayOrientationMessage] {
    read(in: bytes, body, codec: codec).messages
  }

  /// Returns the messages of the SEI RBSP whose escaped bytes are in `body`, and the number of
  /// invalid ones: truncated, or with a period out of range.
  static func read(
    in bytes: Span<UInt8>, _ body: Range<Int>, codec: DisplayOrientationTracker.Codec
  ) -> (messages: [DisplayOrientationMessage], damaged: Int) {
    let rbsp = EmulationPrevention.unescaped(bytes, body)
    let found = SEIMessages.scan(rbsp)
    let ours = found.places.filter { $0.type == payloadType }
    let messages = ours.compactMap {
      DisplayOrientationMessage(payload: rbsp[$0.payload], codec: codec)
    }
    let isCut = found.cutType == payloadType
    return (messages, ours.count - messages.count + (isCut ? 1 : 0))
  }
}

/// The messages of an SEI RBSP (ISO/IEC 14496-10, 7.3.2.3; ISO/IEC 23008-2, 7.3.2.4).
enum SEIMessages {
  /// The location of one message.
  struct Place {
    /// `payloadType`.
    let type: Int
    /// Type, size and payload.
    let range: Range<Int>
    let payload: Range<Int>
  }

  /// Returns the messages in order. A truncated message is left out.
  static func ranges(in rbsp: [UInt8]) -> [Place] { scan(rbsp).places }

  /// Returns the complete messages in order, and the type of a truncated message after them. The
  /// trailing bits parse as a message of a type that doesn't exist.
  static func scan(_ rbsp: [UInt8]) -> (places: [Place], cutType: Int?) {
    var found: [Place] = []
    var position = 0
    while true {
      let start = position
      guard let type = extended(rbsp, &position) else { return (found, nil) }
      guard let size = extended(rbsp, &position), size <= rbsp.count - position else {
        return (found, type)
      }
      let payload = position..<position + size
      found.append(Place(type: type, range: start..<payload.upperBound, payload: payload))
      position += size
    }
  }

  /// Reads `payloadType` or `payloadSize`: every ff_byte adds 255, the first other byte ends it.
  private static func extended(_ bytes: [UInt8], _ position: inout Int) -> Int? {
    var value = 0
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      value += Int(byte)
      if byte != 0xFF { return value }
    }
    return nil
  }
}
