internal import Glibc
internal import UprightMediaIO
internal import UprightOrientation
internal import UprightSignals

/// Gravity in the image, as the camera has recorded it in a track of GPMF or CAMM.
///
/// The track is read completely before the first frame, so that smoothing has no lag.
struct GravitySignals {
  /// The readings, by their times in seconds: to the left of the image, to its bottom, and away from the photographer.
  private var readings: [(time: Double, gravity: SIMD3<Double>)] = []
  /// The quarter turns from each time on; empty if frames are levelled.
  private var turns: [(time: Double, turn: ImageOrientation)] = []
  /// The first orientation that isn't flat.
  private(set) var first: ImageOrientation?
  /// The turn of the last frame.
  private var last: DisplayTurn?

  /// The most readings of a file.
  private static let limit = 1 << 22
  /// The standard deviation of the smoothing, in seconds: the camera has filtered gravity, but not its acceleration.
  private static let smoothing = (gravity: 0.04, acceleration: 0.1)
  /// The most readings on each side that one is averaged with. Sensors read some 200 times a second.
  private static let window = 256
  /// One g, in m/s², and how far the length of an acceleration is off at most while it is gravity's.
  private static let (standard, tolerance) = (9.80665, 0.05)
  /// The least share of gravity in the plane of the image. Otherwise the camera looks down or up.
  private static let leastShare = 0.2

  /// Returns `nil` if no track says where gravity is, or the input isn't seekable.
  init?(_ demuxer: Demuxer, _ use: GravityUse) throws(UprightError) {
    guard let stream = demuxer.telemetryTracks.first else { return nil }
    var track = Track()
    try demuxer.readTelemetry(of: stream) { readings, time in
      if let time { track.add(readings, from: time.seconds) }
      return track.count < Self.limit
    }
    track.finish()
    let isDerived = !track.gravity.isEmpty
    readings = isDerived ? track.gravity : track.acceleration
    guard !readings.isEmpty else { return nil }
    if case .quarterTurns(let configuration) = use { classify(configuration, isDerived) }
    smooth(by: isDerived ? Self.smoothing.gravity : Self.smoothing.acceleration)
    if !isDerived { holdWhileMoving() }
    first =
      turns.first?.turn ?? readings.lazy.compactMap { Self.turn($0.gravity)?.nearest }.first
  }

  /// The readings of a track, as they are stored.
  private struct Track {
    /// A sample, whose readings last until the next one begins.
    private var pending: (found: [TelemetryReading], start: Double)?
    private var seconds = 0.0
    var gravity: [(time: Double, gravity: SIMD3<Double>)] = []
    var acceleration: [(time: Double, gravity: SIMD3<Double>)] = []
    var count: Int { gravity.count + acceleration.count }

    /// Adds the readings of a sample, which are evenly distributed over its time.
    mutating func add(_ found: [TelemetryReading], from start: Double) {
      if let pending { seconds = max(0, start - pending.start) }
      finish()
      pending = (found, start)
    }

    /// Places the last sample. It lasts as long as the one before it.
    mutating func finish() {
      guard let (found, start) = pending else { return }
      pending = nil
      let turned = found.filter { $0.kind == .imageOrientation }
      func placed(_ kind: TelemetryReading.Kind) -> [(time: Double, gravity: SIMD3<Double>)] {
        let own = found.filter { $0.kind == kind }
        return own.enumerated().compactMap { index, reading in
          guard let gravity = reading.gravity else { return nil }
          let share = Double(index) / Double(own.count)
          let image = turned.isEmpty ? nil : turned[Int(clamping: share * Double(turned.count))]
          return (start + share * seconds, image?.turned(gravity) ?? gravity)
        }
      }
      gravity += placed(.gravity)
      acceleration += placed(.acceleration)
    }
  }

  /// Returns the turn for the frame at `time`; without one, that of the frame before.
  mutating func turn(at time: MediaTime?) -> DisplayTurn? {
    guard let seconds = time?.seconds else { return last }
    let turn =
      turns.isEmpty
      ? level(at: seconds)
      : turns.last { $0.time <= seconds + MediaTime.millisecond.seconds }.map {
        DisplayTurn($0.turn)
      }
        ?? first.map { DisplayTurn($0) }
    last = turn ?? last
    return last
  }

  /// Returns the clockwise turn that brings gravity to the bottom; `nil` if the camera looks up or down.
  private static func turn(_ gravity: SIMD3<Double>) -> DisplayTurn? {
    let (right, down) = (-gravity.x, gravity.y)
    let flat = (right * right + down * down).squareRoot()
    guard flat > leastShare * (gravity * gravity).sum().squareRoot() else { return nil }
    return DisplayTurn(clockwiseDegrees: atan2(right, down) * 180 / .pi)
  }

  private func level(at seconds: Double) -> DisplayTurn? {
    guard !readings.isEmpty else { return nil }
    let place = readings.place { $0.time <= seconds }
    guard place > 0, place < readings.count else {
      return Self.turn(readings[place == 0 ? 0 : readings.count - 1].gravity)
    }
    let (before, after) = (readings[place - 1], readings[place])
    let share = (seconds - before.time) / (after.time - before.time)
    return Self.turn(before.gravity + (after.gravity - before.gravity) * share)
  }

  private mutating func classify(
    _ configuration: GravityClassifier.Configuration, _ isDerived: Bool
  ) {
    var classifier = GravityClassifier(configuration: configuration)
    for (time, gravity) in readings {
      let length = (gravity * gravity).sum().squareRoot()
      // The screen is the image: its top is opposite to the bottom, and its front towards the photographer.
      let unit = -gravity / (isDerived ? length : Self.standard)
      let pose = try? classifier.classify(Gravity(x: unit.x, y: unit.y, z: unit.z), at: time)
      guard let degrees = pose?.clockwiseDegrees else { continue }
      let turn = ImageOrientation(flippedHorizontally: false, quarterTurns: degrees / 90)
      if turns.last?.turn != turn { turns.append((time, turn)) }
    }
  }

  /// Averages the readings around each one: what comes after it weighs as much as what was before, at both ends too.
  private mutating func smooth(by deviation: Double) {
    guard let opening = readings.first?.time, let closing = readings.last?.time else { return }
    let own = readings
    for (index, reading) in own.enumerated() {
      let reach = min(3 * deviation, reading.time - opening, closing - reading.time) + 1e-6
      var start = index
      let first = max(0, index - Self.window)
      while start > first, own[start - 1].time >= reading.time - reach { start -= 1 }
      var (sum, weight, at) = (SIMD3<Double>.zero, 0.0, start)
      let end = min(own.count, index + Self.window + 1)
      while at < end, own[at].time <= reading.time + reach {
        let distance = (own[at].time - reading.time) / deviation
        let share = exp(-distance * distance / 2)
        sum += share * own[at].gravity
        weight += share
        at += 1
      }
      if weight > 0 { readings[index].gravity = sum / weight }
    }
  }

  /// An acceleration that isn't gravity's alone says nothing: the one before it holds.
  private mutating func holdWhileMoving() {
    func isAtRest(_ gravity: SIMD3<Double>) -> Bool {
      abs((gravity * gravity).sum().squareRoot() / Self.standard - 1) <= Self.tolerance
    }
    guard var held = readings.first(where: { isAtRest($0.gravity) })?.gravity else {
      readings = []
      return
    }
    for index in readings.indices {
      if isAtRest(readings[index].gravity) { held = readings[index].gravity }
      readings[index].gravity = held
    }
  }
}
