internal import UprightOrientation
internal import UprightSignals
internal import UprightMediaIO

/// The orientation in the bytes of pictures, where the linked FFmpeg may not read it: EXIF in PNG and WebP (its decoders do
/// from version 8 on), the rotation and the mirror of an AVIF file.
struct PictureSignals {
  /// The format of the packets; `nil` for one picture in a file.
  private let format: PatchedFormat?
  /// The turn of all frames.
  private var turn: DisplayTurn?
  /// The turns of frames that aren't decoded yet, by their timestamps.
  private var waiting: [Int64?: DisplayTurn] = [:]

  /// Returns `nil` if `video` has no such pictures.
  init?(_ source: any PacketSource, _ video: StreamInfo) {
    switch video.codecName {
    case "png": format = .png
    case "webp": format = .webp
    case "av1" where video.displayMatrix == nil:
      guard let demuxer = source as? Demuxer, demuxer.container.format.contains("mp4"),
        let file = demuxer.bytes(), MovieIndex.picture(in: file) != nil,
        let picture = try? ImageInspection(SourceFile(source: file), .heif).orientation,
        picture != .up
      else { return nil }
      (format, turn) = (nil, DisplayTurn(picture))
    default: return nil
    }
  }

  /// Reads a packet before it is decoded.
  mutating func read(_ packet: borrowing Packet) {
    guard let format else { return }
    let bytes = unsafe packet.withBytes { unsafe [UInt8]($0) }
    guard let inspected = try? ImageInspection(bytes, format) else { return }
    waiting[packet.pts] = inspected.orientation.map { DisplayTurn($0) }
  }

  /// Returns the turn of the frame presented at `pts`; `nil` if it says none.
  mutating func turn(at pts: Int64?) -> DisplayTurn? { turn ?? waiting.removeValue(forKey: pts) }
}

/// A file that is read like one in memory.
private struct SourceFile: ByteFile {
  let source: ByteSource

  var size: Int { source.size ?? 0 }

  func bytes(in range: Range<Int>) -> [UInt8] {
    source.read(at: range.lowerBound, count: range.count)
  }
}
