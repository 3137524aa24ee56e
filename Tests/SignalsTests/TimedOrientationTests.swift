import UprightOrientation
import Testing
import UprightTestSupport

@testable import UprightSignals

@Suite("Apple's timed orientation track")
struct TimedOrientationTests {
  private static func movie(_ tracks: [MovieWriter.Track]) -> [UInt8] {
    let file = MovieWriter(timescale: 600, lastDuration: 20, tracks: tracks).bytes
    let moov = MP4Boxes.payload(at: "moov", of: file, in: file.indices) ?? 0..<0
    return Array(file[moov])
  }

  private static let video = MovieWriter.Track(
    handler: "vide", entry: MovieWriter.box("avc1", [UInt8](repeating: 0, count: 78)), samples: [])

  @Test("The track is found by its key, with the tracks it describes")
  func found() {
    var track = MovieWriter.Track.orientation([(0, 6)], key: 7)
    track.describes = [1]
    let other = MovieWriter.Track.orientation([(0, 6)], name: "com.apple.quicktime.detected-face")
    let found = TimedOrientationTrack.tracks(inMovie: Self.movie([Self.video, other, track]))
    #expect(found.map(\.identifier) == [3])
    #expect(found.map(\.describes) == [[1]])
    #expect(found.map(\.key) == [7])
    #expect(TimedOrientationTrack.tracks(inMovie: Self.movie([Self.video, other])).isEmpty)
  }

  @Test("Samples: values of every width, other items first, empty, invalid")
  func samples() throws {
    let track = try #require(
      TimedOrientationTrack.tracks(
        inMovie: Self.movie([.orientation([(0, 6)], key: 2)])
      ).first)
    func be(_ value: Int, _ size: Int) -> [UInt8] { MovieWriter.be(value, size) }
    let table: [([UInt8], TimedOrientationTrack.Value)] = [
      (be(10, 4) + be(2, 4) + be(6, 2), .orientation(.right)),
      (be(9, 4) + be(2, 4) + be(8, 1), .orientation(.left)),
      (be(16, 4) + be(2, 4) + be(3, 8), .orientation(.down)),
      (be(9, 4) + be(1, 4) + [4] + be(10, 4) + be(2, 4) + be(1, 2), .orientation(.up)),
      (be(8, 4) + be(0, 4), .absent), ([], .absent), (be(9, 4) + be(1, 4) + [4], .absent),
      (be(8, 4) + be(2, 4), .absent), (be(18, 4) + be(2, 4) + be(6, 10), .absent),
      (be(10, 4) + be(2, 4) + be(9, 2), .senseless(9)),
      (be(10, 4) + be(2, 4) + be(-1, 2), .senseless(-1)),
      (be(10, 4) + be(2, 4) + be(0, 2), .senseless(0)),
      // Truncated: the remaining bytes are read, as `MP4Boxes` does.
      (be(10, 4) + be(2, 4) + [6], .orientation(.right)), (be(7, 4) + be(2, 4) + [6], .absent),
    ]
    for (sample, expected) in table { #expect(track.value(of: sample) == expected, "\(sample)") }
  }

  @Test("Truncated data, invalid sizes, random bytes: no trap")
  func hostile() {
    let movie = Self.movie([Self.video, .orientation([(0, 6), (20, 8)])])
    for count in movie.indices {
      _ = TimedOrientationTrack.tracks(inMovie: Array(movie.prefix(count)))
    }
    var random = SeededGenerator()
    print("TimedOrientationTests.hostile: UPRIGHT_SEED=\(random.seed)")
    for _ in 0..<1500 {
      var bytes = movie
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] =
          [0, 1, 7, 8, 0xFF, .random(in: 0...255, using: &random)].randomElement(using: &random)
          ?? 0
      }
      for track in TimedOrientationTrack.tracks(inMovie: bytes) {
        _ = track.value(of: Array(bytes.suffix(Int.random(in: 0...40, using: &random))))
      }
    }
  }

  @Test("VP9 keyframes have a size; other data doesn't")
  func vp9() {
    // Profile 0, keyframe, shown; colour space 1, studio range; 352x288.
    let frame: [UInt8] = [0x82, 0x49, 0x83, 0x42, 0x20, 0x15, 0xF0, 0x11, 0xF0, 0, 0]
    #expect(VP9Keyframe.size(frame) == PixelSize(352, 288))
    #expect(VP9Keyframe.size([0x86] + frame.dropFirst()) == nil)
    for count in 0..<9 { #expect(VP9Keyframe.size(frame.prefix(count)) == nil) }
  }
}
