import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightMediaIO
import UprightTestSupport

@testable import UprightFiles
@testable import UprightMedia

@Suite(.enabled(if: Needs.ffmpeg, "needs ffmpeg"))
struct PreviewTests {
  private static func preview(
    _ input: String, events: String? = nil, _ configure: (inout TranscodeOptions) -> Void = { _ in }
  ) throws -> Preview {
    QuietLibraries.install()
    var options = TranscodeOptions()
    configure(&options)
    let source: EventSource =
      if let events { .list(try RotationEvent.parse(jsonLines: Array(events.utf8))) } else { .none }
    return try PreviewSession(input: input, options: options, events: source).run()
  }

  /// Returns the colour of a pixel of a PNG.
  private static func pixel(_ png: [UInt8], x: Int, y: Int) throws -> [Int] {
    let scratch = try Scratch()
    try Data(png).write(to: URL(fileURLWithPath: scratch.path("s.png")))
    let data = try FFmpegTool.run([
      "-i", scratch.path("s.png"), "-vf", "crop=1:1:\(x):\(y)", "-f", "rawvideo", "-pix_fmt",
      "rgb24", "-",
    ])
    return data.map(Int.init)
  }

  @Test("Columns: the frames on both sides of every change, and others in between")
  func columns() throws {
    let preview = try Self.preview(Samples.turning, events: Samples.turningEvents()) {
      $0.sensor()
      $0.canvas = .follow
    }
    let frames = preview.columns.map(\.frame)
    #expect(frames.count == ContactSheet.columns)
    #expect(frames == frames.sorted() && Set(frames).count == frames.count)
    for frame in [99, 100, 199, 200] { #expect(frames.contains(frame), "\(frames)") }
    for column in preview.columns {
      #expect(column.storedSize == PixelSize(1280, 720))
      let isWide = (100..<200).contains(column.frame)
      #expect(column.uprightSize == (isWide ? PixelSize(1280, 720) : PixelSize(720, 1280)))
      // Without distortion.
      #expect(column.upright.size == (isWide ? PixelSize(176, 99) : PixelSize(99, 176)))
    }
  }

  @Test("The sheet shows the stored frames above the upright ones")
  func sheet() throws {
    let preview = try Self.preview(Samples.displayMatrix)
    let png = try preview.png()
    #expect(Array(png.prefix(4)) == [0x89, 0x50, 0x4E, 0x47])
    // The clip's corners have different colours. The upper left one is red if the frame is upright.
    let sheet = ContactSheet(preview).drawing
    let places: [(x: Int, y: Int)] = sheet.shapes.compactMap {
      if case .picture(_, let x, let y) = $0 { (x, y) } else { nil }
    }
    try #require(places.count == 16)
    let stored = try Self.pixel(png, x: places[0].x + 4, y: places[0].y + 4)
    let upright = try Self.pixel(png, x: places[8].x + 4, y: places[8].y + 4)
    #expect(stored[1] > 120 && stored[0] < 90, "green: \(stored)")
    #expect(upright[0] > 180 && upright[1] < 90, "red: \(upright)")
  }

  @Test("One frame, and many frames", arguments: [1, 400])
  func lengths(_ count: Int) throws {
    let scratch = try Scratch()
    let path = scratch.path("clip.mp4")
    try FFmpegTool.run(
      ["-f", "lavfi", "-i", "testsrc2=s=32x32:r=30", "-frames:v", "\(count)"]
        + ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", path])
    let preview = try Self.preview(path)
    let frames = preview.columns.map(\.frame)
    #expect(frames.count == min(count, ContactSheet.columns))
    if count > 1 {
      // Evenly distributed: no gap is more than twice as long as another.
      let gaps = zip(frames, frames.dropFirst()).map { $1 - $0 }
      let (least, most) = (gaps.min() ?? 0, gaps.max() ?? 0)
      #expect(most <= 2 * least, "\(frames)")
    }
    #expect(try preview.png().count > 100)
  }

  @Test("More changes than columns")
  func manyChanges() throws {
    let words = ["portrait", "landscapeLeft", "landscapeRight"]
    let events = (0..<90).map { #"{"at": \#(Double($0) / 10), "device": "\#(words[$0 % 3])"}"# }
    let preview = try Self.preview(Samples.turning, events: events.joined(separator: "\n")) {
      $0.sensor()
    }
    #expect(preview.columns.count == ContactSheet.columns)
  }

  // MARK: - The drawing

  private static func plan(_ events: String, _ policy: String = "phone") throws -> OrientationPlan {
    try OrientationPlan(
      try #require(PolicyDocument.builtIn(policy)),
      events: RotationEvent.parse(jsonLines: Array(events.utf8)))
  }

  @Test("SVG: one document, one band per segment, one mark per event")
  func svg() throws {
    let plan = try Self.plan(
      """
      {"at": 0, "device": "portrait"}
      {"at": 2, "device": "landscapeLeft"}
      {"at": 4, "lock": true}
      {"at": 6, "device": "landscapeRight"}
      """)
    let svg = TimelineDrawing(plan, duration: 10).svg
    let parser = XMLParserCheck(svg)
    #expect(parser.isWellFormed)
    #expect(svg.contains(">landscapeLeft<") && svg.contains(">landscapeRight<"))
    // Marks of the events, and of the legend.
    let rotations = plan.entries.filter { $0.outcome == .rotate }.count
    let refusals = plan.entries.filter { $0.outcome == .refuse }.count
    #expect(rotations >= 1 && refusals >= 1)
    func count(_ text: String) -> Int { svg.components(separatedBy: text).count - 1 }
    #expect(count("l-6 -11h12z") == rotations + 1)
    #expect(count("l8 8m0 -8l-8 8") == refusals + 1)
    #expect(svg.contains(">10 s<") && svg.contains(">0 s<"))
    #expect(count("<title>") == plan.entries.count + 1 && svg.contains("<title>6 s: refuse"))
  }

  @Test("Events after the end are only counted, and close marks are placed in rows")
  func beyond() throws {
    let plan = try Self.plan(
      """
      {"at": 2, "device": "landscapeLeft"}
      {"at": 2.05, "device": "portrait"}
      {"at": 50, "device": "landscapeRight"}
      """)
    let drawing = TimelineDrawing(plan, duration: 10).drawing(width: 940)
    #expect(drawing.svg.contains(">1 event after the end<") && !drawing.svg.contains(">50 s<"))
    #expect(drawing.svg.contains("<title>the end, at 10 s</title>"))
    let tips: [Int] = drawing.shapes.compactMap {
      if case .arrow(_, let y, _) = $0 { y } else { nil }
    }
    // The two marks, and the legend's.
    #expect(Set(tips.prefix(2)).count == 2 && tips.count == 3, "\(tips)")
    // Without a duration, the axis extends to the last event.
    #expect(!TimelineDrawing(plan).svg.contains("after the end"))
  }

  @Test("Changes of size have a row, and refusals are listed as text")
  func rows() throws {
    let plan = try Self.plan(
      """
      {"at": 1, "device": "landscapeLeft"}
      {"at": 2, "device": "portraitUpsideDown"}
      """)
    let sizes = [
      TimelineDrawing.Size(at: 0, size: PixelSize(640, 360)),
      TimelineDrawing.Size(at: 3, size: PixelSize(1280, 720)),
    ]
    let drawing = TimelineDrawing(plan, duration: 10, input: sizes, output: [sizes[0]])
      .drawing(width: 940)
    #expect(drawing.svg.contains(">input<") && drawing.svg.contains(">1280x720<"))
    #expect(!drawing.svg.contains(">output<"))
    #expect(drawing.svg.contains(">2 s: refuse: "), "\(drawing.svg)")
    // Without frames, the stream's formats are drawn.
    #expect(TimelineDrawing(plan).svg.contains(">output<"))
  }

  /// Checks that every opened element is closed.
  private struct XMLParserCheck {
    let isWellFormed: Bool
    init(_ text: String) {
      isWellFormed =
        text.hasPrefix("<svg ") && text.hasSuffix("</svg>\n")
        && text.filter { $0 == "<" }.count == text.filter { $0 == ">" }.count
        && text.components(separatedBy: "<text ").count
          == text.components(separatedBy: "</text>").count
    }
  }

  @Test("Every duration has an axis", arguments: [0, 1e-9, 0.04, 1, 59, 86_400, 1e12])
  func axis(_ duration: Double) throws {
    let drawing = TimelineDrawing(try Self.plan(""), duration: duration).drawing(width: 940)
    let texts = drawing.shapes.filter { if case .text = $0 { true } else { false } }
    #expect((6...40).contains(texts.count), "\(texts.count)")
    let picture = try drawing.painted()
    #expect(picture.bytes.count == 940 * drawing.size.height * 3)
  }

  @Test("Shapes outside are clipped, and any text can be drawn")
  func outside() throws {
    var drawing = Drawing(size: PixelSize(20, 20))
    drawing.add(.rectangle(PixelRect(x: -50, y: -50, width: 55, height: 55), Palette.ink))
    drawing.add(.text("\u{1F600}\u{7}ü'a:b\\%{pts},;[x]", x: 15, y: 15, Palette.ink))
    drawing.add(.arrow(x: 0, y: 0, Palette.ink))
    drawing.add(.cross(x: 20, y: 20, Palette.ink))
    drawing.add(.dot(x: -3, y: 25, Palette.ink))
    drawing.add(.line(x: 3, y: 18, length: 500, isUpright: true, Palette.ink))
    let picture = try drawing.painted()
    #expect(picture.bytes[0] == Palette.ink.red)
    #expect(picture.bytes[(10 * 20 + 10) * 3] == 255)
    #expect(drawing.svg.contains("\u{1F600} ü"))
  }
}
