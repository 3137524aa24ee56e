internal import CUprightFFmpeg
package import UprightOrientation

/// A packet as bytes, for another process that has the same libraries.
extension Packet {
  /// Appends the packet: its timestamps, its flags, its payload and its side data, as little-endian numbers and
  /// bytes.
  package func append(to bytes: inout [UInt8]) {
    let packet = raw.pointee
    for time in [packet.pts, packet.dts, packet.duration] { bytes.append(number: time) }
    bytes.append(number: packet.time_base.num)
    bytes.append(number: packet.time_base.den)
    bytes.append(number: packet.flags)
    bytes.append(number: packet.stream_index)
    bytes.append(number: UInt32(clamping: size))
    withBytes { bytes.append(contentsOf: $0) }
    bytes.append(number: UInt32(clamping: max(0, packet.side_data_elems)))
    for index in 0..<Int(max(0, packet.side_data_elems)) {
      let side = packet.side_data[index]
      bytes.append(number: side.type.rawValue)
      bytes.append(number: UInt32(clamping: side.size))
      bytes.append(contentsOf: UnsafeRawBufferPointer(start: side.data, count: side.size))
    }
  }

  /// Reads a packet that `append` wrote.
  ///
  /// - Throws: `badData` if it is truncated or has implausible timestamps.
  package static func read(_ record: ArraySlice<UInt8>) throws(UprightError) -> Packet {
    var rest = record
    let packet = try Packet()
    let raw = packet.raw
    let times = (
      try rest.number(Int64.self), try rest.number(Int64.self), try rest.number(Int64.self)
    )
    let base = (try rest.number(CInt.self), try rest.number(CInt.self))
    let (flags, index) = (try rest.number(CInt.self), try rest.number(CInt.self))
    let payload = try rest.bytes(Int(try rest.number(UInt32.self)))
    let tick = Rational(Int(base.0), Int(base.1))
    guard base.0 > 0, base.1 > 0, index >= 0, payload.count <= Int(CInt.max) else {
      throw malformed
    }
    for time in [times.0, times.1] where time != noTimestamp && !tick.isPlausible(time) {
      throw malformed
    }
    guard Int64.plausibleDurations.contains(times.2), tick.isPlausible(times.2) else {
      throw malformed
    }
    try check(av_new_packet(raw, CInt(payload.count))) { _ in outOfMemory("packet") }
    if let target = raw.pointee.data { payload.withUnsafeBytes { copy($0, to: target) } }
    (raw.pointee.pts, raw.pointee.dts, raw.pointee.duration) = times
    raw.pointee.time_base = AVRational(num: base.0, den: base.1)
    (raw.pointee.flags, raw.pointee.stream_index) = (flags, index)
    for _ in 0..<(try rest.number(UInt32.self)) {
      let type = AVPacketSideDataType(rawValue: try rest.number(UInt32.self))
      let side = try rest.bytes(Int(try rest.number(UInt32.self)))
      guard type.rawValue < AV_PKT_DATA_NB.rawValue else { throw malformed }
      guard let target = av_packet_new_side_data(raw, type, side.count) else {
        throw outOfMemory("side data")
      }
      side.withUnsafeBytes { copy($0, to: target) }
    }
    guard rest.isEmpty else { throw malformed }
    return packet
  }

  private static func copy(_ bytes: UnsafeRawBufferPointer, to target: UnsafeMutablePointer<UInt8>)
  {
    guard let start = bytes.baseAddress else { return }
    UnsafeMutableRawPointer(target).copyMemory(from: start, byteCount: bytes.count)
  }

  fileprivate static var malformed: UprightError {
    UprightError(.badData, "a packet is damaged")
  }

  /// Adds what a decoder and a muxer use of the packet to a digest: the presentation time, whether it is a
  /// keyframe, and the payload. The decoding time and the duration aren't added: libavformat derives them from
  /// the packets before, so they depend on where reading started, and of which streams.
  package func add(to digest: ByteDigest) {
    var head: [UInt8] = []
    head.append(number: raw.pointee.pts)
    head.append(isKey ? 1 : 0)
    digest.add(head)
    withBytes { digest.add($0) }
  }
}

extension [UInt8] {
  /// Appends an integer, the lowest byte first.
  package mutating func append<Number: FixedWidthInteger>(number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}

extension ArraySlice<UInt8> {
  /// Removes and returns an integer, the lowest byte first.
  ///
  /// - Throws: `badData` if there are too few bytes.
  package mutating func number<Number: FixedWidthInteger>(
    _ type: Number.Type
  ) throws(UprightError) -> Number {
    try bytes(MemoryLayout<Number>.size).reversed().reduce(0) {
      $0 << 8 | Number(truncatingIfNeeded: $1)
    }
  }

  /// Removes and returns `count` bytes.
  ///
  /// - Throws: `badData` if there are too few.
  package mutating func bytes(_ count: Int) throws(UprightError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= self.count else { throw Packet.malformed }
    defer { removeFirst(count) }
    return prefix(count)
  }
}
