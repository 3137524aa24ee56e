package import UprightOrientation

/// A timed metadata track with the orientation of another track's frames: Apple's `mebx` ("boxed
/// metadata") with the key `mdta/com.apple.quicktime.video-orientation` and EXIF values.
///
/// A sample is a sequence of boxes whose types are numbers defined in the sample description's key
/// table (QuickTime File Format, "Timed Metadata Media").
package struct TimedOrientationTrack: Sendable, Hashable {
  /// The `track_ID` of this track.
  package let identifier: Int
  /// The `track_ID`s of the tracks it describes (`cdsc`); empty if there is no reference.
  package let describes: [Int]
  /// The box type of the orientation in its samples.
  let key: UInt32
  let type: ValueType

  /// The encoding of a value (`dtyp`, the well-known types of QuickTime's metadata).
  enum ValueType: Sendable, Hashable {
    case signed, unsigned
  }

  /// Returns the orientation tracks of a movie, in order.
  ///
  /// - Parameter movie: the content of a `moov` box.
  package static func tracks(inMovie movie: [UInt8]) -> [TimedOrientationTrack] {
    MP4Boxes(movie, in: movie.indices).compactMap {
      $0.type == "trak" ? Self(movie, track: $0.payload) : nil
    }
  }

  private init?(_ bytes: [UInt8], track: Range<Int>) {
    guard let identifier = MovieTrack.identifier(bytes, ofTrack: track),
      let table = MP4Boxes.payload(
        at: "mdia", "minf", "stbl", "stsd", of: bytes, in: track)
    else { return nil }
    self.identifier = identifier
    let references = MP4Boxes.payload(at: "tref", "cdsc", of: bytes, in: track)
    describes = references.map { bytes.numbers(in: $0, width: 4) } ?? []
    // Version, flags and count, then the entries, each with eight bytes before its boxes.
    for entry in MP4Boxes(bytes, in: table.dropFirst(8)) where entry.type == "mebx" {
      let content = entry.payload.dropFirst(8)
      guard let keys = MP4Boxes.payload(at: "keys", of: bytes, in: content) else { continue }
      for key in MP4Boxes(bytes, in: keys) {
        guard let type = Self.orientationType(bytes, key.payload) else { continue }
        (self.key, self.type) = (key.type.number, type)
        return
      }
    }
    return nil
  }

  /// Returns the value encoding of a key, or `nil` if it is not the orientation key, or not an
  /// integer.
  private static func orientationType(_ bytes: [UInt8], _ key: Range<Int>) -> ValueType? {
    guard let declaration = MP4Boxes.payload(at: "keyd", of: bytes, in: key),
      String(decoding: bytes[declaration], as: UTF8.self)
        == "mdtacom.apple.quicktime.video-orientation",
      let definition = MP4Boxes.payload(at: "dtyp", of: bytes, in: key)
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

  /// The content of one sample.
  package enum Value: Sendable, Hashable {
    /// The orientation of the frames.
    case orientation(ImageOrientation)
    /// A number that is not a valid orientation.
    case senseless(Int)
    /// No value: the previous orientation no longer applies.
    case absent
  }

  /// Returns the range of the number in a sample; `nil` if there is none.
  func place(in sample: [UInt8]) -> Range<Int>? {
    MP4Boxes(sample, in: sample.indices).first { $0.type.number == key }?.payload
  }

  /// Returns the value of `sample`, which applies from its time on.
  package func value(of sample: [UInt8]) -> Value {
    if let place = place(in: sample) {
      var reader = ByteReader(sample, place)
      let size = reader.count
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
