import UprightOrientation
import Testing
import UprightTestSupport

@Suite("Gravity classifiers of other projects")
struct GravityVectorTests {
  /// Android's rotations: the number of quarter turns that the device is rotated counter-clockwise.
  let rotations: [DeviceOrientation] = [
    .portrait, .landscapeLeft, .portraitUpsideDown, .landscapeRight,
  ]

  @Test(
    "Vectors: android_window_orientation")
  func android() throws {
    let file = try Fixtures.vectors("android_window_orientation")
    constants(file["constants"])
    for entry in file["cases"].array {
      let current = try #require(entry["current"].int)
      let start = rotations.indices.contains(current) ? rotations[current] : .unknown
      var classifier = GravityClassifier(orientation: start)
      let angle = try #require(entry["orientation_angle"].double)
      // Android's accelerometer is the opposite of gravity, in m/s²: at this angle (sin, cos, 0).
      let accelerometer = Point(x: 0, y: 9.80665)
        .applying(AffineMatrix(rotationAngle: -angle * .pi / 180))
      let reading = Gravity(x: -accelerometer.x / 9.80665, y: -accelerometer.y / 9.80665, z: 0)
      for step in 0..<5 { try classifier.classify(reading, at: Double(step) * 0.02) }
      let nearest = rotations[try #require(entry["nearest"].int)]
      let expected = entry["acceptable"].bool == true ? nearest : start
      #expect(classifier.orientation == expected, "\(entry["id"])")
    }
  }

  private func constants(_ constants: JSON) {
    let android = GravityClassifier.Configuration.android
    let g = GravityClassifier.Configuration.standardGravity
    let rows: [(String, Double)] = [
      ("proposal_settle_ms", android.settleTime * 1000),
      ("min_since_flat_ended_ms", android.waitAfterFlat * 1000),
      ("min_since_swing_ended_ms", android.waitAfterSwing * 1000),
      ("min_since_acceleration_ended_ms", android.waitAfterRejection * 1000),
      ("flat_angle_deg", android.flatAngle), ("flat_time_ms", android.flatTime * 1000),
      ("swing_away_angle_delta_deg", android.swingAngle),
      ("swing_time_ms", android.swingTime * 1000),
      ("max_filter_delta_ms", android.filterMaximumPause * 1000),
      ("filter_time_constant_ms", android.filterTimeConstant * 1000),
      ("near_zero_magnitude", android.nearZeroMagnitude * g),
      ("acceleration_tolerance", android.magnitudeTolerance * g), ("standard_gravity", g),
      ("max_tilt_deg", android.flatAngle),
    ]
    for (name, value) in rows {
      #expect(abs((constants[name].double ?? .nan) - value) < 1e-9, "\(name)")
    }
    guard case .nearestQuarter(let gap, let tilt) = android.rule else {
      Issue.record("Android's rule is the nearest quarter")
      return
    }
    #expect(gap == constants["adjacent_orientation_angle_gap_deg"].double)
    #expect(tilt.overheadEnter == constants["tilt_overhead_enter_deg"].double)
    #expect(tilt.overheadExit == constants["tilt_overhead_exit_deg"].double)
    for (name, range) in [
      ("ROTATION_0", tilt.portrait), ("ROTATION_90", tilt.landscape),
      ("ROTATION_180", tilt.upsideDown), ("ROTATION_270", tilt.landscape),
    ] {
      let bounds = constants["tilt_tolerance"][name].doubles
      #expect(bounds == [range.lowerBound, range.upperBound])
    }
    // min_since_touch_end_ms: there is no touch input here. tilt_history_size and surface_rotation
    // have no counterpart.
  }

  /// iio-sensor-proxy names the edge that is up. Its axes and signs match this library's.
  private func orientation(_ edge: String?) throws -> DeviceOrientation {
    switch edge {
    case "normal": .portrait
    case "bottom-up": .portraitUpsideDown
    case "left-up": .landscapeRight
    case "right-up": .landscapeLeft
    case "undefined": .unknown
    default: try #require(nil, "unknown edge \(edge ?? "nil")")
    }
  }

  private func check(_ entry: JSON, scale: Double) throws {
    let start = entry["start"].isNull ? entry["prev"] : entry["start"]
    var classifier = GravityClassifier(
      configuration: .iioSensorProxy, orientation: try orientation(start.string ?? "undefined"))
    let steps = entry["sequence"].isNull ? [entry] : entry["sequence"].array
    for (index, step) in steps.enumerated() {
      var xyz = step["xyz"].doubles
      let rows = entry["mount_matrix"].array.map(\.doubles)
      if rows.count == 3 { xyz = rows.map { row in zip(row, xyz).map(*).reduce(0, +) } }
      if !entry["expect_xyz"].isNull { #expect(xyz == entry["expect_xyz"].doubles) }
      let g = xyz.map { $0 * scale / GravityClassifier.Configuration.standardGravity }
      let found = try classifier.classify(
        Gravity(x: g[0], y: g[1], z: g[2]), at: Double(index) / 10)
      if step["expect"].isNull { continue }
      #expect(try found == orientation(step["expect"].string), "\(entry["id"]), reading \(index)")
    }
  }

  @Test("Vectors: iio_sensor_proxy")
  func iio() throws {
    for entry in try Fixtures.vectors("iio_sensor_proxy")["cases"].array {
      try check(entry, scale: entry["scale"].double ?? 9.81 / 256)
    }
  }

  @Test(
    "Vectors: iio_sensor_proxy_oracle")
  func iioOracle() throws {
    let cases = try Fixtures.vectors("iio_sensor_proxy_oracle")["cases"].array
    #expect(cases.count == 222)
    for entry in cases { try check(entry, scale: 9.81 / 256) }
  }
}
