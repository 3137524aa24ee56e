import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightMedia
@testable import UprightMediaIO

@Suite struct KeyframeClockTests {
  @Test("A keyframe is due at the start, at every interval, and on another canvas")
  func due() {
    var clock = KeyframeClock(every: MediaTime(2, .one))
    let (tall, wide) = (PixelSize(2, 4), PixelSize(4, 2))
    let asked = stride(from: 0.0, to: 9, by: 0.5).filter {
      clock.isDue(at: MediaTime(seconds: $0), canvas: $0 < 3 || $0 >= 6.5 ? tall : wide)
    }
    #expect(asked == [0, 2, 3, 5, 6.5, 8.5])
  }

  @Test(
    "An hour of irregular frames with gaps: a segment ends at every requested keyframe")
  func jitter() {
    var (clock, random) = (KeyframeClock(every: MediaTime(2, .one)), SeededGenerator(seed: 7))
    var (time, start, shift, longest) = (0.0, 0.0, 1.0 / 3, 0.0)
    while time < 3600 {
      let elapsed = (time + shift) - (start + shift)
      if clock.isDue(at: MediaTime(seconds: time), canvas: PixelSize(2, 4)), time > 0 {
        #expect(
          KeyframeClock.ends(after: MediaTime(seconds: elapsed), of: MediaTime(2, .one)),
          "\(elapsed)")
        longest = max(longest, elapsed)
        start = time
      }
      let hole = random.next() % 100 == 0 ? LivePlaylist.longestHole.seconds : 1.0 / 30
      time = ((time + hole) * 1000 + Double(random.next() % 5) - 2).rounded() / 1000
    }
    #expect(longest < 2.41, "\(longest)")
  }

  @Test("A new encoder begins a segment on any canvas")
  func encoder() {
    var clock = KeyframeClock(every: MediaTime(2, .one))
    let canvas = PixelSize(2, 4)
    let asked = stride(from: 0.0, to: 6, by: 0.5).filter {
      clock.isDue(at: MediaTime(seconds: $0), canvas: canvas, isFirst: $0 == 1.5)
    }
    #expect(asked == [0, 1.5, 3.5, 5.5])
  }

  @Test("A clock without an interval requests no keyframes")
  func never() {
    var clock = KeyframeClock(every: nil)
    let isDue = clock.isDue(at: .zero, canvas: PixelSize(2, 2))
    #expect(!isDue)
  }
}
