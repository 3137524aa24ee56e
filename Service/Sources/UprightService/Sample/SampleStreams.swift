internal import CUprightConsole
internal import UprightOrientation
internal import UprightRTMP

/// The scene of the sample as a phone's sensor delivers it: a stream of FLV for each orientation in which the phone can be
/// held upright. All are equally long and have keyframes at the same times, so that one can follow another.
struct SampleStreams: Sendable {
  /// A tag, followed by its size, as in a file.
  struct Tag: Sendable {
    /// The time in the scene, in milliseconds.
    let milliseconds: Int
    fileprivate let bytes: [UInt8]

    /// Returns the bytes with another timestamp, in milliseconds.
    func bytes(at milliseconds: Int) -> [UInt8] {
      var bytes = bytes
      let time = UInt32(clamping: milliseconds & 0xFFFF_FFFF)
      for (place, shift) in [(4, 16), (5, 8), (6, 0), (7, 24)] as [(Int, UInt32)] {
        bytes[place] = UInt8(clamping: time >> shift & 0xFF)
      }
      return bytes
    }
  }

  /// The duration of a group of frames, which begins with a keyframe, in milliseconds.
  static let groupMilliseconds = 200
  private static let frameMilliseconds = 40
  private static let framesPerGroup = groupMilliseconds / frameMilliseconds
  /// A frame of AAC at 48 kHz has 1024 samples: three last 64 ms.
  private static let soundMilliseconds = (3, 64)

  /// The parameters of both codecs, which are those of all streams.
  let parameters: [Tag]
  private let frames: [DeviceOrientation: [Tag]]
  private let sound: [Tag]
  /// The number of groups in the scene.
  let groups: Int

  init() {
    var parameters: [Tag] = []
    var frames: [DeviceOrientation: [Tag]] = [:]
    var sound: [Tag] = []
    for held in [DeviceOrientation.portrait, .portraitUpsideDown, .landscapeLeft, .landscapeRight] {
      var pictures: [Tag] = []
      // The header of a file, and the size of the tag before the first one.
      let file = unsafe Self.file(of: held).content.dropFirst(13)
      for bytes in FLVTag.tags(of: Array(file)) {
        let isVideo = bytes[0] == 9
        // The second byte of AVC's and AAC's data: 0 for the codec's parameters, 1 for media.
        guard isVideo || bytes[0] == 8, bytes.count > 13, bytes[12] <= 1 else { continue }
        if bytes[12] == 0 {
          if held == .portrait { parameters.append(Tag(milliseconds: 0, bytes: bytes)) }
        } else if isVideo {
          let time = pictures.count * Self.frameMilliseconds
          pictures.append(Tag(milliseconds: time, bytes: bytes))
        } else {
          let (count, time) = Self.soundMilliseconds
          sound.append(Tag(milliseconds: sound.count * time / count, bytes: bytes))
        }
      }
      frames[held] = pictures
    }
    groups = (frames.values.map(\.count).min() ?? 0) / Self.framesPerGroup
    let end = groups * Self.groupMilliseconds
    (self.parameters, self.frames) = (parameters, frames)
    self.sound = sound.filter { $0.milliseconds < end }
  }

  /// Returns the tags of one group in the order of their times, of a phone that is held like this.
  func group(_ number: Int, held: DeviceOrientation) -> [Tag] {
    guard let frames = frames[held], groups > 0 else { return [] }
    let first = number % groups * Self.framesPerGroup
    let start = number % groups * Self.groupMilliseconds
    let around = start..<start + Self.groupMilliseconds
    let sounds = sound.filter { around.contains($0.milliseconds) }
    let tags = Array(frames[first..<first + Self.framesPerGroup]) + sounds
    return tags.sorted { $0.milliseconds < $1.milliseconds }
  }

  private static func file(of held: DeviceOrientation) -> upright_console_file {
    switch held {
    case .portraitUpsideDown: unsafe upright_sample_upside_down
    case .landscapeLeft: unsafe upright_sample_landscape_left
    case .landscapeRight: unsafe upright_sample_landscape_right
    default: unsafe upright_sample_portrait
    }
  }
}
