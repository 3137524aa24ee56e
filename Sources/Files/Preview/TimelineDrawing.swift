internal import UprightOrientation
public import UprightPolicy
internal import UprightMediaIO
internal import UprightMedia

/// A drawing of the timeline: the device orientation, the app orientation, and the outcome of each event.
public struct TimelineDrawing: Sendable {
  private let plan: OrientationPlan
  private let duration: Double
  /// Whether the end of the axis is the end of the input.
  private let hasEnd: Bool
  /// The rows of sizes that change, with their names.
  private let sizes: [(name: String, runs: [Size])]

  /// A frame size and the time from which it applies.
  struct Size: Sendable {
    let at: Double
    let size: PixelSize

    /// Appends a size if it differs from the last one.
    static func add(_ size: PixelSize, at seconds: Double, in list: inout [Size]) {
      guard list.last?.size != size, list.count < 10_000 else { return }
      list.append(Size(at: seconds, size: size))
    }
  }

  /// Creates the timeline of `plan`.
  ///
  /// - Parameters:
  ///   - plan: The decisions. They should be complete: call `finish` on the plan first.
  ///   - duration: The duration of the input in seconds, after which nothing is drawn; `nil` to end a little
  ///     after the last event.
  public init(_ plan: OrientationPlan, duration: Double? = nil) {
    self.init(
      plan, duration: duration, input: [],
      output: plan.formats.map { Size(at: $0.from, size: $0.format.encodeResolution) })
  }

  /// - Parameters:
  ///   - input: The sizes of the stored frames.
  ///   - output: The sizes of the output frames.
  init(_ plan: OrientationPlan, duration: Double?, input: [Size], output: [Size]) {
    self.plan = plan
    sizes = [("input", input), ("output", output)].filter { $0.1.count > 1 }
    let last = max(
      plan.entries.map { max($0.decidedAt, $0.turn?.ends ?? 0) }.max() ?? 0,
      plan.timeline.last.at)
    // Limits the duration to what an axis can show.
    self.duration = min(max(duration ?? last * 1.1, 0.001), 1e9)
    hasEnd = duration != nil
  }

  /// The drawing as an SVG file.
  public var svg: String {
    let drawing = drawing(width: 1200)
    return drawing.svg
  }

  private static let margin = 16
  private static let label = 6 * Drawing.Text.advance

  /// Returns the drawing, `width` pixels wide.
  func drawing(width: Int) -> Drawing {
    let left = Self.margin + Self.label + 12
    let axis = Axis(left: left, width: max(100, width - left - Self.margin), duration: duration)
    let reasons = reasons
    let height = 202 + sizes.count * 36 + reasons.count * Self.line
    var drawing = Drawing(size: PixelSize(width, height))
    var y = 8
    drawing.add(.text("device", x: Self.margin, y: y + 8, Palette.ink))
    band(
      plan.timeline.points.map { ($0.at, $0.device.name, $0.device.interface) }, y: y, axis,
      &drawing)
    y += 36
    drawing.add(.text("app", x: Self.margin, y: y + 8, Palette.ink))
    band(
      plan.timeline.points.map { ($0.at, $0.appOrientation.name, $0.appOrientation) }, y: y, axis,
      &drawing)
    turns(y: y + 30, axis, &drawing)
    y += 42
    for row in sizes {
      drawing.add(.text(row.name, x: Self.margin, y: y + 8, Palette.ink))
      band(row.runs.map { ($0.at, "\($0.size)", nil) }, y: y, axis, &drawing)
      y += 36
    }
    drawing.add(.text("events", x: Self.margin, y: y, Palette.ink))
    marks(y: y, axis, &drawing)
    y += Self.lanes * Self.lane + 1
    ticks(y: y, axis, &drawing)
    if hasEnd { end(y: y, axis, &drawing) }
    y += 40
    legend(y: y, &drawing)
    for reason in reasons {
      y += Self.line
      drawing.add(reason, x: left, y: y, width: axis.width, Palette.refuse)
    }
    return drawing
  }

