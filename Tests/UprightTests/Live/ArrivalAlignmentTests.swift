import Testing
import UprightMediaIO
import UprightOrientation
import UprightTestSupport

@testable import UprightLive

@Suite("Audio of cameras without sender reports")
struct ArrivalAlignmentTests {
  /// Returns where the audio is, in ms after the video of the same moment, for packets of 25 fps that arrive in time
  /// but for `jitter`. The times of both streams begin at 0.
  private func distances(
    audioBegins: Int, cached: Int = 0, isHeldBack: Bool = false, jitter: (Int) -> Int = { _ in 0 }
  ) throws -> [Int] {
    var alignment = ArrivalAlignment(video: isHeldBack ? "h264" : "vp8")
    let stream = StreamInfo(
      index: 0, kind: .video, parameters: try CodecParameters(naming: "text"),
      timeBase: Rational(1, 1000))
    var found: [Int] = []
    for index in 0..<100 {
      let time = 40 * index
      // A camera may send what it has kept at once.
      let arrival = max(0, time - cached)
      var video = try Packet([0], stream: stream, pts: Int64(time), isKey: true)
      let seen = isHeldBack ? max(0, time + 40 - cached) : arrival
      alignment.align(&video, isVideo: true, arrival: .milliseconds(seen + jitter(index)))
      #expect(video.pts == Int64(time))
      guard time >= audioBegins else { continue }
      var audio = try Packet([0], stream: stream, pts: Int64(time - audioBegins), isKey: true)
      alignment.align(&audio, isVideo: false, arrival: .milliseconds(arrival + jitter(index + 7)))
      found.append(Int(audio.pts ?? .min) - time)
    }
    return found
  }

  @Test("They belong with the video that arrives with them", arguments: [0, 80, 1000, 3000])
  func begins(_ start: Int) throws {
    #expect(try distances(audioBegins: start).allSatisfy { $0 == 0 })
    // The first frame is seen when the second one comes, so that the audio before it has nothing to be placed by.
    let held = try distances(audioBegins: start, isHeldBack: true)
    #expect(held.dropFirst(2).allSatisfy { $0 == 0 }, "\(held)")
    #expect(try distances(audioBegins: start, cached: 2000).allSatisfy { $0 == 0 })
    let late = try distances(audioBegins: start) { $0 * 7919 % 40 }
    #expect(late.allSatisfy { abs($0) <= 45 }, "\(late)")
  }
}
