import UprightOrientation
import Testing
import UprightTestSupport

/// The gravity of a phone rotated counter-clockwise from portrait by `angle`, leaning back by
/// `tilt`.
func gravity(angle: Double, tilt: Double = 0, magnitude: Double = 1) -> Gravity {
  let turned = Point(x: 0, y: -magnitude)
    .applying(AffineMatrix(rotationAngle: -angle * .pi / 180))
  let lean = Point(x: 1, y: 0).applying(AffineMatrix(rotationAngle: tilt * .pi / 180))
  return Gravity(x: turned.x * lean.x, y: turned.y * lean.x, z: -magnitude * lean.y)
}

@Suite("Gravity to device orientation")
struct GravityClassifierTests {
  let poses: [(Gravity, DeviceOrientation)] = [
    (Gravity(x: 0, y: -1, z: 0), .portrait), (Gravity(x: -1, y: 0, z: 0), .landscapeLeft),
    (Gravity(x: 1, y: 0, z: 0), .landscapeRight), (Gravity(x: 0, y: 1, z: 0), .portraitUpsideDown),
    (Gravity(x: 0, y: 0, z: -1), .faceUp), (Gravity(x: 0, y: 0, z: 1), .faceDown),
  ]
  let presets: [GravityClassifier.Configuration] = [.android, .iioSensorProxy]

  /// Feeds one reading repeatedly and returns the last orientation.
  private func hold(
    _ reading: Gravity, _ classifier: inout GravityClassifier, from start: Double,
    for seconds: Double, every step: Double = 0.02
  ) throws -> DeviceOrientation {
    var time = start
    while time <= start + seconds {
      try classifier.classify(reading, at: time)
      time += step
    }
    return classifier.orientation
  }

  @Test("The six poses, from one reading each")
  func first() throws {
    for (reading, expected) in poses {
      for preset in presets {
        var classifier = GravityClassifier(configuration: preset)
        #expect(try classifier.classify(reading, at: 0) == expected)
        #expect(classifier.orientation == expected)
      }
    }
  }

  @Test("Every pose can follow every other and settles")
  func everyChange() throws {
    for (from, first) in poses {
      for (to, second) in poses where first != second {
        for preset in presets {
          var classifier = GravityClassifier(configuration: preset)
          #expect(try hold(from, &classifier, from: 0, for: 2) == first)
          #expect(try hold(to, &classifier, from: 2, for: 4) == second)
        }
      }
    }
  }

  @Test("A new orientation needs a second reading, and each change is reported once")
  func settling() throws {
    var classifier = GravityClassifier()
    try classifier.classify(Gravity(x: 0, y: -1, z: 0), at: 0)
    // The readings are so far apart that the filter restarts each time, so only the settling is
    // tested.
    #expect(try classifier.classify(Gravity(x: -1, y: 0, z: 0), at: 5) == .portrait)
    #expect(try classifier.classify(Gravity(x: -1, y: 0, z: 0), at: 5.03) == .portrait)
    #expect(try classifier.classify(Gravity(x: -1, y: 0, z: 0), at: 5.04) == .landscapeLeft)
    #expect(try classifier.classify(Gravity(x: 0, y: -1, z: 0), at: 10) == .landscapeLeft)
    #expect(try classifier.classify(Gravity(x: 1, y: 0, z: 0), at: 15) == .landscapeLeft)
    #expect(try classifier.classify(Gravity(x: 1, y: 0, z: 0), at: 20) == .landscapeRight)
  }

