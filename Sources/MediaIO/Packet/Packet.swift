internal import CUprightFFmpeg
package import UprightOrientation

/// One compressed packet, the sole owner of its `AVPacket`.
///
/// Sendable because it is the only reference: it is moved between threads, never shared.
package struct Packet: ~Copyable, @unchecked Sendable {
  let raw: UnsafeMutablePointer<AVPacket>
  /// The coordination of video orientation (CVO) that the RTP packets carried. `nil` if they carried none.
  package var cvo: CVO?
  /// Whether this is the body of an FLV script tag (AMF 0).
  package internal(set) var isScript = false
  /// Whether decoding starts anew with this packet: what the decoder still holds comes first.
  package internal(set) var startsAnew = false
  /// The number of bytes of the payload that weren't read (`Demuxer.readHeads`).
  package internal(set) var omittedBytes = 0
  /// The container's metadata, if it changed before this packet.
  package internal(set) var newMetadata: [String: String]?

  init() throws(UprightError) {
    guard let raw = av_packet_alloc() else { throw outOfMemory("packet") }
    self.raw = raw
  }

  init(adopting raw: UnsafeMutablePointer<AVPacket>) { self.raw = raw }

  deinit {
    var pointer: UnsafeMutablePointer<AVPacket>? = raw
    av_packet_free(&pointer)
  }

  /// The presentation timestamp in ticks of `timeBase`. `nil` if the container gives none.
  package var pts: Int64? {
    get { raw.pointee.pts == noTimestamp ? nil : raw.pointee.pts }
    set { raw.pointee.pts = newValue ?? noTimestamp }
  }

  /// The decoding timestamp in ticks of `timeBase`. `nil` if the container gives none.
  package var dts: Int64? {
    get { raw.pointee.dts == noTimestamp ? nil : raw.pointee.dts }
    set { raw.pointee.dts = newValue ?? noTimestamp }
  }

  /// The duration in ticks of `timeBase`. 0 if unknown.
  package var duration: Int64 {
    get { raw.pointee.duration }
    set { raw.pointee.duration = newValue }
  }

  /// The index of the stream it was read from or will be written to.
  package var streamIndex: Int {
    get { Int(raw.pointee.stream_index) }
    set { raw.pointee.stream_index = CInt(newValue) }
  }

  /// Seconds per tick.
  package var timeBase: Rational {
    get { Rational(raw.pointee.time_base) }
    set { raw.pointee.time_base = AVRational(newValue) }
  }

  /// Whether decoding can start here.
  package var isKey: Bool {
    get { raw.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    set {
      if newValue {
        raw.pointee.flags |= AV_PKT_FLAG_KEY
      } else {
        raw.pointee.flags &= ~AV_PKT_FLAG_KEY
      }
    }
  }

  /// Whether the container marks it as decoded but never shown (before an edit list's start).
  package internal(set) var isDiscarded: Bool {
    get { raw.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
    set {
      if newValue {
        raw.pointee.flags |= AV_PKT_FLAG_DISCARD
      } else {
        raw.pointee.flags &= ~AV_PKT_FLAG_DISCARD
      }
    }
  }

  /// The offset in the file, in bytes. `nil` if unknown.
  package var position: Int64? { raw.pointee.pos >= 0 ? raw.pointee.pos : nil }

  /// The size of the payload, in bytes.
  package var size: Int { Int(raw.pointee.size) }

  /// The presentation time, or the decoding time if there is none, or `nil` if there is neither.
  package var time: MediaTime? { (pts ?? dts).map { MediaTime($0, timeBase) } }

  /// The decoding time, or the presentation time if there is none, or `nil` if there is neither.
  package var decodingTime: MediaTime? { (dts ?? pts).map { MediaTime($0, timeBase) } }

  /// The time from this packet to the next one. 0 if unknown.
  package var length: MediaTime { MediaTime(duration, timeBase) }

  /// Calls `body` with the payload's bytes.
  package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    body(UnsafeRawBufferPointer(start: raw.pointee.data, count: size))
  }

  /// The extradata that applies from this packet on. `nil` if the packet carries none.
  package var newExtradata: [UInt8]? {
    var size = 0
    guard let data = av_packet_get_side_data(raw, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0 else {
      return nil
    }
    return Array(UnsafeBufferPointer(start: data, count: size))
  }

  /// Whether a sender report of RTCP relates its times to those of the session's other streams (RFC 3550, 6.4.1).
  package var isReported: Bool { av_packet_get_side_data(raw, AV_PKT_DATA_PRFT, nil) != nil }

  /// Attaches `bytes` as the extradata that applies from this packet on (AV_PKT_DATA_NEW_EXTRADATA).
  package mutating func attachNewExtradata(_ bytes: [UInt8]) throws(UprightError) {
    guard
      let target = av_packet_new_side_data(raw, AV_PKT_DATA_NEW_EXTRADATA, bytes.count)
    else { throw outOfMemory("side data") }
    target.update(from: bytes, count: bytes.count)
  }

  /// Rewrites the timestamps and the duration for `timeBase`, rounding to the nearest tick.
  package mutating func rescale(to timeBase: Rational) {
    av_packet_rescale_ts(raw, raw.pointee.time_base, AVRational(timeBase))
    raw.pointee.time_base = AVRational(timeBase)
  }
}
