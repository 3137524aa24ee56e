import Foundation
import UprightOrientation
import UprightPolicy
import Testing
import UprightFiles
import UprightMedia
import UprightTestSupport
import UprightFrames

/// Upright frames out of files, compared with those of a transcode to YUV4MPEG2 and with ffprobe's times.
@Suite("The reader", .enabled(if: Needs.ffmpeg, "needs ffmpeg"), .serialized)
struct ReaderTests {
  /// A frame that was read, without its memory.
  private struct Read {
    let frame: UprightFrame
    let planes: [[UInt8]]

    init(_ frame: UprightFrame) {
      self.frame = frame
      planes = frame.format.layout.planes.indices.map { frame.bytes(ofPlane: $0) }
    }
  }

  private static func all(_ reader: UprightReader) throws -> [Read] {
    var frames: [Read] = []
    while let frame = try reader.next() { frames.append(Read(frame)) }
    return frames
  }

  private static func options(
    _ configure: (inout TranscodeOptions) -> Void
  ) -> TranscodeOptions {
    QuietLibraries.install()
    var options = TranscodeOptions()
    configure(&options)
    return options
  }

  /// Compares frames with a transcode on the canvas of each shape, where that has their size.
  ///
  /// - Returns: The number of frames that were compared.
  @discardableResult
  private static func compare(
    _ frames: [Read], _ input: String, events: String? = nil,
    _ configure: (inout TranscodeOptions) -> Void = { _ in }
  ) throws -> Int {
    let scratch = try Scratch()
    var compared = Set<Int>()
    for canvas in [CanvasRule.landscape, .portrait] {
      let output = scratch.path("\(canvas).y4m")
      _ = try Transcoded(input, to: output, events: events) {
        $0.size = .source
        $0.canvas = canvas
        configure(&$0)
      }
      let file = try Y4M(path: output)
      #expect(file.count == frames.count, "\(input), \(canvas)")
      for (index, read) in frames.enumerated().prefix(file.count)
      where read.frame.size == PixelSize(file.width, file.height) {
        compared.insert(index)
        let isEqual = read.planes.indices.allSatisfy {
          Data(read.planes[$0]) == file.plane($0, frame: index)
        }
        #expect(isEqual, "\(input), frame \(index)")
      }
    }
    return compared.count
  }

  /// Compares the presentation times with ffprobe's.
  private static func compareTimes(_ frames: [Read], _ input: String) throws {
    var theirs = try FFmpegTool.frames(input).prefix(frames.count).map { $0.pts.map(Int64.init) }
    // The clocks of a broadcast are joined, and begin at zero.
    if input.hasSuffix(".ts"), let first = theirs.first ?? nil {
      theirs = theirs.map { $0.map { $0 - first } }
    }
    // Libavformat hides a last frame without a duration, which FFmpeg 6 and later write.
    #expect(theirs.count >= frames.count - (FFmpegTool.isAtLeast(6, 0) ? 1 : 0))
    let ours = frames.prefix(theirs.count).map { Optional($0.frame.pts) }
    #expect(ours == Array(theirs), "\(input)")
    let base = try FFmpegTool.streams(input, "video")[0]["time_base"].string
    let own = frames[0].frame.timeBase
    #expect(base == "\(own.numerator)/\(own.denominator)")
  }

  private static func clip(_ scratch: Scratch, _ arguments: String, name: String = "clip.mp4")
    throws -> String
  {
    let path = scratch.path(name)
    try FFmpegTool.run(arguments.words + [path])
    return path
  }

  // MARK: - Frames

