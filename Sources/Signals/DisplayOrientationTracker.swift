/// Tracks the display orientation SEI messages of an H.264 or HEVC stream. Packets are passed in
/// decoding order; signals are queried in presentation order.
///
/// A message applies as the standards define, in *output* order (ISO/IEC 14496-10 D.2.27, ISO/IEC
/// 23008-2 D.3.17): to its own picture only, or until a new coded video sequence or the next
/// picture with a message, which may be another orientation, one for that picture only, or a
/// cancel. A coded video sequence starts at an H.264 IDR; at an HEVC IDR, BLA, or a CRA that is
/// first or follows an end of sequence. This is determined in decoding order: leading pictures of a
/// new sequence belong to it, and because they are output before the picture that started it, that
/// picture's message doesn't apply to them.
///
/// Memory is bounded (512 pictures) for any timestamps. Damaged units are skipped.
package struct DisplayOrientationTracker: Sendable {
  /// The codecs with display orientation messages.
  package enum Codec: Sendable, Hashable, CaseIterable {
    /// H.264, ISO/IEC 14496-10.
    case h264
    /// HEVC, ISO/IEC 23008-2.
    case hevc
  }

  private var reader: AccessUnitReader
  private var order = PictureOrder()

  /// The number of truncated or invalid messages skipped so far.
  package var damagedMessages: Int { reader.damagedMessages }
  /// The number of pictures held now.
  var heldPictures: Int { order.count }

  /// Creates a tracker for one stream.
  ///
  /// - Parameter configuration: the container's avcC or hvcC, which contains the size of a NAL
  ///   unit's length field. Empty, or parameter sets with start codes, if packets have start codes.
  ///   Packets that are clearly of the other kind are read as such.
  package init(codec: Codec, configuration: some Collection<UInt8>) {
    reader = AccessUnitReader(codec: codec, configuration: configuration)
  }

  /// Processes one packet, in decoding order. O(size).
  ///
  /// - Parameter pts: the presentation timestamp in ticks. `nil` if there is none: pictures are
  ///   then assumed to be presented in decoding order.
  package mutating func read(_ packet: Span<UInt8>, pts: Int64?) {
    guard let picture = reader.read(packet, pts: pts) else { return }
    order.add(picture, pts: pts)
    while order.count > PictureOrder.capacity { _ = order.removeFirst() }
  }

  /// Processes one packet, in decoding order.
  package mutating func read(_ packet: [UInt8], pts: Int64?) { read(packet.span, pts: pts) }

  /// Processes one packet, in decoding order. The bytes are not retained.
  package mutating func read(_ packet: UnsafeRawBufferPointer, pts: Int64?) {
    unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      read(unsafe bytes.span, pts: pts)
    }
  }

  /// Returns the signal for the frame presented at `pts`, or `nil` if none applies and the
  /// stream-level value is to be used. With a `nil` `pts`, returns the signal for the frame after
  /// the last one queried.
  ///
  /// Query in presentation order, after `read` was called for the frame's own packet and all
  /// packets before it in decoding order. Repeating a query for the same time returns the same
  /// result.
  package mutating func signal(at pts: Int64?) -> DisplayOrientationSignal? {
    order.values(at: pts).map(DisplayOrientationSignal.init)
  }
}
