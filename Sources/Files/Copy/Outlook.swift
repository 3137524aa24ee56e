internal import Orientation
internal import RotationPolicy
internal import UprightIntake
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// What is to be done with every picture of a clip, known before any is decoded.
struct Outlook {
  /// Pictures in a row with the same direction. During a turn that is drawn, each stands alone.
  struct Stretch {
    /// Counted in presentation order.
    let firstFrame: Int
    let seconds: Double
    let direction: Direction
  }

  let survey: PacketSurvey
  /// In presentation order, the first at picture 0.
  private(set) var stretches: [Stretch] = []
  /// The policy's answers and formats.
  let plan: OrientationPlan
  let warnings: [String]
  private let tick: Double

  /// Looks through the clip of `plan`.
  ///
  /// - Throws: `CopyRefusal` where packets alone do not tell, or `MediaError`.
  init(_ plan: SessionPlan) throws {
    survey = try PacketSurvey(plan)
    tick = plan.video.timeBase.doubleValue
    let size = plan.video.parameters.size
    let guidance = try plan.guidance(
      firstSize: size, sampleAspectRatio: plan.video.sampleAspectRatio)
    var director = try plan.request.director(size: size, guidance: guidance, canvas: plan.canvas)
    var events = EventFeed(plan.request.events, offset: plan.options.eventsOffset)
    var warnings = plan.options.frames == .metadata ? survey.warnings : []
    var inexact: String?
    var changes = survey.changes[...]
    var signal: OrientationSignal?
    for frame in survey.shown.indices {
      let seconds = Double(survey.shown[frame] - survey.shown[0]) * tick
      while let change = changes.first, change.frame <= frame {
        guard change.size == size else {
          throw CopyRefusal(reason: "its size changes to \(change.size)")
        }
        signal = change.signal
        changes.removeFirst()
      }
      if let signal, inexact == nil { inexact = plan.warning(of: signal, at: seconds) }
      for event in try events.take(upTo: seconds + OrientationTimeline.grain) {
        try director.push(event)
      }
      let direction = try director.direct(at: seconds, size: size, signal: signal)
      if stretches.last?.direction == direction { continue }
      stretches.append(.init(firstFrame: frame, seconds: seconds, direction: direction))
    }
    for event in try events.takeRest() { try director.push(event) }
    director.finish()
    self.plan = director.plan
    if let inexact { warnings.append(inexact) }
    self.warnings = warnings + director.plan.warnings
  }

  /// Seconds on the media timeline of a picture, counted in presentation order.
  func seconds(of frame: Int) -> Double {
    Double(survey.shown[frame] - survey.shown[0]) * tick
  }

  /// The stretch in which a picture lies. O(log stretches).
  func stretch(of frame: Int) -> Stretch { stretches[index(of: frame)] }

  /// The stretches that pictures in a row lie in.
  func stretches(in frames: Range<Int>) -> ArraySlice<Stretch> {
    stretches[index(of: frames.lowerBound)...index(of: frames.upperBound - 1)]
  }

  private func index(of frame: Int) -> Int {
    var (low, high) = (0, stretches.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if stretches[middle].firstFrame <= frame { low = middle } else { high = middle }
    }
    return low
  }

  /// Whether each picture says for itself how it lies: a container has one word for all of them.
  var variesWithPictures: Bool {
    stretches.contains { $0.direction.turn != stretches[0].direction.turn }
  }
}
