#if DEBUG
import UprightOrientation

@testable import UprightPolicy

extension FuzzTarget {
  static let json = FuzzTarget("json") { bytes in
    let value = try JSONValue(parsing: bytes)
    for text in [value.compact, value.pretty] {
      let again = try? JSONValue(parsing: Array(text.utf8))
      try expect(again == value, "\(text) is not read back as written")
    }
  }

  static let policy = FuzzTarget("policy") { bytes in
    let document = try PolicyDocument(json: bytes)
    let text = document.json.compact
    let again = try? PolicyDocument(json: Array(text.utf8))
    try expect(again == document, "\(text) is not read back as written")
    if let migrated = try? PolicyMigration(document) { try decide(migrated.document, everyKind) }
    try decide(document, everyKind)
  }

  /// Every kind of event, with names from the seeds.
  private static let everyKind: [RotationEvent] = {
    let actions: [RotationEvent.Action] =
      DeviceOrientation.allCases.map { .device($0) }
      + InterfaceOrientation.allCases.map { .rotate($0) } + [
        .lock(true), .device(.landscapeLeft), .lock(false), .active(false), .device(.portrait),
        .active(true), .present("player", style: .popover), .dismiss, .pop("tabs"),
        .select("player", in: "tabs"), .push("player", onto: "list"),
      ]
    return actions.enumerated().map { RotationEvent(at: Double($0) / 4, $1) }
  }()

  /// Lines of events, decided by one of the built-in policies.
  static let events = FuzzTarget("events") { bytes in
    var input = FuzzInput(bytes)
    let name = input.choice(PolicyDocument.builtInNames)
    let events = try RotationEvent.parse(jsonLines: input.rest)
    for event in events {
      let text = event.json.compact
      let again = try? RotationEvent.parse(line: text, number: 1)
      try expect(again == event, "\(text) is not read back as written")
    }
    if let document = PolicyDocument.builtIn(name) { try decide(document, events) }
  }

  /// Checks that decisions never trap and that their times increase.
  private static func decide(_ document: PolicyDocument, _ events: [RotationEvent]) throws {
    guard var plan = try? OrientationPlan(document) else { return }
    for event in events { _ = try? plan.push(event) }
    plan.finish()
    for entry in plan.entries { _ = entry.explanation }
    _ = plan.json.pretty
    let times = plan.timeline.points.map(\.at)
    try expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "a decreasing timeline")
    for time in times { _ = plan.timeline.point(at: time).turn?.progress(at: time) }
  }

  /// Sensor readings, display matrices and layouts with any numbers.
  static let gravity = FuzzTarget("gravity") { bytes in
    var input = FuzzInput(bytes)
    var classifier = GravityClassifier()
    while !input.isEmpty {
      switch input.byte() & 3 {
      case 0:
        let reading = Gravity(x: input.double(), y: input.double(), z: input.double())
        _ = try? classifier.classify(reading, at: input.double())
      case 1:
        let values = (0..<9).map { _ in Int32(truncatingIfNeeded: input.ticks()) }
        if let matrix = DisplayMatrix(values), let turn = matrix.turn {
          try expect((0..<360).contains(turn.clockwiseDegrees), "\(matrix) rotates by \(turn)")
          _ = (matrix.orientation, matrix.sampleAspectRatio, turn.nearest)
        }
      case 2:
        if let turn = DisplayTurn(isMirrored: input.flag(), clockwiseDegrees: input.double()) {
          try expect((0..<360).contains(turn.clockwiseDegrees), "a rotation of \(turn)")
          try expect(abs(turn.degreesBeyondNearest) <= 45, "\(turn) is not near \(turn.nearest)")
        }
        _ = RotateTag(degrees: Int(input.ticks())).turn
      default: try place(&input)
      }
    }
  }

  private static func place(_ input: inout FuzzInput) throws {
    func size() -> PixelSize { PixelSize(Int(input.ticks()), Int(input.ticks())) }
    let (source, canvas) = (size(), size())
    let placement = Placement(
      source: source, sampleAspectRatio: Rational(Int(input.ticks()), Int(input.ticks())),
      orientation: input.choice(ImageOrientation.allCases), fit: input.choice(Fit.allCases),
      canvas: canvas)
    guard canvas.width > 0, canvas.height > 0 else { return }
    let rect = placement.canvasRect
    try expect(
      rect.x >= 0 && rect.y >= 0 && rect.x + rect.width <= canvas.width
        && rect.y + rect.height <= canvas.height, "\(rect) is outside \(canvas)")
    let pose = Pose(placement, of: source, degrees: input.double())
    _ = pose.visiblePart(of: source, on: canvas, grid: PixelSize(2, 2))
  }
}
#endif
