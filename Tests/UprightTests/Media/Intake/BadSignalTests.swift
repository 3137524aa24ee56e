import Foundation
import UprightOrientation
import UprightSignals
import Testing
import UprightFiles
import UprightMediaIO
import UprightTestSupport

/// Orientation signals that are truncated, have impossible values, or carry no information.
@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"), .serialized)
struct BadSignalTests {
  private static let clip = Result { try EncodedClip(.h264, frames: 12, gop: 12, bFrames: 2) }

  private static func turns(_ movie: MovieWriter) throws -> (String, [String]) {
    let scratch = try Scratch()
    let path = scratch.path("clip.mp4")
    try movie.write(to: path)
    let run = try Transcoded(path, to: scratch.path("out.y4m"))
    let seen = try TurnedFrames.read(
      Y4M(path: run.path), source: TurnedFrames.stored(path, scratch))
    return (seen, run.result.warnings)
  }

  @Test("A truncated message is ignored")
  func short() throws {
    let nal = DisplayOrientationMessage(standing: .right).nal(for: .h264)
    for count in 2..<nal.count - 1 {
      var clip = try Self.clip.get()
      clip.insert(nal: Array(nal.prefix(count)), atShown: 0)
      #expect(try Self.turns(clip.movie).0 == "UUUUUUUUUUUU", "\(count) bytes")
    }
  }

  @Test("An angle that isn't a multiple of 90 is rounded, with one warning in total")
  func absurd() throws {
    var clip = try Self.clip.get()
    for (frame, angle) in [(0, 16384 + 3000), (4, 8192), (6, 65535), (8, 1)] {
      let values = SEIDisplayOrientation(
        horizontalFlip: false, verticalFlip: false, anticlockwiseRotation: UInt16(angle))
      clip.insert(
        nal: DisplayOrientationMessage.set(values, repetitionPeriod: 1).nal(for: .h264),
        atShown: frame)
    }
    let (seen, warnings) = try Self.turns(clip.movie)
    // 45 degrees anticlockwise is 315 clockwise. Halfway, the larger angle is taken: a full turn.
    #expect(seen == "LLLLUUUUUUUU")
    #expect(warnings.count == 1 && warnings[0].contains("not a multiple of 90"), "\(warnings)")
  }

  @Test(
    "A matrix without an inverse is ignored", .long,
    arguments: [[0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0]] as [[Int32]])
  func singular(_ matrix: [Int32]) throws {
    var movie = try Self.clip.get().movie
    movie.tracks[0].matrix = matrix
    #expect(try Self.turns(movie).0 == "UUUUUUUUUUUU")
    movie.tracks.append(.orientation([(at: 0, exif: 3)]))
    #expect(try Self.turns(movie).0 == "DDDDDDDDDDDD")
  }

  @Test("A damaged track of timed orientations does not end the run")
  func damagedTrack() throws {
    var movie = try Self.clip.get().movie
    movie.tracks.append(.orientation([(at: 0, exif: 6)]))
    let whole = movie.bytes
    let scratch = try Scratch()
    var random = SeededGenerator()
    print("BadSignalTests.damagedTrack: UPRIGHT_SEED=\(random.seed)")
    guard let start = Data(whole).range(of: Data("mebx".utf8))?.lowerBound else { return }
    for index in 0..<12 {
      var bytes = whole
      for _ in 0..<3 {
        let place = start - 20 + Int.random(in: 0..<120, using: &random)
        bytes[min(place, bytes.count - 1)] = .random(in: 0...255, using: &random)
      }
      let path = scratch.path("\(index).mov")
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      do {
        let run = try Transcoded(path, to: scratch.path("\(index).y4m"))
        #expect(run.result.output.frames == 12)
      } catch let error as UprightError {
        // libavformat rejects the whole file for some of the damage.
        #expect(error.code == .badData, "\(error)")
      }
    }
  }
}
