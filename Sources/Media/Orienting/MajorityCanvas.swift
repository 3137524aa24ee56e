internal import UprightOrientation
package import UprightPolicy

/// The shape of the app that lasts longest, for `--canvas majority`.
package enum MajorityCanvas {
  /// Returns whether the app is landscape for longer than portrait over an input of `duration` seconds.
  package static func isLandscape(_ timeline: OrientationTimeline, duration: Double) -> Bool {
    var landscape = 0.0
    var portrait = 0.0
    for (index, point) in timeline.points.enumerated() {
      let next = index + 1 < timeline.points.count ? timeline.points[index + 1].at : duration
      let length = max(0, min(next, duration) - min(point.at, duration))
      if point.appOrientation.isLandscape { landscape += length } else { portrait += length }
    }
    // On a tie, and for an input with a duration of 0, the shape at the start decides.
    if landscape == portrait { return timeline.point(at: 0).appOrientation.isLandscape }
    return landscape > portrait
  }
}