  @Test("Each orientation of a track's matrix: the frames of a transcode, the input's times")
  func matrices() throws {
    let scratch = try Scratch()
    let path = try Self.clip(
      scratch, "-f lavfi -i testsrc2=s=64x48:r=30 -frames:v 12 -c:v libx264 -bf 3 -pix_fmt yuv420p")
    for orientation in ImageOrientation.allCases {
      try DisplayMatrixPatch.apply(orientation, to: path)
      let frames = try Self.all(UprightReader(path))
      #expect(frames.count == 12)
      #expect(frames.allSatisfy { $0.frame.turn == orientation })
      let size = orientation.applied(to: PixelSize(64, 48))
      #expect(frames.allSatisfy { $0.frame.size == size && $0.frame.pixels == "yuv420p" })
      #expect(frames.map(\.frame.changed) == [true] + Array(repeating: false, count: 11))
      #expect(try Self.compare(frames, path) == 12)
      try Self.compareTimes(frames, path)
    }
  }

  @Test("A turn in mid-stream is announced at its frame", arguments: [0, 2])
  func turnInBand(bFrames: Int) throws {
    var clip = try EncodedClip(
      .h264, frames: 24, gop: 24, bFrames: bFrames, size: PixelSize(64, 48))
    clip.insert(nal: EncodedClip.displayOrientation(16384), atShown: 9)
    let scratch = try Scratch()
    let path = scratch.path("clip.mp4")
    try clip.movie.write(to: path)
    let frames = try Self.all(UprightReader(path))
    #expect(frames.indices.filter { frames[$0].frame.changed } == [0, 9])
    #expect(
      frames.map(\.frame.size)
        == Array(repeating: PixelSize(64, 48), count: 9)
        + Array(repeating: PixelSize(48, 64), count: 15))
    #expect(try Self.compare(frames, path) == 24)
    try Self.compareTimes(frames, path)
  }

  // 3 s: two transcodes of 300 frames.
  @Test("Frames of a sensor are turned by events", .long)
  func events() throws {
    let text = try Samples.turningEvents()
    let reader = try UprightReader(
      Samples.turning, options: Self.options { $0.sensor() },
      events: .list(RotationEvent.parse(jsonLines: Array(text.utf8))))
    var frames: [Read] = []
    while let frame = try reader.next() {
      // Frames are large: those about the turns are kept.
      #expect(frame.changed == [0, 100, 200].contains(Int(frame.pts / 1000)))
      #expect(frame.size.isLandscape == (100_000..<200_000).contains(frame.pts))
      if frame.time.seconds < 0.1 { frames.append(Read(frame)) }
    }
    #expect(frames.count == 3)
    try Self.compare(frames, Samples.turning, events: text) {
      $0.sensor()
      $0.end = 0.1
    }
  }

  @Test(
    "Deep, subsampled, oblong and late frames are those of a transcode",
    arguments: [
      "-c:v libx264 -pix_fmt yuv420p10le", "-c:v libx264 -pix_fmt yuv422p",
      "-c:v libx264 -pix_fmt yuv444p", "-vf setsar=64/45 -c:v libx264 -pix_fmt yuv420p",
      "-vf setpts=PTS+mod(N*373\\,700)/TB/20000 -fps_mode passthrough -c:v libx264 -pix_fmt yuv420p",
      "-c:v mjpeg -pix_fmt yuvj420p", "-c:v libx264 -bf 3 -output_ts_offset 1.4",
    ])
  func kinds(_ arguments: String) throws {
    let scratch = try Scratch()
    let name = arguments.contains("offset") ? "clip.ts" : "clip.mov"
    let path = try Self.clip(
      scratch, "-f lavfi -i testsrc2=s=80x48:r=25 -frames:v 10 \(arguments)", name: name)
    for orientation in [ImageOrientation.up, .right] where name == "clip.mov" || orientation == .up
    {
      if name == "clip.mov" { try DisplayMatrixPatch.apply(orientation, to: path) }
      let frames = try Self.all(UprightReader(path))
      #expect(frames.count == 10)
      #expect(try Self.compare(frames, path) == 10)
      try Self.compareTimes(frames, path)
    }
  }

  @Test("Odd sizes are kept, and turned as FFmpeg turns them")
  func oddSize() throws {
    let scratch = try Scratch()
    let path = try Self.clip(
      scratch, "-f lavfi -i testsrc=s=65x49:r=25 -frames:v 4 -c:v ffv1 -pix_fmt yuv420p",
      name: "clip.mkv")
    let frames = try Self.all(UprightReader(path, options: Self.options { $0.sensor() }))
    try FFmpegTool.run([
      "-i", path, "-vf", "transpose=clock", "-f", "yuv4mpegpipe", scratch.path("a.y4m"),
    ])
    let theirs = try Y4M(path: scratch.path("a.y4m"))
    #expect(frames.count == 4 && theirs.count == 4)
    for (index, read) in frames.enumerated() {
      #expect(read.frame.size == PixelSize(49, 65))
      for plane in 0..<3 { #expect(Data(read.planes[plane]) == theirs.plane(plane, frame: index)) }
    }
  }

  @Test("An edit list is followed: what it shows, when it shows it")
  func editList() throws {
    let scratch = try Scratch()
    let path = try Self.clip(
      scratch,
      "-f lavfi -i testsrc2=s=64x48:r=25 -frames:v 20 -c:v libx264 -bf 2 -video_track_timescale 12800"
        + " -pix_fmt yuv420p")
    let start = try #require(EditListPatch.mediaTimes(of: path).first)
    try EditListPatch.write([[.init(400, at: start + 4 * 512)]], to: path)
    let frames = try Self.all(UprightReader(path))
    #expect(frames.map(\.frame.pts) == (0..<10).map { $0 * 512 })
    #expect(try Self.compare(frames, path) == 10)
  }

  @Test("A canvas and a size are those of a transcode", arguments: [Fit.fit, .fill])
  func canvas(_ fit: Fit) throws {
    let frames = try Self.all(
      UprightReader(
        Samples.displayMatrix,
        options: Self.options {
          ($0.canvas, $0.size, $0.fit) = (.landscape, .pair(PixelSize(90, 160)), fit)
        }))
    let scratch = try Scratch()
    _ = try Transcoded(Samples.displayMatrix, to: scratch.path("a.y4m")) {
      ($0.canvas, $0.size, $0.fit) = (.landscape, .pair(PixelSize(90, 160)), fit)
    }
    let file = try Y4M(path: scratch.path("a.y4m"))
    #expect(frames.count == 60 && file.count == 60)
    for (index, read) in frames.enumerated() {
      #expect(read.frame.size == PixelSize(160, 90))
      #expect(Data(read.planes[0]) == file.plane(0, frame: index))
    }
  }

  @Test(
    "RGB, NV12 and I420 are libswscale's", arguments: [("rgb24", 3), ("nv12", 0), ("yuv420p", 0)])
  func pixels(_ name: String, _ bytes: Int) throws {
    let pixels = ["rgb24": FramePixels.rgb24, "nv12": .nv12, "yuv420p": .yuv420p]
    let reader = try UprightReader(Samples.displayMatrix, pixels: #require(pixels[name]))
    let frame = try #require(try reader.next())
    #expect(frame.pixels == name && frame.size == PixelSize(360, 640))
    let theirs = [UInt8](
      try FFmpegTool.run([
        "-i", Samples.displayMatrix, "-frames:v", "1", "-sws_flags", "bilinear", "-pix_fmt", name,
        "-f", "rawvideo", "-",
      ]))
    let ours = frame.format.layout.planes.indices.flatMap { frame.bytes(ofPlane: $0) }
    try #require(ours.count == theirs.count)
    #expect(zip(ours, theirs).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    #expect(frame.colour.matrix == (bytes == 3 ? 0 : 1) && frame.colour.isFullRange == (bytes == 3))
  }

  // 20 s: every clip is decoded three times.
  @Test(
    "Every clip of the collection", .long, .clips("rotation-real"),
    arguments: ClipCollectionTests.clips)
  func collection(_ name: String) throws {
    // Damage costs other frames where decoding begins elsewhere; 0-timescale.mp4 has no times.
    guard !name.hasPrefix("broken/") else { return }
    let input = SharedFiles.url("clips/\(name)").path
    let frames = try Self.all(UprightReader(input, options: Self.options { $0.end = 0.3 }))
    #expect(!frames.isEmpty)
    let compared = try Self.compare(frames, input) { $0.end = 0.3 }
    // Frames of other sizes than the stream's are scaled in a transcode.
    let isWhole = Set(frames.map { $0.frame.turn.inverse.applied(to: $0.frame.size) }).count == 1
    let isEven = frames.allSatisfy { $0.frame.size.width % 2 == 0 && $0.frame.size.height % 2 == 0 }
    if isWhole, isEven { #expect(compared == frames.count, "\(name)") }
  }

  // MARK: - Times and ends

  @Test("A reader begins at a time, ends at one, and goes to others")
  func seeks() throws {
    let reader = try UprightReader(
      Samples.withAudio, options: Self.options { ($0.start, $0.end) = (2, 4) })
    let first = try #require(try reader.next())
    #expect(first.time.seconds == 2 && first.changed)
    // Between two frames, the one before is shown.
    for (seconds, shown) in [(3.0, 3.0), (0.52, 0.5), (0.5, 0.5), (2.999, 2.9666), (3.53, 3.5)] {
      try reader.seek(to: seconds)
      let frame = try #require(try reader.next())
      #expect(abs(frame.time.seconds - shown) < 0.001 && frame.changed)
    }
    #expect(try Self.all(reader).count == 14)
    #expect(try reader.next() == nil)
    #expect(throws: UprightError.self) { try reader.seek(to: -1) }
    #expect(throws: UprightError.self) { try reader.seek(to: .nan) }
    #expect(throws: UprightError.self) { try reader.seek(to: 4) }
  }

  @Test("The last frame is shown until its end, and none after it")
  func last() throws {
    let reader = try UprightReader(Samples.withAudio, options: Self.options { _ in })
    let frames = try Self.all(reader)
    let last = try #require(frames.last)
    let end = last.frame.time.seconds
    for seconds in [end, end + 0.02] {
      try reader.seek(to: seconds)
      #expect(try reader.next()?.time == last.frame.time)
      #expect(try reader.next() == nil)
    }
    try reader.seek(to: end + 0.1)
    let error = #expect(throws: UprightError.self) { try reader.next() }
    #expect(error?.remedy == "the video ends before it")
  }

  @Test("A missing file, one that is no video, one without an index: errors of the first frame")
  func errors() throws {
    let scratch = try Scratch()
    func error(_ path: String) throws -> UprightError {
      let reader = try UprightReader(path)
      let error = try #require(throws: UprightError.self) { try reader.next() }
      // The same again, and no frame.
      #expect(throws: UprightError.self) { try reader.next() }
      return error
    }
    #expect(try error(scratch.path("none.mp4")).code == .noInput)
    try Data("not a video".utf8).write(to: URL(fileURLWithPath: scratch.path("text.mp4")))
    #expect(try error(scratch.path("text.mp4")).code == .badData)
    let audio = try Self.clip(scratch, "-f lavfi -i sine=d=1", name: "a.wav")
    #expect(try error(audio).message == "there is no video stream")
    let whole = try Data(contentsOf: URL(fileURLWithPath: Samples.withAudio))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: scratch.path("cut.mp4")))
    // Its index comes first.
    let cut = try UprightReader(scratch.path("cut.mp4"))
    let count = try? Self.all(cut).count
    #expect(count.map { $0 < 150 && !cut.warnings.isEmpty } ?? true)
    #expect(throws: UprightError.self) {
      _ = try UprightReader("a.mp4", options: Self.options { $0.canvas = .dual })
    }
    #expect(throws: UprightError.self) {
      _ = try UprightReader("a.mp4", options: Self.options { ($0.start, $0.end) = (2, 1) })
    }
  }

  @Test("A truncated stream gives its frames and a warning; strictly, an error after them")
  func truncated() throws {
    let scratch = try Scratch()
    let path = try Self.clip(
      scratch, "-f lavfi -i testsrc2=s=320x240:r=25 -frames:v 50 -movflags +faststart -c:v libx264")
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    try whole.prefix(whole.count * 2 / 3).write(to: URL(fileURLWithPath: path))
    let reader = try UprightReader(path)
    let count = try Self.all(reader).count
    #expect((10..<50).contains(count) && reader.warnings.contains { $0.contains("damaged") })
    let strict = try UprightReader(path, options: Self.options { $0.isStrict = true })
    var read = 0
    let error = #expect(throws: UprightError.self) {
      while try strict.next() != nil { read += 1 }
    }
    #expect(error?.code == .badData && read == count)
  }

  // MARK: - Threads and memory

  /// The number of threads of readers.
  private static func threads() -> Int {
    let folder = "/proc/self/task"
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return tasks.count {
      let name = try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8)
      return name?.hasPrefix("upright-read") == true
    }
  }

  /// Whether there are none soon: a thread that has ended stays in the list for a moment.
  private static func noThreads() async throws -> Bool {
    for _ in 0..<500 where threads() > 0 { try await Task.sleep(for: .milliseconds(10)) }
    return threads() == 0
  }

  @Test("Closing, releasing and cancelling end the threads", .timeLimit(.minutes(1)))
  func ends() async throws {
    let closed = try UprightReader(Samples.turning)
    _ = try closed.next()
    #expect(Self.threads() >= 2)
    closed.close()
    #expect(try await Self.noThreads())
    let error = #expect(throws: UprightError.self) { try closed.next() }
    #expect(error?.code == .cancelled)
    closed.close()
    for try await frame in try UprightReader(Samples.turning) where frame.pts > 5000 { break }
    #expect(try await Self.noThreads())
    let task = Task {
      var count = 0
      for try await _ in try UprightReader(Samples.turning) {
        count += 1
        try await Task.sleep(for: .milliseconds(5))
      }
      return count
    }
    try await Task.sleep(for: .milliseconds(100))
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(try await Self.noThreads())
  }

  @Test("A loop throws errors of one type: their code is seen without a cast")
  func typedErrors() async throws {
    func code(_ path: String) async -> UprightError.Code? {
      do {
        for try await _ in try UprightReader(path) {}
        return nil
      } catch { return error.code }
    }
    #expect(await code("/nonexistent.mp4") == .noInput)
    #expect(await code(Samples.displayMatrix) == nil)
  }

  @Test("Two readers at once have the frames of one", .timeLimit(.minutes(1)))
  func two() async throws {
    async let one = Self.times(Samples.withAudio)
    async let other = Self.times(Samples.withAudio)
    let times = try await [one, other]
    #expect(times[0] == times[1] && times[0].count == 150)
  }

  private static func times(_ path: String) async throws -> [Int64] {
    var times: [Int64] = []
    for try await frame in try UprightReader(path) { times.append(frame.pts) }
    return times
  }

  // 2 s: 3000 small frames.
  @Test("Memory doesn't grow with the input", .long, .ownMemory)
  func memory() throws {
    let scratch = try Scratch()
    let path = try Self.clip(
      scratch,
      "-f lavfi -i testsrc2=s=320x240:r=30 -frames:v 3000 -c:v libx264 -preset ultrafast"
        + " -pix_fmt yuv420p")
    func resident() throws -> Int {
      let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        .split(separator: " ")
      return try #require(Int(fields[1])) * 4096
    }
    let reader = try UprightReader(path, pixels: .rgb24)
    var (count, before) = (0, 0)
    while try reader.next() != nil {
      count += 1
      if count == 300 { before = try resident() }
    }
    let after = try resident()
    #expect(count == 3000)
    figure("\((after - before) / 1024) KiB more after 2700 frames")
    // Ten frames of the 2700.
    #expect(after - before < 10 * 320 * 240 * 3)
  }
}