  /// Why events did not turn the app. Only the first few are listed.
  private var reasons: [String] {
    let refused = plan.entries.filter {
      ($0.outcome == .refuse || $0.outcome == .invalid) && $0.at <= duration
    }
    let shown = refused.prefix(5).map { "\($0.at.inWords): \($0.headline)" }
    return refused.count > 5 ? shown + ["and \(refused.count - 5) more"] : shown
  }

  /// The height of a line of text.
  private static let line = 22

  /// Maps a time to a position on the axis.
  private struct Axis {
    let left: Int
    let width: Int
    let duration: Double

    func x(_ seconds: Double) -> Int {
      left + Int(clamping: min(max(seconds / duration, 0), 1) * Double(width))
    }
  }

  /// Draws a band with a section for each orientation, labelled if there is room.
  private func band(
    _ points: [(at: Double, name: String, orientation: InterfaceOrientation?)], y: Int,
    _ axis: Axis,
    _ drawing: inout Drawing
  ) {
    var runs: [(at: Double, name: String, orientation: InterfaceOrientation?)] = []
    for point in points where runs.last?.name != point.name { runs.append(point) }
    for (index, run) in runs.enumerated() {
      let start = axis.x(run.at)
      let end = index + 1 < runs.count ? axis.x(runs[index + 1].at) : axis.left + axis.width
      guard end > start else { continue }
      let rect = PixelRect(x: start, y: y, width: end - start, height: 30)
      drawing.add(.rectangle(rect, Palette.colour(run.orientation)))
      if index > 0 {
        drawing.add(.line(x: start, y: y, length: 30, isUpright: true, Palette.paper))
      }
      let fitting = [run.name, Self.shortName(run.name)].first {
        Drawing.Text.width($0) <= end - start - 12
      }
      if let fitting { drawing.add(.text(fitting, x: start + 8, y: y + 8, Palette.ink)) }
    }
  }

  /// Returns a short form of an orientation's name.
  private static func shortName(_ name: String) -> String {
    switch name {
    case "landscapeLeft": "left"
    case "landscapeRight": "right"
    case "portraitUpsideDown": "down"
    case "portrait": "port"
    default: name
    }
  }

  /// Draws the time from willRotate to didRotate of each turn, below the app's band.
  private func turns(y: Int, _ axis: Axis, _ drawing: inout Drawing) {
    for turn in plan.entries.compactMap(\.turn) where turn.ends > turn.starts {
      let (start, end) = (axis.x(turn.starts), axis.x(turn.ends))
      drawing.add(
        .rectangle(
          PixelRect(x: start, y: y, width: max(2, end - start), height: 5), Palette.rotate))
    }
  }

  /// The number of rows over which close marks are spread, and the height of a row.
  private static let (lanes, lane) = (3, 15)

  /// Draws a mark for each event. Of several at the same position, the most severe is shown.
  private func marks(y: Int, _ axis: Axis, _ drawing: inout Drawing) {
    func weight(_ outcome: RotationDecision.Outcome) -> Int {
      switch outcome {
      case .keep: 0
      case .rotate: 1
      case .refuse: 2
      case .invalid: 3
      }
    }
    var spots: [Int: (outcome: RotationDecision.Outcome, notes: [String])] = [:]
    for entry in plan.entries where entry.at <= duration {
      let x = axis.x(entry.at)
      var spot = spots[x] ?? (entry.outcome, [])
      if weight(entry.outcome) > weight(spot.outcome) { spot.outcome = entry.outcome }
      if spot.notes.count < 5 {
        spot.notes.append("\(entry.at.inWords): \(entry.headline). \(entry.explanation)")
      }
      spots[x] = spot
    }
    var ends = [Int](repeating: .min, count: Self.lanes)
    for (x, spot) in spots.sorted(by: { $0.key < $1.key }) {
      let lane = ends.firstIndex { $0 <= x } ?? 0
      ends[lane] = x + 14
      let top = y + lane * Self.lane
      mark(spot.outcome, x: x, y: top, &drawing)
      let rect = PixelRect(x: x - 7, y: top, width: 14, height: Self.lane)
      drawing.add(.note(spot.notes.joined(separator: "\n"), rect))
    }
  }

