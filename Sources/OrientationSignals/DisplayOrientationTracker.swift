/// Follows the display orientation SEI messages of an H.264 or HEVC stream: packets go in as they are
/// decoded, pictures are asked for as they are presented.
///
/// A message reaches as far as the standards say, in *output* order (ISO/IEC 14496-10 D.2.27, ISO/IEC
/// 23008-2 D.3.17): its own picture, or until a new coded video sequence or the next picture with a
/// message, be it another orientation, one for that picture only, or a cancel. A coded video sequence
/// starts at an H.264 IDR; at an HEVC IDR, BLA, or a CRA that is first or follows an end of sequence. It
/// is decided in decoding order: leading pictures of a new sequence belong to it, and as they come out
/// before the picture that started it, that picture's message does not reach them.
///
/// Memory is bounded (512 pictures), whatever the timestamps. Damaged units are passed over.
public struct DisplayOrientationTracker: Sendable {
  /// The codecs with this message.
  public enum Codec: Sendable, Hashable, CaseIterable {
    /// H.264, ISO/IEC 14496-10.
    case h264
    /// HEVC, ISO/IEC 23008-2.
    case hevc
  }

  private let initial: AccessUnitReader
  private var reader: AccessUnitReader
  private var order = PictureOrder()

  /// Messages passed over so far because they are cut short or make no sense.
  public var damagedMessages: Int { reader.damagedMessages }
  /// Pictures held now.
  var heldPictures: Int { order.count }

  /// A tracker for one stream.
  ///
  /// - Parameter configuration: the container's avcC or hvcC, which says how long a NAL unit's length
  ///   is; empty, or parameter sets with start codes, where packets have start codes. Packets that
  ///   plainly are of the other kind are read as such.
  public init(codec: Codec, configuration: some Collection<UInt8>) {
    initial = AccessUnitReader(codec: codec, configuration: configuration)
    reader = initial
  }

  /// Looks at one packet, in decoding order. O(size).
  ///
  /// - Parameter pts: in ticks; nil where there is none: then pictures are taken to be presented in
  ///   decoding order.
  public mutating func note(_ packet: Span<UInt8>, pts: Int64?) {
    guard let picture = reader.read(packet, pts: pts) else { return }
    order.add(picture, pts: pts)
    while order.count > PictureOrder.capacity { _ = order.removeFirst() }
  }

  /// Looks at one packet, in decoding order.
  public mutating func note(_ packet: [UInt8], pts: Int64?) { note(packet.span, pts: pts) }

  /// Looks at one packet, in decoding order. The bytes are not kept.
  public mutating func note(_ packet: UnsafeRawBufferPointer, pts: Int64?) {
    unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      note(unsafe bytes.span, pts: pts)
    }
  }

  /// The signal that stands for the picture presented at `pts`; nil where none does and the stream-level
  /// value counts. For a nil `pts`, the picture after the last one asked for.
  ///
  /// Ask in presentation order, once the packets that come before the picture in decoding order have
  /// been noted, its own included. Asking again at the same time gives the same answer.
  public mutating func signal(at pts: Int64?) -> DisplayOrientationSignal? {
    order.values(at: pts).map(DisplayOrientationSignal.init)
  }

  /// Forgets everything noted: after a seek, where the next packet starts anew.
  public mutating func reset() {
    reader = initial
    order = PictureOrder()
  }
}
