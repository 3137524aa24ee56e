import Testing
import UprightOrientation
import UprightPolicy

@testable import UprightMedia

@Suite struct MajorityCanvasTests {
  private func timeline(_ points: [(Double, InterfaceOrientation)]) -> OrientationTimeline {
    func point(_ at: Double, _ app: InterfaceOrientation) -> OrientationTimeline.Point {
      .init(at: at, device: app.device, appOrientation: app)
    }
    var timeline = OrientationTimeline(start: point(points[0].0, points[0].1))
    for (at, app) in points.dropFirst() { timeline.append(point(at, app)) }
    return timeline
  }

  @Test("The orientation that lasts longest up to the end of the input")
  func longest() {
    let turning = timeline([(0, .portrait), (3, .landscapeRight), (7, .portrait)])
    #expect(!MajorityCanvas.isLandscape(turning, duration: 10))
    #expect(MajorityCanvas.isLandscape(turning, duration: 7.9))
    #expect(!MajorityCanvas.isLandscape(turning, duration: 3))
    // Both landscape orientations count together.
    let both = timeline([(0, .portrait), (4, .landscapeLeft), (7, .landscapeRight)])
    #expect(MajorityCanvas.isLandscape(both, duration: 9))
  }

  @Test("With a tie or without a duration, the first orientation is used")
  func ties() {
    let even = timeline([(0, .landscapeLeft), (5, .portrait)])
    #expect(MajorityCanvas.isLandscape(even, duration: 10))
    #expect(MajorityCanvas.isLandscape(even, duration: 0))
    #expect(!MajorityCanvas.isLandscape(timeline([(0, .portrait)]), duration: 0))
  }
}
