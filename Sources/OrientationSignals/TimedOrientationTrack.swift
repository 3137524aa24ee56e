public import Orientation

/// A timed metadata track that says how the pictures of another track lie: Apple's `mebx` ("boxed
/// metadata") with the key `mdta/com.apple.quicktime.video-orientation`, values as EXIF's.
///
/// A sample is a row of boxes whose types are numbers that the sample description's key table gives a
/// meaning to (QuickTime File Format, "Timed Metadata Media").
public struct TimedOrientationTrack: Sendable, Hashable {
  /// The `track_ID` of the track itself.
  public let identifier: Int
  /// The `track_ID`s that it describes (`cdsc`); empty where it does not say.
  public let describes: [Int]
  /// The number that stands for the orientation in its samples.
  let key: UInt32
  let type: ValueType

  /// How a value is written (`dtyp`, the well-known types of QuickTime's metadata).
  enum ValueType: Sendable, Hashable {
    case signed, unsigned
  }

  /// The orientation tracks among the tracks of a movie, in their order.
  ///
  /// - Parameter movie: the content of a `moov` box.
  public static func tracks(inMovie movie: [UInt8]) -> [TimedOrientationTrack] {
    MP4Boxes.all("trak", movie, in: movie.indices).compactMap { Self(movie, track: $0) }
  }

  private init?(_ bytes: [UInt8], track: Range<Int>) {
    guard let header = MP4Boxes.first("tkhd", bytes, in: track),
      let identifier = Self.identifier(bytes, header),
      let table = MP4Boxes.first(["mdia", "minf", "stbl", "stsd"], bytes, in: track)
    else { return nil }
    self.identifier = identifier
    var describes: [Int] = []
    if let references = MP4Boxes.first(["tref", "cdsc"], bytes, in: track) {
      var reader = ByteReader(bytes, references)
      while let track = reader.count(4) { describes.append(track) }
    }
    self.describes = describes
    // Version, flags and count; then the entries, each with eight bytes before its boxes.
    for entry in MP4Boxes.all("mebx", bytes, in: table.dropFirst(8)) {
      guard let keys = MP4Boxes.first("keys", bytes, in: entry.dropFirst(8)) else { continue }
      for key in MP4Boxes(bytes, in: keys) {
        guard let type = Self.orientationType(bytes, key.body) else { continue }
        (self.key, self.type) = (key.type, type)
        return
      }
    }
    return nil
  }

  private static func identifier(_ bytes: [UInt8], _ header: Range<Int>) -> Int? {
    var reader = ByteReader(bytes, header)
    guard let version = reader.count(1), reader.skip(version == 1 ? 19 : 11) != nil else {
      return nil
    }
    return reader.count(4)
  }

  /// How the values of a key are written; nil where it is not the orientation, or not a whole number.
  private static func orientationType(_ bytes: [UInt8], _ key: Range<Int>) -> ValueType? {
    guard let declaration = MP4Boxes.first("keyd", bytes, in: key),
      String(decoding: bytes[declaration], as: UTF8.self)
        == "mdtacom.apple.quicktime.video-orientation",
      let definition = MP4Boxes.first("dtyp", bytes, in: key)
    else { return nil }
    var reader = ByteReader(bytes, definition)
    // Name space 0: the well-known types.
    guard reader.count(4) == 0 else { return nil }
    switch reader.count(4) {
    case 21, 65, 66, 67, 74: return .signed
    case 22, 75, 76, 77, 78: return .unsigned
    default: return nil
    }
  }

  /// What one sample says.
  public enum Value: Sendable, Hashable {
    /// The pictures lie so.
    case orientation(ImageOrientation)
    /// A number that is no orientation.
    case senseless(Int)
    /// Nothing: what was said before no longer stands.
    case absent
  }

  /// What `sample` says, from its time on.
  public func value(of sample: [UInt8]) -> Value {
    for box in MP4Boxes(sample, in: sample.indices) where box.type == key {
      var reader = ByteReader(sample, box.body)
      let size = box.body.count
      guard size > 0, let raw = reader.integer(size) else { return .absent }
      let shift = UInt64(64 - 8 * size)
      let number =
        type == .signed
        ? Int(Int64(bitPattern: raw << shift) >> Int64(shift)) : Int(clamping: raw)
      return ImageOrientation(exif: number).map { .orientation($0) } ?? .senseless(number)
    }
    return .absent
  }
}
