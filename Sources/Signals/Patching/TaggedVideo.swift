internal import UprightOrientation

/// A video track of a Matroska file, in the content of its Tracks element (RFC 9559, 5.1.4).
struct TaggedVideo {
  let entry: MatroskaElement
  /// The Video element, its projection, and the elements in it.
  let video: MatroskaElement
  let projection: MatroskaElement?
  let pose: [MatroskaElement]
  let number: Int
  let isEnabled: Bool
  let codec: String
  let configuration: Range<Int>
  let size: PixelSize
  /// Whether frames are compressed or encrypted, so that they can't be read.
  let isEncoded: Bool
  /// The name of a description of several views or of a sphere; `nil` if there is none.
  let spatial: String?

  enum ID {
    static let number: UInt32 = 0xD7
    static let enabled: UInt32 = 0xB9
    static let codec: UInt32 = 0x86
    static let configuration: UInt32 = 0x63A2
    static let encodings: UInt32 = 0x6D80
    static let width: UInt32 = 0xB0
    static let height: UInt32 = 0xBA
    static let stereo: UInt32 = 0x53B8
    static let yaw: UInt32 = 0x7673
    static let pitch: UInt32 = 0x7674
    static let roll: UInt32 = 0x7675
  }

  /// Returns `nil` if the entry isn't one of video.
  init?(_ tracks: [UInt8], _ entry: MatroskaElement) {
    let children = MatroskaElement.children(tracks, in: entry.content)
    func first(_ id: UInt32, _ elements: [MatroskaElement]) -> MatroskaElement? {
      elements.first { $0.id == id }
    }
    func integer(_ id: UInt32, _ elements: [MatroskaElement]) -> Int? {
      first(id, elements).flatMap { element in
        element.content.count <= 7 ? tracks[element.content].reduce(0) { $0 << 8 | Int($1) } : nil
      }
    }
    guard integer(MatroskaID.trackType, children) == 1,
      let video = first(MatroskaID.video, children)
    else { return nil }
    self.entry = entry
    self.video = video
    number = integer(ID.number, children) ?? 0
    isEnabled = integer(ID.enabled, children) != 0
    codec = String(
      decoding: first(ID.codec, children).map { tracks[$0.content] } ?? [], as: UTF8.self)
    configuration = first(ID.configuration, children)?.content ?? 0..<0
    isEncoded = first(ID.encodings, children) != nil
    let inside = MatroskaElement.children(tracks, in: video.content)
    size = PixelSize(integer(ID.width, inside) ?? 0, integer(ID.height, inside) ?? 0)
    projection = first(MatroskaID.projection, inside)
    pose = projection.map { MatroskaElement.children(tracks, in: $0.content) } ?? []
    if integer(MatroskaID.projectionType, pose) ?? 0 != 0 {
      spatial = "a spherical projection"
    } else if integer(ID.stereo, inside) ?? 0 != 0 {
      spatial = "a stereoscopic layout (StereoMode)"
    } else {
      spatial = nil
    }
  }

  /// Returns the degrees of an angle of the projection; 0 if it is absent.
  func angle(_ id: UInt32, _ tracks: [UInt8]) -> Double {
    guard let element = pose.first(where: { $0.id == id }) else { return 0 }
    let bits = tracks[element.content].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    switch element.content.count {
    case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    case 8: return Double(bitPattern: bits)
    default: return 0
    }
  }

  /// The orientation of the projection; `nil` if it is none of the eight.
  func orientation(_ tracks: [UInt8]) -> ImageOrientation? {
    let yaw = abs(angle(ID.yaw, tracks))
    guard yaw == 0 || yaw == 180, angle(ID.pitch, tracks) == 0,
      let turn = ProjectionRoll(degrees: angle(ID.roll, tracks)).orientation
    else { return nil }
    return yaw == 180 ? ImageOrientation.upMirrored.then(turn) : turn
  }

  /// Yaw, pitch and roll of an orientation, in degrees. A yaw of 180 degrees is a flip, which comes before the roll.
  static func angles(_ orientation: ImageOrientation) -> [(id: UInt32, degrees: Double)] {
    let clockwise = Double(orientation.clockwiseDegrees)
    return [
      (ID.yaw, orientation.isMirrored ? 180 : 0), (ID.pitch, 0),
      (ID.roll, clockwise > 180 ? 360 - clockwise : -clockwise),
    ]
  }

  /// Returns a number as the content of an element that has `count` bytes: 4 or 8.
  static func float(_ degrees: Double, count: Int) -> [UInt8] {
    count == 4
      ? .big(Int(Float(degrees).bitPattern), bytes: 4)
      : .big(Int(truncatingIfNeeded: degrees.bitPattern), bytes: 8)
  }
}