  @Test("A rotation by hand at 60 Hz is detected within half a second, once")
  func handTurn() throws {
    var classifier = GravityClassifier()
    var changes: [DeviceOrientation] = []
    var time = 0.0
    while time < 3 {
      let angle = min(90, max(0, (time - 1) / 0.4 * 90))
      let before = classifier.orientation
      if try classifier.classify(gravity(angle: angle, tilt: 20), at: time) != before {
        changes.append(classifier.orientation)
        if classifier.orientation == .landscapeLeft { #expect(time < 1.9) }
      }
      time += 1.0 / 60
    }
    #expect(changes == [.portrait, .landscapeLeft])
  }

  @Test("No flicker around the diagonals", arguments: [45.0, 135, 225, 315])
  func noFlicker(diagonal: Double) throws {
    var generator = SeededGenerator()
    for preset in presets {
      for start in [-40.0, 40] {
        var classifier = GravityClassifier(configuration: preset)
        let first = try hold(gravity(angle: diagonal + start), &classifier, from: 0, for: 1)
        for step in 0..<2000 {
          let noise = Double.random(in: -8...8, using: &generator)
          let reading = gravity(angle: diagonal + noise)
          let now = try classifier.classify(reading, at: 1 + Double(step) / 60)
          if now != first {
            Issue.record("seed \(generator.seed): \(now) after \(first) at step \(step)")
            return
          }
        }
      }
    }
  }

  @Test("A device held still at any angle and tilt changes orientation at most once", .long)
  func steady() throws {
    for preset in presets {
      for (reading, start) in poses {
        for angle in stride(from: 0.0, to: 360, by: 3) {
          for tilt in stride(from: -90.0, through: 90, by: 15) {
            var classifier = GravityClassifier(configuration: preset)
            _ = try hold(reading, &classifier, from: 0, for: 0.1)
            // The filter passes through other poses first. The test checks that it then stays in
            // one.
            _ = try hold(
              gravity(angle: angle, tilt: tilt), &classifier, from: 0.2, for: 4, every: 0.05)
            let rest = classifier.orientation
            var seen: Set<DeviceOrientation> = [rest]
            for step in 0..<40 {
              let reading = gravity(angle: angle, tilt: tilt)
              seen.insert(try classifier.classify(reading, at: 5 + Double(step) * 0.05))
            }
            if seen.count != 1 { Issue.record("\(start), \(angle), \(tilt): \(seen)") }
          }
        }
      }
    }
  }

  @Test("The flat cone: flat after one second above 80 degrees, not below")
  func flatCone() throws {
    for (sign, flat) in [(1.0, DeviceOrientation.faceUp), (-1, .faceDown)] {
      var classifier = GravityClassifier()
      _ = try hold(gravity(angle: 0), &classifier, from: 0, for: 1)
      #expect(
        try hold(gravity(angle: 0, tilt: sign * 79), &classifier, from: 1.02, for: 4) == .portrait)
      #expect(
        try hold(gravity(angle: 0, tilt: sign * 88), &classifier, from: 6, for: 0.9) == .portrait)
      #expect(
        try hold(gravity(angle: 0, tilt: sign * 88), &classifier, from: 6.92, for: 2) == flat)
      // Outside the cone but leaning too far to be upright: still flat.
      #expect(try hold(gravity(angle: 90, tilt: sign * 76), &classifier, from: 10, for: 3) == flat)
      #expect(try hold(gravity(angle: 90), &classifier, from: 14, for: 2) == .landscapeLeft)
    }
  }

  @Test("After a flat position, an upright orientation waits half a second")
  func afterFlat() throws {
    var classifier = GravityClassifier()
    try classifier.classify(Gravity(x: 0, y: 0, z: -1), at: 0)
    for (time, expected) in [
      (10.0, DeviceOrientation.faceUp), (10.1, .portrait),
    ] {
      #expect(try classifier.classify(Gravity(x: 0, y: -1, z: 0), at: time) == expected)
    }
    classifier = GravityClassifier()
    _ = try hold(Gravity(x: 0, y: 0, z: -1), &classifier, from: 0, for: 2)
    var changedAt = 0.0
    for step in 1...100 where changedAt == 0 {
      let time = 2 + Double(step) * 0.02
      if try classifier.classify(Gravity(x: 0, y: -1, z: 0), at: time) == .portrait {
        changedAt = time
      }
    }
    #expect(changedAt >= 2.5 && changedAt < 2.8)
  }

  @Test("Readings from shaking and free fall are rejected; a change waits until they end")
  func rejection() throws {
    for preset in presets {
      for bad in [0.0, 0.2, 0.59, 1.41, 3, 1e200, 1e308] {
        var classifier = GravityClassifier(configuration: preset)
        #expect(
          try classifier.classify(gravity(angle: 90, magnitude: bad), at: 0) == .unknown)
        try classifier.classify(gravity(angle: 0), at: 1)
        let shaken = gravity(angle: 90, magnitude: bad)
        #expect(try hold(shaken, &classifier, from: 2, for: 2) == .portrait)
      }
    }
    var classifier = GravityClassifier()
    _ = try hold(gravity(angle: 0), &classifier, from: 0, for: 1)
    _ = try hold(gravity(angle: 90, magnitude: 2), &classifier, from: 1.02, for: 1)
    let last = 2.02
    var changedAt = 0.0
    for step in 0..<100 where changedAt == 0 {
      let time = last + Double(step) * 0.02
      if try classifier.classify(gravity(angle: 90), at: time) == .landscapeLeft {
        changedAt = time
      }
    }
    #expect(changedAt >= last + 0.46 && changedAt < last + 0.7)
  }

  @Test("Putting a phone down doesn't change the orientation on the way")
  func swing() throws {
    var classifier = GravityClassifier()
    _ = try hold(gravity(angle: 0), &classifier, from: 0, for: 1)
    // Down on the table within 0.3 s, rolling sideways at the same time.
    for step in 0...15 {
      let share = Double(step) / 15
      try classifier.classify(gravity(angle: 85 * share, tilt: 88 * share), at: 1 + share * 0.3)
    }
    #expect(try hold(gravity(angle: 85, tilt: 88), &classifier, from: 1.32, for: 0.5) == .portrait)
    #expect(try hold(gravity(angle: 85, tilt: 88), &classifier, from: 1.84, for: 3) == .faceUp)
  }

  @Test("A device held overhead is ignored until it is clearly back")
  func overhead() throws {
    var classifier = GravityClassifier()
    _ = try hold(gravity(angle: 0), &classifier, from: 0, for: 1)
    #expect(try hold(gravity(angle: 90, tilt: -45), &classifier, from: 1, for: 3) == .portrait)
    #expect(try hold(gravity(angle: 90, tilt: -20), &classifier, from: 4, for: 3) == .portrait)
    #expect(try hold(gravity(angle: 90, tilt: -10), &classifier, from: 7, for: 3) == .landscapeLeft)
    #expect(try hold(gravity(angle: 0, tilt: -20), &classifier, from: 10, for: 3) == .portrait)
  }

  @Test("NaN and infinity are errors and leave the state unchanged")
  func notFinite() throws {
    var classifier = GravityClassifier()
    try classifier.classify(gravity(angle: 0), at: 0)
    try classifier.classify(gravity(angle: 90), at: 5)
    let before = classifier
    for bad in [Double.nan, .infinity, -.infinity, .signalingNaN] {
      for reading in [
        Gravity(x: bad, y: 0, z: 0), Gravity(x: 0, y: bad, z: 0), Gravity(x: 0, y: 0, z: bad),
      ] {
        #expect(throws: GravityError.self) { try classifier.classify(reading, at: 6) }
      }
      #expect(throws: GravityError.self) { try classifier.classify(gravity(angle: 90), at: bad) }
    }
    #expect(classifier == before)
    #expect(try classifier.classify(gravity(angle: 90), at: 6) == .landscapeLeft)
    #expect(
      GravityError.readingNotFinite(Gravity(x: .nan, y: 0, z: 0)).description.contains("nan"))
    #expect(GravityError.timeNotFinite(.infinity).description.contains("inf"))
  }

  @Test("Time can stand still or go backwards")
  func time() throws {
    var classifier = GravityClassifier()
    try classifier.classify(gravity(angle: 0), at: 100)
    #expect(try classifier.classify(gravity(angle: 90), at: 100) == .portrait)
    #expect(try classifier.classify(gravity(angle: 90), at: 5) == .portrait)
    #expect(try classifier.classify(gravity(angle: 90), at: 5) == .portrait)
    #expect(try classifier.classify(gravity(angle: 90), at: 5.1) == .landscapeLeft)
    #expect(try classifier.classify(gravity(angle: 0), at: -1e308) == .landscapeLeft)
    #expect(try classifier.classify(gravity(angle: 0), at: 1e308) == .portrait)
  }

  @Test("Random readings at random times never trap, and a later upright pose is still recognised")
  func hostile() throws {
    var generator = SeededGenerator()
    for preset in presets {
      var classifier = GravityClassifier(configuration: preset)
      for _ in 0..<20_000 {
        let scales: [Double] = [1, 1, 1, 1e-300, 1e300]
        let scale: Double = scales.randomElement(using: &generator) ?? 1
        func number() -> Double { Double.random(in: -1.2...1.2, using: &generator) * scale }
        let time = Double.random(in: -10...10, using: &generator) * scale
        try classifier.classify(Gravity(x: number(), y: number(), z: number()), at: time)
      }
      #expect(try hold(gravity(angle: 180), &classifier, from: 1e6, for: 5) == .portraitUpsideDown)
    }
  }
}
