internal import UprightOrientation
internal import UprightPolicy
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// The direction of every frame of an input, known before any frame is decoded.
struct InputSurvey {
  /// Consecutive frames with the same direction. During an animated turn each frame is a stretch.
  struct Stretch {
    /// The index of the first frame in presentation order.
    let firstFrame: Int
    let time: MediaTime
    let direction: FrameDirection
    /// The size of the stored frames.
    let size: PixelSize
  }

  let survey: PacketSurvey
  /// The stretches in presentation order. The first begins at frame 0.
  private(set) var stretches: [Stretch] = []
  /// The policy's decisions and formats.
  let plan: OrientationPlan
  let warnings: [String]
  /// Seconds per tick of the survey's times.
  let timeBase: Rational

  /// Reads the packets of the input of `plan`.
  ///
  /// - Throws: `CopyRefusal` if packets alone are not enough, or `UprightError`.
  init(_ plan: SessionPlan) throws { try self.init(plan, PacketSurvey(plan)) }

  /// Directs the frames of a survey that was made before, without reading the input.
  ///
  /// - Throws: `CopyRefusal` if the shape of the frames changes, or `UprightError`.
  init(_ plan: SessionPlan, _ survey: PacketSurvey) throws {
    self.survey = survey
    timeBase = plan.video.timeBase
    let shape = plan.video.frameShape
    var (size, shown) = (shape.stored, shape.shown)
    let guidance = try plan.guidance(first: shape)
    var director = try plan.request.director(size: shown, guidance: guidance, canvas: plan.canvas)
    var events = EventQueue(plan.request.events, offset: plan.options.eventsOffset)
    var warnings = plan.options.frames.isSignalled ? survey.warnings : []
    var inexact: String?
    var changes = survey.changes[...]
    var signal: OrientationSignal?
    for frame in survey.shown.indices {
      let time = MediaTime(survey.shown[frame] - survey.shown[0], timeBase)
      let seconds = time.seconds
      while let change = changes.first, change.frame <= frame + survey.leading {
        guard change.size == size && change.shown == shown || plan.request.makesSegments else {
          let size = change.size != size ? change.size : change.shown
          throw CopyRefusal(reason: "the frame size changes to \(size)")
        }
        (size, shown) = (change.size, change.shown)
        signal = change.signal
        changes.removeFirst()
      }
      if let signal, inexact == nil { inexact = plan.warning(of: signal, at: time) }
      for event in try events.take(upTo: seconds + OrientationTimeline.grain) {
        try director.push(event)
      }
      let direction = try director.direct(at: seconds, size: shown, signal: signal?.turn)
      if let last = stretches.last, last.direction == direction, last.size == size { continue }
      stretches.append(.init(firstFrame: frame, time: time, direction: direction, size: size))
    }
    for event in try events.takeRest() { try director.push(event) }
    director.finish()
    self.plan = director.plan
    if let inexact { warnings.append(inexact) }
    self.warnings = warnings + director.plan.warnings
  }

  /// Returns the position on the media timeline of a frame, by its index in presentation order.
  func time(of frame: Int) -> MediaTime {
    MediaTime(survey.shown[frame] - survey.shown[0], timeBase)
  }

  /// Returns whether the frames have a constant rate exactly. The times of Matroska are rounded to milliseconds.
  func isConstant(_ rate: Rational) -> Bool {
    survey.shown.enumerated().allSatisfy { index, pts in
      MediaTime(pts - survey.shown[0], timeBase) == MediaTime(Int64(index), rate.inverted)
    }
  }

  /// Logs the turns, each at the frame with which it ends.
  func logTurns(in log: TurnLog) {
    var turns = PendingTurns()
    turns.add(plan.entries)
    for frame in survey.shown.indices {
      if turns.isEmpty { return }
      turns.log(
        upTo: time(of: frame).seconds, as: MediaTime(survey.shown[frame], timeBase), in: log)
    }
  }

  /// Returns the stretch that contains a frame. O(log stretches).
  func stretch(of frame: Int) -> Stretch { stretches[index(of: frame)] }

  /// Returns the stretches that contain the given frames.
  func stretches(in frames: Range<Int>) -> ArraySlice<Stretch> {
    stretches[index(of: frames.lowerBound)...index(of: frames.upperBound - 1)]
  }

  private func index(of frame: Int) -> Int {
    max(1, stretches.place { $0.firstFrame <= frame }) - 1
  }

  /// Whether the turn changes within the input. A container stores only one turn for all frames.
  var variesWithFrames: Bool {
    stretches.contains { $0.direction.turn != stretches[0].direction.turn }
  }
}