  /// Draws the end of the input, and the number of later events.
  private func end(y: Int, _ axis: Axis, _ drawing: inout Drawing) {
    let x = axis.left + axis.width
    drawing.add(.line(x: x, y: 8, length: y - 2, isUpright: true, Palette.ink))
    drawing.add(
      .note("the end, at \(duration.inWords)", PixelRect(x: x - 3, y: 8, width: 6, height: y - 2)))
    let later = plan.entries.count { $0.at > duration }
    guard later > 0 else { return }
    let text = "\(later) event\(later == 1 ? "" : "s") after the end"
    drawing.add(.text(text, x: x - Drawing.Text.width(text), y: y + 40, Palette.refuse))
  }

  private func mark(
    _ outcome: RotationDecision.Outcome, x: Int, y: Int, _ drawing: inout Drawing
  ) {
    switch outcome {
    case .rotate: drawing.add(.arrow(x: x, y: y + 13, Palette.rotate))
    case .keep: drawing.add(.dot(x: x, y: y + 7, Palette.keep))
    case .refuse: drawing.add(.cross(x: x, y: y + 7, Palette.refuse))
    case .invalid:
      drawing.add(.rectangle(PixelRect(x: x - 5, y: y + 2, width: 11, height: 11), Palette.ink))
    }
  }

  private func ticks(y: Int, _ axis: Axis, _ drawing: inout Drawing) {
    drawing.add(.line(x: axis.left, y: y, length: axis.width, isUpright: false, Palette.faint))
    // 1, 2 or 5 times a power of ten, about a hundred pixels apart.
    let wanted = duration * 100 / Double(axis.width)
    var step = 0.001
    var turn = 0
    while step < wanted {
      step *= turn % 3 == 1 ? 2.5 : 2
      turn += 1
    }
    var number = 0
    var free = 0
    while Double(number) * step <= duration * 1.000001 {
      let seconds = (Double(number) * step).rounded(toPlaces: 3)
      let x = axis.x(seconds)
      drawing.add(.line(x: x, y: y, length: 6, isUpright: true, Palette.faint))
      let text = seconds.inWords
      let place = min(
        x - Drawing.Text.width(text) / 2, axis.left + axis.width - Drawing.Text.width(text))
      if place >= free {
        drawing.add(.text(text, x: place, y: y + 10, Palette.faint))
        free = place + Drawing.Text.width(text) + 12
      }
      number += 1
    }
  }

  private func legend(y: Int, _ drawing: inout Drawing) {
    var x = Self.margin + Self.label + 12
    var outcomes: [RotationDecision.Outcome] = [.rotate, .keep, .refuse]
    if plan.entries.contains(where: { $0.outcome == .invalid }) { outcomes.append(.invalid) }
    for outcome in outcomes {
      let text = outcome.rawValue
      mark(outcome, x: x + 6, y: y, &drawing)
      drawing.add(.text(text, x: x + 20, y: y, Palette.faint))
      x += 20 + Drawing.Text.width(text) + 28
    }
    guard plan.entries.contains(where: { ($0.turn?.ends ?? 0) > ($0.turn?.starts ?? 0) }) else {
      return
    }
    drawing.add(.rectangle(PixelRect(x: x, y: y + 5, width: 24, height: 5), Palette.rotate))
    drawing.add(.text("turning", x: x + 32, y: y, Palette.faint))
  }
}

extension Double {
  /// The seconds as text, with at most three decimal places and none for whole numbers. The maximum is 1e9.
  var inWords: String {
    let seconds = rounded(toPlaces: 3)
    guard seconds == seconds.rounded(), let whole = Int(exactly: seconds) else {
      return "\(seconds) s"
    }
    return "\(whole) s"
  }
}
