import Foundation
import UprightOrientation

/// A short clip of a frame that looks different in each of the eight orientations, split into access units
/// so that a test can insert messages into them.
package struct EncodedClip {
  package enum Codec: String, CaseIterable, Sendable {
    case h264, hevc, mjpeg
  }

  package let codec: Codec
  private let size: PixelSize
  /// The sample entry, as a complete box.
  package let entry: [UInt8]
  /// The samples in decoding order. Times are in ticks of 1/`timescale`. The first DTS is 0.
  package var samples: [MovieWriter.Sample]
  package let timescale: Int
  /// The duration of a frame, in ticks.
  package let frame: Int

  /// Encodes `frames` frames at 25 frames per second.
  ///
  /// - Parameters:
  ///   - gop: The number of frames from one IDR to the next.
  ///   - bFrames: The number of B-frames between two other frames, at fixed positions.
  ///   - picture: Filters of FFmpeg that make the frames in `size`; `nil` for a test picture.
  package init(
    _ codec: Codec, frames: Int, gop: Int, bFrames: Int, size: PixelSize = PixelSize(64, 64),
    picture: String? = nil
  ) throws {
    self.size = size
    let scratch = try Scratch()
    let path = scratch.path(codec == .mjpeg ? "clip.mov" : "clip.mp4")
    let common =
      "keyint=\(gop):min-keyint=\(gop):scenecut=0:bframes=\(bFrames):b-adapt=0:ref=2"
    let encoder =
      switch codec {
      case .h264:
        [
          "-c:v", "libx264", "-preset", "ultrafast", "-x264-params",
          "\(common):b-pyramid=0:open-gop=0",
        ]
      case .hevc:
        [
          "-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1", "-x265-params",
          "\(common):b-pyramid=0:open-gop=0:log-level=none",
        ]
      case .mjpeg: ["-c:v", "mjpeg", "-strict", "-1", "-video_track_timescale", "12800"]
      }
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", picture ?? "testsrc2=s=\(size):r=25", "-frames:v", "\(frames)"]
        + ["-pix_fmt", "yuv420p"] + encoder + [path])
    let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let packets = try FFmpegTool.probe(path, ["-show_packets"])["packets"].array
    let start = packets.first?["dts"].int ?? 0
    samples = packets.compactMap { packet in
      guard let position = packet["pos"].string.flatMap(Int.init),
        let size = packet["size"].string.flatMap(Int.init), position + size <= file.count,
        let dts = packet["dts"].int, let pts = packet["pts"].int
      else { return nil }
      return MovieWriter.Sample(
        Array(file[position..<position + size]), dts: dts - start, pts: pts - start,
        isKey: packet["flags"].string?.hasPrefix("K") == true)
    }
    let names: [Codec: String] = [.h264: "avc1", .hevc: "hvc1", .mjpeg: "jpeg"]
    entry = Self.box(names[codec] ?? "", in: file)
    timescale = 12800
    frame = 512
    // Ticks of another container would give other times.
    guard samples.count == frames, samples.count < 2 || samples[1].dts == frame, !entry.isEmpty
    else {
      throw ExternalTool.Failure(description: "the \(codec) clip is not as expected")
    }
    self.codec = codec
  }

  /// Returns the first box of type `type`, with its header.
  private static func box(_ type: String, in file: [UInt8]) -> [UInt8] {
    let name = Array(type.utf8)
    for index in 4..<max(4, file.count - 4) where Array(file[index..<index + 4]) == name {
      let size = file[index - 4..<index].reduce(0) { $0 << 8 | Int($1) }
      if size >= 8, index - 4 + size <= file.count {
        return Array(file[index - 4..<index - 4 + size])
      }
    }
    return []
  }

  /// The indices of the samples in presentation order.
  package var shown: [Int] { samples.indices.sorted { samples[$0].pts < samples[$1].pts } }

  /// Inserts a NAL unit before the slices of a frame, whose index is in presentation order.
  package mutating func insert(nal: [UInt8], atShown picture: Int) {
    let index = shown[picture]
    // After the parameter sets and the encoder's SEI messages, if there are any.
    var position = 0
    let bytes = samples[index].bytes
    while position + 5 <= bytes.count {
      let size = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      let type = codec == .h264 ? bytes[position + 4] & 0x1F : bytes[position + 4] >> 1 & 0x3F
      if codec == .h264 ? (1...5).contains(type) : type < 32 { break }
      position += 4 + size
    }
    samples[index].bytes.insert(contentsOf: MovieWriter.be(nal.count, 4) + nal, at: position)
  }

  /// Inserts an EXIF orientation into every frame of an MJPEG clip (EXIF 2.3, 4.5.4: an APP1 segment after
  /// the start of image marker).
  package mutating func insert(exif value: Int) {
    let directory: [UInt8] =
      Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(value)]
      + [0, 0, 0, 0, 0, 0]
    let content = Array("Exif".utf8) + [0, 0] + directory
    let segment: [UInt8] = [0xFF, 0xE1] + MovieWriter.be(content.count + 2, 2) + content
    for index in samples.indices { samples[index].bytes.insert(contentsOf: segment, at: 2) }
  }

  /// A movie with this clip as its only track.
  package var movie: MovieWriter {
    var track = MovieWriter.Track(handler: "vide", entry: entry, samples: samples)
    (track.width, track.height) = (size.width, size.height)
    return MovieWriter(timescale: timescale, lastDuration: frame, tracks: [track])
  }
}

extension EncodedClip {
  /// Returns an H.264 display orientation message (ISO/IEC 14496-10, D.1.27) that persists until the next one.
  ///
  /// - Parameter rotation: The rotation anticlockwise, in units of 2^-16 turn.
  package static func displayOrientation(_ rotation: Int) -> [UInt8] {
    [6, 0x2F, 3] + MovieWriter.be(rotation << 5 | 0b01001, 3) + [0x80]
  }

  /// Writes a movie of 25 frames with every kind of signal that MP4 has: messages at frames 10 and 20, a message
  /// that cancels at 15, a matrix that flips vertically, and a timed track for the first four frames.
  ///
  /// - Returns: The path.
  package static func writeSignals(in scratch: Scratch) throws -> String {
    var clip = try EncodedClip(.h264, frames: 25, gop: 25, bFrames: 0)
    clip.insert(nal: displayOrientation(16384), atShown: 10)
    clip.insert(nal: [6, 0x2F, 1, 0xC0, 0x80], atShown: 15)
    clip.insert(nal: displayOrientation(16384 + 910), atShown: 20)
    var movie = clip.movie
    movie.tracks[0].matrix = [1, 0, 0, -1]
    movie.tracks.append(.orientation([(at: 0, exif: 6), (at: 4 * clip.frame, exif: nil)]))
    let path = scratch.path("take.mov")
    try movie.write(to: path)
    return path
  }
}
