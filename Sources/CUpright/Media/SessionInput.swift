internal import CUprightHeader
internal import CUprightPolicy
internal import UprightOrientation
internal import UprightLive

// What a session reads of the caller's structs.

extension upright_rational {
  /// A time base.
  ///
  /// - Throws: `usage` if it isn't positive.
  func checked() throws(UprightError) -> Rational {
    guard numerator > 0, denominator > 0 else {
      throw UprightError(
        .usage, "the time base is not positive", at: "time_base", remedy: "give seconds per tick")
    }
    return Rational(self)
  }
}

extension upright_stream {
  func video() throws(UprightError) -> VideoDescription {
    guard unsafe (0...65535).contains(width), unsafe (0...65535).contains(height) else {
      throw UprightError(
        .usage, unsafe "a size of \(width)x\(height)", at: "width and height",
        remedy: "give 1 to 65535 pixels, or 0")
    }
    let size = unsafe width > 0 && height > 0 ? PixelSize(Int(width), Int(height)) : nil
    return try VideoDescription(unsafe named("video"), extradata: unsafe extra(), size: size)
  }

  func audio() throws(UprightError) -> AudioDescription {
    unsafe try AudioDescription(
      unsafe named("audio"), sampleRate: Int(sample_rate), channels: Int(channels),
      extradata: unsafe extra())
  }

  private func named<Codec: RawRepresentable<String> & CaseIterable>(
    _ track: String
  ) throws(UprightError) -> Codec {
    let name = unsafe try required(codec, "codec")
    guard let codec = Codec(rawValue: name) else {
      throw UprightError(
        .usage, "there is no such codec", at: track,
        remedy: "use one of " + Codec.allCases.map(\.rawValue).joined(separator: ", "))
    }
    return codec
  }

  private func extra() throws(UprightError) -> [UInt8] {
    unsafe try bytes(extradata, extradata_size, "extradata")
  }
}

/// Copies bytes of the caller's.
///
/// - Throws: `misuse` for NULL with a length, `usage` for more than a codec's library takes.
func bytes(
  _ start: UnsafePointer<UInt8>?, _ count: Int, _ argument: String
) throws(UprightError) -> [UInt8] {
  guard count != 0 else { return [] }
  guard let start = unsafe start else { throw .missing(argument) }
  guard count > 0, count <= 1 << 30 else {
    throw UprightError(.usage, "\(UInt(bitPattern: count)) bytes are too many", at: argument)
  }
  return unsafe Array(UnsafeBufferPointer(start: start, count: count))
}

extension upright_packet {
  func encoded() throws(UprightError) -> EncodedPacket {
    guard unsafe (0...1).contains(track) else {
      throw UprightError(
        .usage, unsafe "\(track) is not a track", at: "track",
        remedy: "use UPRIGHT_VIDEO or UPRIGHT_AUDIO")
    }
    guard unsafe length > 0 else {
      throw UprightError(.usage, "the packet is empty", at: "length", remedy: "leave it out")
    }
    guard unsafe pts != .min, unsafe duration >= 0 else {
      throw UprightError(
        .usage, "the packet has no time", at: "pts and duration",
        remedy: "give ticks of the time base")
    }
    guard unsafe (0...255).contains(cvo) else {
      throw UprightError(.usage, unsafe "\(cvo) is not a byte", at: "cvo", remedy: "give 0 to 255")
    }
    return unsafe EncodedPacket(
      unsafe try CUpright.bytes(bytes, length, "bytes"), pts: pts, dts: dts == .min ? nil : dts,
      duration: duration, timeBase: try time_base.checked(), isKey: is_key != 0,
      cvo: has_cvo != 0 ? CVO(byte: UInt8(truncatingIfNeeded: cvo)) : nil,
      track: track == UPRIGHT_AUDIO ? .audio : .video)
  }
}

/// Returns the caller's struct.
///
/// - Throws: `misuse` for NULL, or without a size.
func prepared(
  _ stream: UnsafePointer<upright_stream>?, _ name: String
) throws(UprightError) -> upright_stream {
  guard let stream = unsafe stream else { throw .missing(name) }
  guard unsafe stream.pointee.size >= MemoryLayout<upright_stream>.size else {
    throw .unprepared(name)
  }
  return unsafe stream.pointee
}
