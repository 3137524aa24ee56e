import UprightOrientation
import UprightPolicy
import Testing
import UprightTestSupport

/// Gravity readings through the reducer: test vectors of Android and iio-sensor-proxy, and sensor noise, which
/// must not cause repeated rotations.
@Suite("gravity events") struct GravityReplayTests {
  private static let pad = "'controllers': {'a': {'supported': ['all']}}"

  /// A pad that is held as `device` and whose app rotates to every orientation.
  private func reducer(
    _ device: DeviceOrientation, _ configuration: GravityClassifier.Configuration
  ) throws -> RotationReducer {
    try RotationReducer(
      document("{'device': {'idiom': 'pad', 'orientation': '\(device.name)'}, \(Self.pad)}"),
      gravity: configuration)
  }

  @Test("Test vectors of Android")
  func android() throws {
    let rotations: [DeviceOrientation] = [
      .portrait, .landscapeLeft, .portraitUpsideDown, .landscapeRight,
    ]
    for entry in try Fixtures.vectors("android_window_orientation")["cases"].array {
      let current = try #require(entry["current"].int)
      let start = rotations.indices.contains(current) ? rotations[current] : .unknown
      let nearest = rotations[try #require(entry["nearest"].int)]
      let expected = entry["acceptable"].bool == true ? nearest : start
      var reducer = try reducer(start, .android)
      let before = reducer.state.appOrientation
      // The device is rotated counter-clockwise by this angle, so in its axes gravity is rotated clockwise.
      let angle = try #require(entry["orientation_angle"].double) * .pi / 180
      let down = Point(x: 0, y: -1).applying(AffineMatrix(rotationAngle: -angle))
      for step in 0..<5 {
        let reading = RotationEvent(
          at: Double(step) * 0.02, .gravity(x: down.x, y: down.y, z: 0))
        _ = try reducer.reduce(reading)
      }
      #expect(reducer.state.device == expected, "\(entry["id"])")
      #expect(
        reducer.state.appOrientation == expected.interface ?? before, "\(entry["id"])")
    }
  }

  @Test(
    "Test vectors of iio-sensor-proxy",
    arguments: ["iio_sensor_proxy", "iio_sensor_proxy_oracle"])
  func iio(file: String) throws {
    let edges: [String: DeviceOrientation] = [
      "normal": .portrait, "bottom-up": .portraitUpsideDown, "left-up": .landscapeRight,
      "right-up": .landscapeLeft, "undefined": .unknown,
    ]
    for entry in try Fixtures.vectors(file)["cases"].array {
      let start = entry["start"].string ?? entry["prev"].string ?? "undefined"
      var reducer = try reducer(#require(edges[start]), .iioSensorProxy)
      let scale =
        (entry["scale"].double ?? 9.81 / 256) / GravityClassifier.Configuration.standardGravity
      let steps = entry["sequence"].isNull ? [entry] : entry["sequence"].array
      for (index, step) in steps.enumerated() {
        var xyz = step["xyz"].doubles
        let rows = entry["mount_matrix"].array.map(\.doubles)
        if rows.count == 3 { xyz = rows.map { row in zip(row, xyz).map(*).reduce(0, +) } }
        let before = reducer.state.appOrientation
        let reading = RotationEvent(
          at: Double(index) / 10, .gravity(x: xyz[0] * scale, y: xyz[1] * scale, z: xyz[2] * scale))
        _ = try reducer.reduce(reading)
        guard let edge = step["expect"].string else { continue }
        let expected = try #require(edges[edge])
        #expect(reducer.state.device == expected, "\(entry["id"]), reading \(index)")
        #expect(reducer.state.appOrientation == expected.interface ?? before, "\(entry["id"])")
      }
    }
  }

  @Test("Constants are selectable: 60 degrees is in Android's gap and past iio's threshold")
  func selectable() throws {
    let down = Point(x: 0, y: -1).applying(AffineMatrix(rotationAngle: -.pi / 3))
    let events = (0..<100).map {
      RotationEvent(at: Double($0) / 50, .gravity(x: down.x, y: down.y, z: 0))
    }
    for (configuration, expected) in [
      (GravityClassifier.Configuration.android, InterfaceOrientation.portrait),
      (.iioSensorProxy, .landscapeRight),
    ] {
      let document = try document("{'device': {'idiom': 'pad'}, \(Self.pad)}")
      let plan = try OrientationPlan(document, events: events, gravity: configuration)
      #expect(plan.reducer.state.appOrientation == expected)
    }
  }

  @Test(
    "Noise causes no extra rotations: jitter, shakes, flat, slow turns through 45 degrees",
    arguments: [true, false])
  func noise(isAndroid: Bool) throws {
    for round in 0..<30 {
      let seed = PropertyTests.seed &* 1000 &+ UInt64(round)
      var hand = Hand(seed: seed, shakes: isAndroid)
      hand.play()
      var reducer = try reducer(.portrait, isAndroid ? .android : .iioSensorProxy)
      var turns: [InterfaceOrientation] = []
      var decisions = 0
      for event in hand.events {
        for case .decision(let decision) in try reducer.reduce(event) {
          decisions += 1
          if decision.outcome == .rotate { turns.append(decision.to) }
        }
      }
      #expect(decisions == hand.events.count)
      #expect(turns == hand.expected, "seed \(seed), android \(isAndroid): \(hand.script)")
    }
  }
}

/// A simulated hand that holds, turns, shakes and puts down a device. The sensor is read
/// at 50 Hz, with noise.
private struct Hand {
  private var dice: SeededGenerator
  private let shakes: Bool
  private var now = 0.0
  /// The angle from portrait, in degrees counter-clockwise. A multiple of 90 at rest.
  private var angle = 0.0
  /// The angle by which the screen leans back, in degrees.
  private var tilt = 10.0

