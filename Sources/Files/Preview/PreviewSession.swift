public import UprightOrientation
public import UprightPolicy
public import UprightMedia
internal import UprightMediaIO

/// A preview of a transcode: frames before and after, and the timeline of the decisions.
///
/// The input is processed as in a transcode, but not encoded.
public final class PreviewSession: Sendable {
  private let request: TranscodeRequest

  /// Creates a preview. Opens nothing.
  ///
  /// - Throws: `usage` or `badData`, as for a transcode.
  public init(
    input: String, inputFormat: String? = nil, options: TranscodeOptions,
    policy: PolicyDocument = PolicyDocument(), events: EventSource = .none
  ) throws(UprightError) {
    var options = options
    options.reencode = .always
    options.upright = .pixels
    // A preview shows one size, and the first canvas.
    if let rung = options.ladder.first { options.size = options.size ?? .pair(rung.size) }
    options.ladder = []
    request = try TranscodeRequest(
      input: input, output: options.canvas == .dual ? "preview.mp4" : "-", inputFormat: inputFormat,
      outputFormat: "mp4", options: options,
      policy: policy, events: events)
  }

  /// Stops reading. The frames read so far are drawn. Can be called on any thread.
  public func stop() { request.interrupt.raise() }

  /// Reads the input and returns the preview. Blocks.
  ///
  /// - Parameter observe: Called with progress, decisions and formats, on the calling thread.
  /// - Throws: `noInput` or `badData` for an input that can't be read; `cancelled` if `stop` was called before
  ///   the first frame.
  public func run(
    observe: @escaping (SessionUpdate) -> Void = { _ in }
  ) throws(UprightError) -> Preview {
    let plan = try SessionPlan(request, isDryRun: true)
    let collector = PreviewCollector(limit: ContactSheet.columns, cell: ContactSheet.cell)
    let run = try EncodeRun(plan, tap: collector, observe: observe)
    let report = try run.run()
    guard let orientation = run.orientationPlan else {
      throw UprightError(.fault, "no frame was read", at: request.input)
    }
    let size = plan.video.frameShape.shown
    let seconds = run.lastTime.seconds + 1 / max(plan.video.frameRate?.doubleValue ?? 30, 0.001)
    let name =
      request.input == "-"
      ? "standard input" : FilePath(request.input).name
    return Preview(
      title: "\(name)   \(plan.video.codecName) \(size)   \(seconds.rounded(toPlaces: 2).inWords)",
      columns: collector.columns,
      timeline: TimelineDrawing(
        orientation, duration: seconds, input: collector.storedSizes,
        output: collector.uprightSizes),
      warnings: report.warnings)
  }
}

/// The preview of an input.
public struct Preview: Sendable {
  let title: String
  let columns: [PreviewCollector.Column]
  /// The timeline without the frames.
  public let timeline: TimelineDrawing
  /// Warnings for the user.
  public let warnings: [String]

  /// Returns the contact sheet as a PNG file.
  ///
  /// - Throws: `unavailable` if the linked FFmpeg can't encode PNG.
  public func png() throws(UprightError) -> [UInt8] {
    try ContactSheet(self).drawing.painted().png()
  }
}

/// Lays out a preview: the stored frames, below them the output frames, and below those the timeline.
struct ContactSheet {
  static let columns = 8
  static let cell = 176
  private static let gap = 10
  private static let margin = 16

  let drawing: Drawing

  init(_ preview: Preview) {
    let count = preview.columns.count
    let width = max(Self.margin * 2 + count * (Self.cell + Self.gap) - Self.gap, 940)
    let row = Self.cell + Drawing.Text.height + 24
    let top = Self.margin + Drawing.Text.height + 20
    let heading = Drawing.Text.height + 10
    let timelineTop = top + 2 * (heading + row)
    let timeline = preview.timeline.drawing(width: width)
    var drawing = Drawing(size: PixelSize(width, timelineTop + timeline.size.height))
    drawing.add(
      preview.title, x: Self.margin, y: Self.margin, width: width - 2 * Self.margin, Palette.ink)
    for (number, title) in ["input frames, as stored", "output frames, as shown"].enumerated() {
      let y = top + number * (heading + row)
      drawing.add(.text(title, x: Self.margin, y: y, Palette.faint))
      for (index, column) in preview.columns.enumerated() {
        let picture = number == 0 ? column.stored : column.upright
        let size = number == 0 ? column.storedSize : column.uprightSize
        let x = Self.margin + index * (Self.cell + Self.gap)
        Self.add(
          picture, label: number == 0 ? column.time.seconds.inWords : "\(size)",
          x: x, y: y + heading, to: &drawing)
      }
    }
    drawing.add(timeline, below: timelineTop)
    self.drawing = drawing
  }

  private static func add(
    _ picture: RGBPicture, label: String, x: Int, y: Int, to drawing: inout Drawing
  ) {
    drawing.add(.rectangle(PixelRect(x: x, y: y, width: cell, height: cell), Palette.cell))
    drawing.add(
      .picture(
        picture, x: x + (cell - picture.size.width) / 2, y: y + (cell - picture.size.height) / 2))
    let inset = max(0, (cell - Drawing.Text.width(label)) / 2)
    drawing.add(.text(label, x: x + inset, y: y + cell + 6, Palette.ink))
  }
}
