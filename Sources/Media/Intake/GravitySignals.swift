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
    var isDerived = false
    for stream in demuxer.telemetryTracks where readings.isEmpty {
      var track = Track()
      try demuxer.readTelemetry(of: stream) { streams, time, duration in
        if let time { track.add(streams, from: time.seconds, lasting: duration.seconds) }
        return track.count < Self.limit
      }
      track.finish(at: stream.duration?.seconds ?? 0)
      isDerived = !track.gravity.isEmpty
      readings = isDerived ? track.gravity : track.acceleration
    }
    guard !readings.isEmpty else { return nil }
    if case .quarterTurns(let configuration) = use { classify(configuration, isDerived) }
    if isDerived {
      smooth(by: Self.smoothing.gravity)
    } else {
      smoothAcceleration()
      holdWhileMoving()
    }
    first =
      turns.first?.turn ?? readings.lazy.compactMap { Self.turn($0.gravity)?.nearest }.first
  }

  /// Returns why an input with motion sensors can't be turned so, as a text for the user; `nil` for others.
  static func lack(_ demuxer: Demuxer) -> String? {
    if !demuxer.telemetryTracks.isEmpty {
      return "the camera's motion sensors don't say where gravity is"
    }
    if !demuxer.container.telemetryTracks.isEmpty {
      return "the camera's motion sensors can't be read: the input isn't seekable"
    }
    return nil
  }

  private typealias Placed = [(time: Double, gravity: SIMD3<Double>)]

  /// The readings of a track.
  private struct Track {
    /// A sample, whose readings last until the next one begins.
    private var pending: (streams: [GPMFSample.Stream], start: Double, duration: Double)?
    /// The time from one reading to the next in the sample before, by the kind.
    private var steps: [TelemetryReading.Kind: Double] = [:]
    var gravity: Placed = []
    var acceleration: Placed = []
    var count: Int { gravity.count + acceleration.count }

    /// Adds the readings of a sample.
    mutating func add(
      _ streams: [GPMFSample.Stream], from start: Double, lasting duration: Double
    ) {
      if let pending { place(pending.streams, pending.start, max(0, start - pending.start)) }
      pending = (streams, start, duration)
    }

    /// Places the last sample. What it says of its duration may be anything, and it may be alone.
    ///
    /// - Parameter end: The end of the track.
    mutating func finish(at end: Double) {
      guard let last = pending else { return }
      pending = nil
      let duration = last.duration > 0 ? last.duration : max(0, end - last.start)
      place(last.streams, last.start, duration, steps)
    }

    private mutating func place(
      _ streams: [GPMFSample.Stream], _ start: Double, _ seconds: Double,
      _ known: [TelemetryReading.Kind: Double] = [:]
    ) {
      func placed(_ kind: TelemetryReading.Kind) -> Placed {
        // Of the first device that has any.
        for stream in streams where stream.kind == kind {
          let step = known[kind] ?? seconds / Double(stream.readings.count)
          steps[kind] = step
          let image = streams.first { $0.kind == .imageOrientation && $0.device == stream.device }
          let found = Self.gravity(stream, image?.readings ?? [], from: start, step)
          if !found.isEmpty { return found }
        }
        return []
      }
      gravity += placed(.gravity)
      acceleration += placed(.acceleration)
    }

    /// Returns gravity in the image, `step` seconds apart.
    ///
    /// - Parameter turned: The image's orientation in the camera during the same time; empty if it is the camera's.
    private static func gravity(
      _ stream: GPMFSample.Stream, _ turned: [TelemetryReading?], from start: Double, _ step: Double
    ) -> Placed {
      stream.readings.enumerated().compactMap { index, reading in
        guard let gravity = reading?.gravity else { return nil }
        let time = start + Double(index) * step
        if turned.isEmpty { return (time, gravity) }
        let image = turned[index * turned.count / stream.readings.count]
        return image.map { (time, $0.turned(gravity)) }
      }
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

  /// Averages the readings, and adds the average of what that took away: a roll from one side to the other and back in two
  /// seconds would be flatter by a twentieth otherwise.
  private mutating func smoothAcceleration() {
    let stored = readings
    smooth(by: Self.smoothing.acceleration)
    let once = readings
    for index in readings.indices {
      readings[index].gravity = stored[index].gravity - once[index].gravity
    }
    smooth(by: Self.smoothing.acceleration)
    for index in readings.indices { readings[index].gravity += once[index].gravity }
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