  private(set) var events: [RotationEvent] = []
  /// The expected rotations.
  private(set) var expected: [InterfaceOrientation] = []
  /// The movements so far, for failure messages.
  private(set) var script: [String] = []

  private static let counterClockwise: [InterfaceOrientation] = [
    .portrait, .landscapeRight, .portraitUpsideDown, .landscapeLeft,
  ]

  init(seed: UInt64, shakes: Bool) {
    dice = SeededGenerator(seed: seed)
    self.shakes = shakes
  }

  mutating func play() {
    hold(1)
    for _ in 0..<12 {
      switch Int.random(in: 0..<(shakes ? 5 : 4), using: &dice) {
      case 0: turn()
      case 1: turnHalfway()
      case 2: lieFlat()
      case 3: hold(2)
      default: shake()
      }
      hold(1.5)
    }
  }

  private mutating func turn() {
    let direction = dice.pick([90.0, -90])
    script.append("turn \(direction)")
    move(to: angle + direction, seconds: .random(in: 0.6...6, using: &dice))
    let quarter = Int((angle / 90).rounded()) & 3
    expected.append(Self.counterClockwise[quarter])
  }

  /// Turns the device to the diagonal, waits, and turns it back.
  private mutating func turnHalfway() {
    let direction = dice.pick([45.0, -45])
    script.append("halfway \(direction)")
    let rest = angle
    move(to: angle + direction, seconds: .random(in: 0.5...4, using: &dice))
    hold(.random(in: 0...3, using: &dice))
    move(to: rest, seconds: .random(in: 0.5...4, using: &dice))
  }

  private mutating func lieFlat() {
    script.append("flat")
    lean(to: 90, seconds: .random(in: 0.4...1, using: &dice))
    hold(.random(in: 0.5...4, using: &dice))
    lean(to: 10, seconds: .random(in: 0.4...1, using: &dice))
  }

  private mutating func shake() {
    script.append("shake")
    for _ in 0..<Int.random(in: 10...60, using: &dice) {
      read((0..<3).map { _ in Double.random(in: -3...3, using: &dice) })
    }
  }

  private mutating func hold(_ seconds: Double) {
    for _ in 0..<Int(seconds * 50) { read(direction) }
  }

  private mutating func move(to end: Double, seconds: Double) {
    let (start, count) = (angle, Int(seconds * 50))
    for step in 1...count {
      angle = start + (end - start) * Double(step) / Double(count)
      read(direction)
    }
  }

  private mutating func lean(to end: Double, seconds: Double) {
    let (start, count) = (tilt, Int(seconds * 50))
    for step in 1...count {
      tilt = start + (end - start) * Double(step) / Double(count)
      read(direction)
    }
  }

  /// The current gravity, in the axes of the device.
  private var direction: [Double] {
    let lean = Point(x: 1, y: 0).applying(AffineMatrix(rotationAngle: tilt * .pi / 180))
    let down = Point(x: 0, y: -lean.x).applying(AffineMatrix(rotationAngle: -angle * .pi / 180))
    return [down.x, down.y, -lean.y]
  }

  /// A reading with the noise of the hand and of the sensor.
  private mutating func read(_ gravity: [Double]) {
    let noisy = gravity.map { $0 + Double.random(in: -0.06...0.06, using: &dice) }
    events.append(RotationEvent(at: now, .gravity(x: noisy[0], y: noisy[1], z: noisy[2])))
    now += 0.02
  }
}
