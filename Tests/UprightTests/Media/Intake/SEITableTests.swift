import Foundation
import UprightOrientation
import UprightSignals
import Testing
import UprightFiles
import UprightTestSupport

/// Clips whose only signal is a display orientation SEI. Every frame of the output is compared with the
/// expected rotation.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .serialized)
struct SEITableTests {
  /// 24 frames with an IDR at 0 and 12. With B-frames, the presentation order is I B B P B B P B B P B P.
  struct Row: CustomTestStringConvertible, Sendable {
    let name: String
    /// The messages by frame, in presentation order: a letter and the repetition period, or `x` for a
    /// cancel.
    let messages: [Int: String]
    /// The expected rotation of each frame, in presentation order.
    let truth: String
    var codecs: [EncodedClip.Codec] = [.h264, .hevc]
    /// The matrix of the track.
    var matrix: ImageOrientation = .up
    var testDescription: String { name }
  }

  /// Beside each row: the number of its 24 frames that the ffmpeg command, 5.1.9, shows differently,
  /// without and with B-frames. Its H.264 decoder drops a message after one frame. Its HEVC decoder keeps
  /// one until the next in decoding order, whatever its repetition period is. Neither distinguishes 0
  /// degrees from no message.
  static let rows: [Row] = [
    // H.264 22, 22; HEVC 0, 0
    Row(
      name: "on IDRs only", messages: [0: "R1", 12: "L1"],
      truth: "RRRRRRRRRRRRLLLLLLLLLLLL"),
    // H.264 11, 11; HEVC 12, 12
    Row(
      name: "on the first IDR only", messages: [0: "D1"],
      truth: "DDDDDDDDDDDDUUUUUUUUUUUU"),
    // H.264 0, 0; HEVC 17, 19
    Row(
      name: "for one frame, a P", messages: [6: "R0"],
      truth: "UUUUUURUUUUUUUUUUUUUUUUU"),
    // H.264 0, 0; HEVC 11, 11
    Row(
      name: "for one frame, an IDR", messages: [12: "R0"],
      truth: "UUUUUUUUUUUURUUUUUUUUUUU"),
    // H.264 5, 5; HEVC 12, 14
    Row(
      name: "from a P on", messages: [6: "R1"],
      truth: "UUUUUURRRRRRUUUUUUUUUUUU"),
    // H.264 5, 5
    Row(
      name: "from a P on, period 3", messages: [6: "R3"],
      truth: "UUUUUURRRRRRUUUUUUUUUUUU", codecs: [.h264]),
    // H.264 7, 7; HEVC 12, 13
    Row(
      name: "from a B on", messages: [4: "R1"],
      truth: "UUUURRRRRRRRUUUUUUUUUUUU"),
    // H.264 1, 1; HEVC 17, 17
    Row(
      name: "a B, and the P that is decoded before it", messages: [4: "R1", 6: "L0"],
      truth: "UUUURRLUUUUUUUUUUUUUUUUU"),
    // H.264 15, 15; HEVC 0, 1
    Row(
      name: "cancelled on a B", messages: [0: "R1", 5: "x", 12: "D1"],
      truth: "RRRRRUUUUUUUDDDDDDDDDDDD"),
    // H.264 5, 5; HEVC 0, 2
    Row(
      name: "cancelled on a P: the B-frames decoded after it come before it",
      messages: [0: "R1", 6: "x"],
      truth: "RRRRRRUUUUUUUUUUUUUUUUUU"),
    // H.264 14, 14; HEVC 6, 7
    Row(
      name: "flips", messages: [0: "u1", 5: "l1", 12: "r1", 17: "d0"],
      truth: "uuuuulllllllrrrrrdUUUUUU"),
    // H.264 0, 0; HEVC 0, 0
    Row(
      name: "on every frame, always different",
      messages: [
        0: "R0", 1: "D0", 2: "R0", 3: "D0", 4: "R0", 5: "D0", 6: "R0", 7: "D0", 8: "R0", 9: "D0",
        10: "R0", 11: "D0", 12: "R0", 13: "D0", 14: "R0", 15: "D0", 16: "R0", 17: "D0", 18: "R0",
        19: "D0", 20: "R0", 21: "D0", 22: "R0", 23: "D0",
      ],
      truth: "RDRDRDRDRDRDRDRDRDRDRDRD"),
    // H.264 0, 0; HEVC 0, 1
    Row(
      name: "on the last frame only", messages: [23: "L1"],
      truth: "UUUUUUUUUUUUUUUUUUUUUUUL"),
    // H.264 6, 6; HEVC 6, 6
    Row(
      name: "0 degrees replaces the matrix", messages: [6: "U1"],
      truth: "RRRRRRUUUUUURRRRRRRRRRRR", matrix: .right),
    // H.264 3, 3; HEVC 0, 1
    Row(
      name: "after a cancel the matrix applies again", messages: [0: "L1", 4: "x"],
      truth: "LLLLDDDDDDDDDDDDDDDDDDDD", matrix: .down),
  ]

  private static func message(_ text: String) throws -> DisplayOrientationMessage {
    guard text != "x" else { return .cancel }
    let letter = try #require(text.first)
    return .set(
      SEIDisplayOrientation(try #require(TurnedFrames.orientation(letter))),
      repetitionPeriod: try #require(UInt16(text.dropFirst())))
  }

  /// The clips without messages. Each is encoded once.
  private static let clips: [String: Result<EncodedClip, any Error>] = Dictionary(
    uniqueKeysWithValues: [EncodedClip.Codec.h264, .hevc].flatMap { codec in
      [0, 2].map { bFrames in
        (
          "\(codec) \(bFrames)",
          Result { try EncodedClip(codec, frames: 24, gop: 12, bFrames: bFrames) }
        )
      }
    })

  private static func clip(
    _ row: Row, _ codec: EncodedClip.Codec, bFrames: Int
  ) throws -> MovieWriter {
    var clip = try #require(clips["\(codec) \(bFrames)"]).get()
    try #require(clip.samples.count == 24)
    for (frame, text) in row.messages {
      clip.insert(
        nal: try message(text).nal(for: codec == .h264 ? .h264 : .hevc), atShown: frame)
    }
    var movie = clip.movie
    movie.tracks[0].matrix = DisplayMatrixPatch.numbers(row.matrix)
    return movie
  }

  @Test("Every frame is turned by its message", .long, arguments: rows, [0, 2])
  func table(_ row: Row, bFrames: Int) throws {
    for codec in row.codecs {
      let scratch = try Scratch()
      let path = scratch.path("clip.mp4")
      try Self.clip(row, codec, bFrames: bFrames).write(to: path)
      let run = try Transcoded(path, to: scratch.path("out.y4m"))
      #expect(run.result.output.frames == 24)
      let stored = try TurnedFrames.stored(path, scratch)
      let seen = try TurnedFrames.read(Y4M(path: run.path), source: stored)
      #expect(seen == row.truth, "\(codec), \(bFrames) B-frames")
      figure(Self.theirs(path, row, stored, scratch) + ", \(codec), \(bFrames) B-frames")
    }
  }

  private static func theirs(
    _ path: String, _ row: Row, _ stored: Y4M, _ scratch: Scratch
  ) -> String {
    guard let file = try? TurnedFrames.byFFmpeg(path, scratch),
      let seen = try? TurnedFrames.read(file, source: stored)
    else { return "\(row.name): ffmpeg failed" }
    let wrong = zip(seen, row.truth).count { $0 != $1 } + abs(seen.count - row.truth.count)
    return "\(row.name): ffmpeg shows \(seen), \(wrong) wrong"
  }
}
