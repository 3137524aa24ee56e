import UprightOrientation
import Testing

/// The rules of `GravityClassifier`, with limits of the caller's own.
@Suite struct GravityRuleTests {
  /// Returns the orientation after a second in portrait and three seconds at `reading`.
  private func orientation(
    _ reading: Gravity, _ rule: GravityClassifier.UprightRule
  ) throws -> DeviceOrientation {
    var configuration = GravityClassifier.Configuration.android
    configuration.rule = rule
    var classifier = GravityClassifier(configuration: configuration)
    for step in 0..<200 {
      let time = Double(step) * 0.02
      try classifier.classify(time < 1 ? gravity(angle: 0) : reading, at: time)
    }
    return classifier.orientation
  }

  @Test("A device that leans back further than an orientation's limit keeps its orientation")
  func tilt() throws {
    let leaning = gravity(angle: 90, tilt: 30)
    let usual = GravityClassifier.TiltLimits()
    #expect(
      try orientation(leaning, .nearestQuarter(gapDegrees: 45, tilt: usual)) == .landscapeLeft)
    let strict = GravityClassifier.TiltLimits(landscape: -10...10)
    #expect(try orientation(leaning, .nearestQuarter(gapDegrees: 45, tilt: strict)) == .portrait)
  }

  @Test("A device whose axes both are below the threshold keeps its orientation")
  func threshold() throws {
    let between = gravity(angle: 65)
    #expect(try orientation(between, .axisThreshold(degrees: 35)) == .landscapeLeft)
    #expect(try orientation(between, .axisThreshold(degrees: 70)) == .portrait)
  }
}
