internal import CFFmpeg
internal import CFFmpegShims
internal import Orientation

/// Makes one progressive picture of every interlaced one, with libavfilter's bwdif; progressive
/// pictures come through untouched. Pictures in = pictures out, times, colour and siting kept.
///
/// It looks one picture ahead, so each comes out when the next has gone in. Used by one thread.
package final class Deinterlacer {
  /// Everything of a picture that is not pixels, in the order of the pictures inside.
  private struct Times {
    let pts: Int64?
    let duration: Int64
    let timeBase: Rational
  }

  private let library: FilterLibrary
  private let size: PixelSize
  private let format: CInt
  private var graph: FilterLibrary.Graph?
  private let source: FilterLibrary.Context
  private let sink: FilterLibrary.Context
  private var inside: [Times] = []
  private var count: Int64 = 0

  /// Whether bwdif takes a picture this small; its window is some lines high.
  package static func suits(_ frame: borrowing VideoFrame) -> Bool {
    frame.size.width >= 16 && frame.size.height >= 16
  }

  /// - Throws: `unavailable` where libavfilter is not installed, has no bwdif or cannot take the format.
  package init(like frame: borrowing VideoFrame) throws(MediaError) {
    guard let library = FilterLibrary.opened else {
      throw MediaError(
        .unavailable, "libavfilter is not installed", at: "interlaced pictures",
        remedy: "install FFmpeg's libavfilter")
    }
    self.library = library
    size = frame.size
    format = frame.raw.pointee.format
    var made = library.allocateGraph()
    guard let graph = made else { throw outOfMemory("deinterlacer") }
    do throws(MediaError) {
      (source, sink) = try Self.build(graph, library, size: size, format: format)
    } catch {
      library.freeGraph(&made)
      throw error
    }
    self.graph = graph
  }

  deinit { library.freeGraph(&graph) }

  private static func build(
    _ graph: FilterLibrary.Graph, _ library: FilterLibrary, size: PixelSize, format: CInt
  ) throws(MediaError) -> (FilterLibrary.Context, FilterLibrary.Context) {
    _ = upright_log_take_error()
    func add(_ name: String, _ options: String?) throws(MediaError) -> FilterLibrary.Context {
      guard let filter = library.filter(name) else {
        throw MediaError(
          .unavailable, "the linked FFmpeg has no \(name) filter", at: "interlaced pictures",
          remedy: "link an FFmpeg whose libavfilter has it")
      }
      var made: FilterLibrary.Context?
      let code = library.add(&made, filter, name, options, nil, graph)
      guard code >= 0, let context = made else { throw refusal(code, size) }
      return context
    }
    // Pictures are counted, not timed: bwdif halves the tick, and what comes out gets its own time back.
    let source = try add(
      "buffer",
      "video_size=\(size.width)x\(size.height):pix_fmt=\(format):time_base=1/1000:pixel_aspect=1/1")
    let filter = try add("bwdif", "mode=send_frame:parity=auto:deint=interlaced")
    let sink = try add("buffersink", nil)
    for (from, to) in [(source, filter), (filter, sink)] {
      try check(library.link(from, 0, to, 0)) { refusal($0, size) }
    }
    try check(library.configure(graph, nil)) { refusal($0, size) }
    return (source, sink)
  }

  private static func refusal(_ code: CInt, _ size: PixelSize) -> MediaError {
    MediaError(
      .unavailable, "interlaced pictures cannot be deinterlaced: \(explain(code))", at: "\(size)")
  }

  /// Whether `frame` is of the size and format that this one was made for.
  package func takes(_ frame: borrowing VideoFrame) -> Bool {
    frame.size == size && frame.raw.pointee.format == format
  }

  /// Takes the next picture in presentation order.
  package func send(_ frame: consuming VideoFrame) throws(MediaError) {
    inside.append(Times(pts: frame.pts, duration: frame.duration, timeBase: frame.timeBase))
    frame.pts = count
    count += 1
    // The reference is the graph's from here; the shell is freed with `frame`.
    try check(library.send(source, frame.raw, 0)) {
      MediaError(.fault, "deinterlacing failed: \(explain($0))")
    }
  }

  /// Says that no picture follows: the one inside comes out.
  package func finish() throws(MediaError) {
    try check(library.send(source, nil, 0)) {
      MediaError(.fault, "deinterlacing failed: \(explain($0))")
    }
  }

  /// The next picture; nil where more are wanted, or at the end.
  package func receive() throws(MediaError) -> VideoFrame? {
    var frame = try VideoFrame()
    let code = library.receive(sink, frame.raw)
    if code == upright_averror_eagain() || code == upright_averror_eof() { return nil }
    try check(code) { MediaError(.fault, "deinterlacing failed: \(explain($0))") }
    guard !inside.isEmpty else { throw MediaError(.fault, "a deinterlaced picture of none") }
    let times = inside.removeFirst()
    frame.pts = times.pts
    frame.duration = times.duration
    frame.timeBase = times.timeBase
    frame.fields = nil
    return frame
  }
}
