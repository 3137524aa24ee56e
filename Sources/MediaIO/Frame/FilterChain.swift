internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import UprightOrientation

/// A chain of libavfilter filters for frames of one size and format. Used by one thread.
final class FilterChain {
  private let library: FilterLibrary
  private var graph: FilterLibrary.Graph?
  private let source: FilterLibrary.Context
  private let sink: FilterLibrary.Context
  private let size: PixelSize
  private let format: CInt
  private let subject: String

  /// - Parameters:
  ///   - filters: The filters with their options.
  ///   - subject: The name of the frames in messages.
  ///   - remedy: The remedy in the errors.
  /// - Throws: `unavailable` if libavfilter isn't installed, has no such filter or can't process the format.
  init(
    _ filters: [(name: String, options: String)], like frame: borrowing VideoFrame,
    subject: String, remedy: String
  ) throws(UprightError) {
    guard let library = FilterLibrary.opened else {
      throw UprightError(
        .unavailable, "libavfilter is not installed", at: subject, remedy: remedy)
    }
    self.library = library
    self.subject = subject
    size = frame.size
    format = frame.raw.pointee.format
    var made = library.allocateGraph()
    guard let graph = made else { throw outOfMemory(subject) }
    // Frames are numbered instead of timed, because filters change the time base. The timestamps are restored
    // on output.
    let buffer =
      "video_size=\(size.width)x\(size.height):pix_fmt=\(format):time_base=1/1000:pixel_aspect=1/1"
    do throws(UprightError) {
      let row = [("buffer", buffer)] + filters + [("buffersink", "")]
      let contexts = try Self.build(
        row, graph, library, missing: UprightError(.unavailable, "", at: subject, remedy: remedy))
      (source, sink) = (contexts[0], contexts[contexts.count - 1])
    } catch {
      library.freeGraph(&made)
      throw error
    }
    self.graph = graph
  }

  deinit { library.freeGraph(&graph) }

  private static func build(
    _ row: [(name: String, options: String)], _ graph: FilterLibrary.Graph,
    _ library: FilterLibrary, missing: UprightError
  ) throws(UprightError) -> [FilterLibrary.Context] {
    func refusal(_ why: String) -> UprightError {
      UprightError(.unavailable, why, at: missing.location, remedy: missing.remedy)
    }
    _ = upright_log_take_error()
    var contexts: [FilterLibrary.Context] = []
    for (name, options) in row {
      guard let filter = library.filter(name) else {
        throw refusal("the linked FFmpeg has no \(name) filter")
      }
      var made: FilterLibrary.Context?
      let code = library.add(&made, filter, name, options.isEmpty ? nil : options, nil, graph)
      guard code >= 0, let context = made else {
        throw refusal("the \(name) filter cannot be used: \(explain(code))").reporting(code)
      }
      if let last = contexts.last {
        try check(library.link(last, 0, context, 0)) { refusal(explain($0)) }
      }
      contexts.append(context)
    }
    try check(library.configure(graph, nil)) { refusal("cannot be filtered: \(explain($0))") }
    return contexts
  }

  /// Returns whether `frame` has the size and format that this chain was created for.
  func accepts(_ frame: borrowing VideoFrame) -> Bool {
    frame.size == size && frame.raw.pointee.format == format
  }

  /// Sends the next frame. The chain then owns its data.
  func send(_ frame: consuming VideoFrame) throws(UprightError) { try send(frame.raw) }

  /// Marks the end of the input. The remaining frames can then be received.
  func finish() throws(UprightError) { try send(nil) }

  private func send(_ frame: UnsafeMutablePointer<AVFrame>?) throws(UprightError) {
    try check(library.send(source, frame, 0)) {
      UprightError(.fault, "filtering failed: \(explain($0))", at: subject)
    }
  }

  /// Returns the next frame. Returns `nil` if more frames are needed, or at the end.
  func receive() throws(UprightError) -> VideoFrame? {
    let frame = try VideoFrame()
    let code = library.receive(sink, frame.raw)
    if code == upright_averror_eagain() || code == upright_averror_eof() { return nil }
    try check(code) { UprightError(.fault, "filtering failed: \(explain($0))", at: subject) }
    return frame
  }
}

/// The frame properties to keep across filters, which change the time base and, from FFmpeg 7 on, the sample
/// aspect ratio.
struct FrameProperties {
  private let pts: Int64?
  private let duration: Int64
  private let timeBase: Rational
  private let sampleAspectRatio: AVRational

  init(_ frame: borrowing VideoFrame) {
    (pts, duration, timeBase) = (frame.pts, frame.duration, frame.timeBase)
    sampleAspectRatio = frame.raw.pointee.sample_aspect_ratio
  }

  func restore(to frame: inout VideoFrame) {
    (frame.pts, frame.duration, frame.timeBase) = (pts, duration, timeBase)
    frame.raw.pointee.sample_aspect_ratio = sampleAspectRatio
  }
}
