internal import Orientation
package import RotationPolicy

/// Which shape of the app lasts longest: what `--canvas majority` means.
package enum MajorityCanvas {
  /// Whether the app is landscape for longer than portrait over a clip of `duration` seconds.
  package static func isLandscape(_ timeline: OrientationTimeline, duration: Double) -> Bool {
    var landscape = 0.0
    var portrait = 0.0
    for (index, point) in timeline.points.enumerated() {
      let next = index + 1 < timeline.points.count ? timeline.points[index + 1].at : duration
      let length = max(0, min(next, duration) - min(point.at, duration))
      if point.appOrientation.isLandscape { landscape += length } else { portrait += length }
    }
    // A clip without a length has one frame: the last word at its start.
    if landscape == portrait { return timeline.point(at: 0).appOrientation.isLandscape }
    return landscape > portrait
  }
}
