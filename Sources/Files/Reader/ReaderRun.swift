internal import Synchronization
internal import UprightOrientation
internal import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// One pass of a reader through its input, on a thread of its own.
final class ReaderRun: Sendable {
  private struct Outcome {
    var failure: UprightError?
    var warnings: [String] = []
  }

  /// The frames in order. Few, because each is large and the decoder is some frames ahead already.
  let frames = TaskQueue<UprightFrame>(capacity: 2)
  private let request: TranscodeRequest
  private let pixels: FramePixels
  private let outcome = Mutex(Outcome())
  private let thread = Mutex<WorkThread<Void>?>(nil)

  init(_ request: TranscodeRequest, _ pixels: FramePixels) {
    self.request = request
    self.pixels = pixels
  }

  /// The error that ended the run.
  var failure: UprightError? { outcome.withLock { $0.failure } }
  var warnings: [String] { outcome.withLock { $0.warnings } }

  func start() {
    thread.withLock { $0 = WorkThread(name: "upright-reader", log: request.log) { self.run() } }
  }

  /// Ends the run within one frame. Frames that wait are discarded.
  func cancel() {
    request.cancellation.raise()
    request.interrupt.raise()
    frames.close(discarding: true)
  }

  /// Waits until the threads have ended.
  func join() { _ = thread.withLock { $0 }?.join() }

  private func run() {
    do throws(UprightError) {
      let plan = try SessionPlan(request, isDryRun: true)
      let collector = FrameCollector(frames, timeBase: plan.video.timeBase, pixels)
      let report = try EncodeRun(plan, tap: collector) { _ in }.run()
      outcome.withLock { $0.warnings = report.warnings }
    } catch {
      outcome.withLock { $0.failure = request.cancelled ?? error }
    }
    frames.close()
  }
}

/// Passes turned frames on in the requested pixel format. Used by one thread.
private final class FrameCollector: FrameTap {
  private let frames: TaskQueue<UprightFrame>
  /// Seconds per tick of the input.
  private let timeBase: Rational
  private let pixels: FramePixels
  /// Libswscale's fast conversion: without it, a conversion to RGB costs more than decoding. Arrays of other
  /// libraries have no padding.
  private let converter = FrameConverter(isAccurate: false, packsRGB: true)
  /// What the last frame was like.
  private var last: UprightFrame.Kind?

  init(_ frames: TaskQueue<UprightFrame>, timeBase: Rational, _ pixels: FramePixels) {
    self.frames = frames
    self.timeBase = timeBase
    self.pixels = pixels
  }

  func process(
    stored: consuming VideoFrame, upright: consuming VideoFrame, direction: FrameDirection,
    time: MediaTime
  ) throws(UprightError) {
    // A deinterlaced frame has ticks of the filter's.
    var stored = stored
    stored.rescale(to: timeBase)
    guard let pts = stored.pts else { throw UprightError(.fault, "a frame without a timestamp") }
    let picture: VideoFrame
    if let format = pixels.format, format != upright.format {
      picture = try converter.converted(upright, to: format)
    } else {
      picture = upright
    }
    let kind = UprightFrame.Kind(picture)
    let times = UprightFrame.Times(
      pts: pts, duration: stored.duration, timeBase: timeBase, time: time)
    let frame = try UprightFrame(
      picture, kind, times, direction, changed: kind != last)
    last = kind
    guard frames.put(frame) else { throw UprightError(.cancelled, "cancelled") }
  }
}
