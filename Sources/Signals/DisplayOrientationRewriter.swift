package import UprightOrientation

/// Gives an H.264 or HEVC stream one display orientation for its whole length, or none. It rewrites
/// packets as they are copied; nothing is decoded.
///
/// Every existing display orientation message (SEI payload type 47) is removed. Other messages of
/// the same SEI are kept, byte for byte if nothing was removed. If an orientation is requested, a
/// persistent message (repetition period 1) is inserted before the first slice of every picture at
/// which decoding can start, and of HEVC's leading pictures: they are output before the picture
/// that starts their sequence, so its message doesn't apply to them (ISO/IEC 23008-2 D.3.17).
package struct DisplayOrientationRewriter: Sendable {
  private let codec: DisplayOrientationTracker.Codec
  private let framing: NALFraming
  private let message: [UInt8]?
  private var hasStarted = false
  /// The number of messages inserted so far.
  package private(set) var inserted = 0
  /// The number of messages removed so far.
  package private(set) var removed = 0

  /// Creates a rewriter for one stream.
  ///
  /// - Parameters:
  ///   - configuration: as for `DisplayOrientationTracker`.
  ///   - orientation: the orientation that makes every frame upright; `nil` to only remove
  ///     messages.
  package init(
    codec: DisplayOrientationTracker.Codec, configuration: some Collection<UInt8>,
    orientation: ImageOrientation?
  ) {
    self.codec = codec
    framing = NALFraming(configuration: configuration, codec: codec)
    message = orientation.map { DisplayOrientationMessage(standing: $0).nal(for: codec) }
  }

  /// Returns the rewritten packet, in the framing of the input, or `nil` if it is unchanged.
  /// O(size).
  ///
  /// - Parameter isKey: whether the container marks the packet as one at which decoding can start.
  package mutating func rewrite(_ packet: Span<UInt8>, isKey: Bool) -> [UInt8]? {
    rewrite(packet, message: message, isKey: isKey)
  }

  /// Returns the packet with a message that applies to this picture only (repetition period 0).
  package mutating func rewrite(
    _ packet: Span<UInt8>, stating orientation: ImageOrientation
  ) -> [UInt8]? {
    let own = DisplayOrientationMessage.set(
      SEIDisplayOrientation(orientation), repetitionPeriod: 0)
    return rewrite(packet, message: own.nal(for: codec), isKey: true)
  }

  private mutating func rewrite(
    _ packet: Span<UInt8>, message: [UInt8]?, isKey: Bool
  ) -> [UInt8]? {
    let framing = framing.actual(in: packet)
    var result: [UInt8] = []
    var copied = 0
    var hasPicture = false
    // The start of a unit that must directly precede the slice; otherwise the slice itself is used.
    var prefix: Int?
    var units = NALUnits(framing)
    while let unit = units.next(in: packet) {
      switch NALUnit(packet, unit, codec: codec) {
      case .sei:
        // A prefix unit directly precedes its slice; with an SEI in between it isn't one.
        prefix = nil
        guard let rest = strip(packet, unit) else { continue }
        append(packet, copied..<start(of: unit, in: packet, framing), to: &result)
        if !rest.isEmpty { append(rest, framing, to: &result) }
        copied = unit.upperBound
      case .slice(let slice):
        guard !hasPicture else { continue }
        hasPicture = true
        let isEntry = isKey || slice.startsSequence || slice.isLeading || !hasStarted
        hasStarted = true
        guard slice.isFirst, isEntry, let message else { continue }
        let place = prefix ?? start(of: unit, in: packet, framing)
        append(packet, copied..<place, to: &result)
        append(message, framing, to: &result)
        copied = place
        inserted += 1
      default:
        prefix = isPrefix(packet[unit.lowerBound]) ? start(of: unit, in: packet, framing) : nil
      }
    }
    guard copied > 0 || !result.isEmpty else { return nil }
    append(packet, copied..<packet.count, to: &result)
    return result
  }

  /// Rewrites one packet. The bytes are not retained.
  package mutating func rewrite(_ packet: UnsafeRawBufferPointer, isKey: Bool) -> [UInt8]? {
    unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      rewrite(unsafe bytes.span, isKey: isKey)
    }
  }

  /// Rewrites one packet. The bytes are not retained.
  package mutating func rewrite(
    _ packet: UnsafeRawBufferPointer, stating orientation: ImageOrientation
  ) -> [UInt8]? {
    unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      rewrite(unsafe bytes.span, stating: orientation)
    }
  }

  // MARK: - Bytes

  /// Returns the SEI unit without display orientation messages, empty if it contains no others, or
  /// `nil` if there is nothing to remove.
  private mutating func strip(_ packet: Span<UInt8>, _ unit: Range<Int>) -> [UInt8]? {
    let body = unit.dropFirst(codec.headerLength)
    let rbsp = EmulationPrevention.unescaped(packet, body)
    let messages = SEIMessages.ranges(in: rbsp)
    let ours = messages.filter { $0.type == DisplayOrientationMessage.payloadType }
    guard !ours.isEmpty else { return nil }
    removed += ours.count
    if ours.count == messages.count { return [] }
    var kept: [UInt8] = []
    var position = 0
    for message in ours {
      kept += rbsp[position..<message.range.lowerBound]
      position = message.range.upperBound
    }
    kept += rbsp[position...]
    var header: [UInt8] = []
    append(packet, unit.lowerBound..<unit.lowerBound + codec.headerLength, to: &header)
    return header + EmulationPrevention.escaped(kept)
  }

  /// H.264's prefix NAL unit (G.7.3.2.12) belongs to the slice after it.
  private func isPrefix(_ header: UInt8) -> Bool { codec == .h264 && header & 0x1F == 14 }

  /// Returns the index at which the unit's length or start code begins.
  private func start(of unit: Range<Int>, in packet: Span<UInt8>, _ framing: NALFraming) -> Int {
    switch framing {
    case .lengths(let size): return unit.lowerBound - size
    case .startCodes:
      // 00 00 01, and the zero_byte before it.
      let code = unit.lowerBound - 3
      return code > 0 && packet[code - 1] == 0 ? code - 1 : code
    }
  }

  private func append(_ packet: Span<UInt8>, _ range: Range<Int>, to result: inout [UInt8]) {
    result.reserveCapacity(packet.count + 64)
    for index in range { result.append(packet[index]) }
  }

  private func append(_ unit: [UInt8], _ framing: NALFraming, to result: inout [UInt8]) {
    switch framing {
    case .startCodes: result += [0, 0, 0, 1]
    case .lengths(let size):
      for index in (0..<size).reversed() {
        result.append(UInt8(truncatingIfNeeded: unit.count >> (8 * index)))
      }
    }
    result += unit
  }
}
