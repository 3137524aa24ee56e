internal import Orientation

extension DisplayOrientationMessage {
  /// Reads the payload of a message of type 47, without emulation prevention bytes; nil where it is cut
  /// short or its period is out of range. Bytes that follow are ignored, as the extension asks.
  public init?(payload: some Collection<UInt8>, codec: DisplayOrientationTracker.Codec) {
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
      // display_orientation_extension_flag: what follows a 1 is to be ignored, so both are read alike.
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

  /// The bytes of the payload, byte-aligned as the SEI message syntax asks. A period above 16384 is
  /// written as 16384; HEVC knows only 0 and 1.
  public func payload(for codec: DisplayOrientationTracker.Codec) -> [UInt8] {
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

  /// A whole SEI NAL unit with this one message: header, message, trailing bits and emulation
  /// prevention; no start code and no length. It goes before the first slice of its access unit.
  public func nal(for codec: DisplayOrientationTracker.Codec) -> [UInt8] {
    let payload = payload(for: codec)
    let raw = [UInt8(Self.payloadType), UInt8(payload.count)] + payload + [0x80]
    return codec.seiHeader + EmulationPrevention.escaped(raw)
  }

  /// The messages in one SEI NAL unit (no start code, no length), in their order; empty for any other
  /// NAL unit. What is cut short is left out.
  public static func messages(
    inNAL nal: some Collection<UInt8>, codec: DisplayOrientationTracker.Codec
  ) -> [DisplayOrientationMessage] {
    let bytes = Array(nal)
    guard case .sei = NALUnit(bytes.span, bytes.indices, codec: codec) else { return [] }
    return messages(in: bytes.span, bytes.indices.dropFirst(codec.headerLength), codec: codec)
  }

  /// The messages of the SEI RBSP (7.3.2.3) that lies escaped in `body`.
  static func messages(
    in bytes: Span<UInt8>, _ body: Range<Int>, codec: DisplayOrientationTracker.Codec
  ) -> [DisplayOrientationMessage] {
    read(in: bytes, body, codec: codec).messages
  }

  /// The messages of the SEI RBSP that lies escaped in `body`, and how many more make no sense: cut
  /// short, or with a period out of range.
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
  /// Where one message lies.
  struct Place {
    /// `payloadType`.
    let type: Int
    /// Type, size and payload.
    let range: Range<Int>
    let payload: Range<Int>
  }

  /// The messages in their order; what is cut short is left out.
  static func ranges(in rbsp: [UInt8]) -> [Place] { scan(rbsp).places }

  /// The whole messages in their order, and the type of one behind them that is cut short; the
  /// trailing bits read as one of another type than any there is.
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

  /// `payloadType` or `payloadSize`: every ff_byte adds 255, the first other byte ends it.
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
