internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// What the defaults of an output are taken from: sizes, frame rate and depth of all frames of an input, found
/// from its packets. The first frame alone says little: a WebRTC sender begins small, and a camera in the dark
/// begins slowly.
struct SourceSurvey {
  /// The largest shape that lasts.
  let shape: FrameShape
  /// The frame rate, in frames per second: that of the median duration. `nil` if it is unknown.
  let frameRate: Rational?
  /// The deepest format of the frames. `nil` if it is unknown.
  let format: PixelFormat?

  /// A frame that is shown.
  struct Frame {
    let pts: Int64
    let shape: FrameShape
  }

  /// - Parameters:
  ///   - frames: The frames in the order of their packets, at least one.
  ///   - timeBase: Seconds per tick.
  ///   - declared: The container's frame rate.
  init(
    frames: [Frame], timeBase: Rational, declared: Rational?, format: PixelFormat?
  ) {
    let frames = frames.sorted { $0.pts < $1.pts }
    // Times are plausible ones, whose difference fits.
    let steps = zip(frames, frames.dropFirst()).map { $1.pts - $0.pts }
    shape = Self.largest(frames, steps, second: MediaTime(1, .one).rescaled(to: timeBase).ticks)
    frameRate = Self.rate(steps, timeBase, declared: declared)
    self.format = format
  }

  /// Returns the shape of the largest shown size that is shown for a second in all, or for a quarter of a short
  /// input. If there is none, it is the one that is shown longest.
  private static func largest(_ frames: [Frame], _ steps: [Int64], second: Int64) -> FrameShape {
    // For each shape, where it begins and how long it is shown.
    var times: [FrameShape: (first: Int, ticks: Int64)] = [:]
    var total: Int64 = 0
    // Not every container has the last frame's duration.
    let last = steps.sorted().dropFirst(steps.count / 2).first ?? 1
    for (index, step) in (steps + [last]).enumerated() {
      let found = times[frames[index].shape] ?? (index, 0)
      times[frames[index].shape] = (found.first, found.ticks.saturating(adding: step))
      total = total.saturating(adding: step)
    }
    func area(_ shape: FrameShape) -> Double {
      Double(shape.shown.width) * Double(shape.shown.height)
    }
    let lasting = times.filter { $0.value.ticks >= min(second, total / 4) }
    // Of equal sizes, the first one.
    let largest = lasting.max {
      (area($0.key), -$0.value.first) < (area($1.key), -$1.value.first)
    }
    let longest = times.max {
      ($0.value.ticks, -$0.value.first) < ($1.value.ticks, -$1.value.first)
    }
    return (largest ?? longest)?.key ?? frames[0].shape
  }

  /// Returns the rate of the median step. The container's is exact where it is the same.
  static func rate(
    _ steps: [Int64], _ timeBase: Rational, declared: Rational?
  ) -> Rational? {
    let steps = steps.filter { $0 > 0 }.sorted()
    guard !steps.isEmpty else { return declared }
    let median = steps[steps.count / 2]
    // A step is rounded to a tick: the mean of those beside the median is nearer to it.
    let near = steps.filter { abs($0 - median) <= 1 }
    let sum = near.reduce(0) { (sum: Int64, step) in sum.saturating(adding: step) }
    let mean = Double(sum) / Double(near.count)
    let rate = 1 / (mean * timeBase.doubleValue)
    let usual = [declared].compactMap(\.self) + standardRates
    // Half a tick of a step, or what the mean of few steps leaves.
    let tolerance = max(0.0005, 0.5 / (mean * Double(near.count).squareRoot()))
    return usual.first { abs($0.doubleValue / rate - 1) <= tolerance } ?? Rational(nearest: rate)
  }

  /// Rates whose ticks containers with milliseconds round.
  static let standardRates =
    [24, 25, 30, 48, 50, 60, 100, 120, 240].flatMap {
      [Rational($0, 1), Rational($0 * 1000, 1001)]
    }
}

extension SourceSurvey {
  /// Reads the packets of the input of `plan`, as far as its frames are shown.
  ///
  /// - Returns: `nil` if the input can't be read twice, or no frame has a timestamp.
  /// - Throws: `cancelled` if it is interrupted.
  init?(_ plan: SessionPlan) throws(UprightError) {
    let (request, video) = (plan.request, plan.video)
    guard let first = plan.demuxer as? Demuxer, first.container.isSeekable,
      first.container.format != "hls", ByteSource(regularFile: request.input) != nil
    else { return nil }
    let demuxer: Demuxer
    do throws(UprightError) {
      demuxer = try Demuxer(again: first, format: request.inputFormat)
    } catch {
      // What is wrong with the input is found when it is read for the output.
      if error.code == .cancelled { throw error }
      return nil
    }
    demuxer.select([video.index])
    let reader = CodedSizeReader(video)
    var (frames, shape, format) = ([Frame](), video.frameShape, video.parameters.pixelFormat)
    var firstPTS: Int64?
    let range = (plan.start ?? .zero, plan.end)
    while let packet = try Self.next(demuxer) {
      guard packet.streamIndex == video.index else { continue }
      if let size = reader?.size(of: packet) {
        shape = video.shape(of: size, own: reader?.changedRatio)
      }
      if let found = reader?.format, found.bitDepth > format?.bitDepth ?? 0 { format = found }
      guard !packet.isDiscarded, let pts = packet.pts else { continue }
      firstPTS = firstPTS ?? pts
      let time = MediaTime(pts, video.timeBase) - MediaTime(firstPTS ?? pts, video.timeBase)
      // Frames are reordered by less than five seconds.
      if let end = range.1, time > end + MediaTime(5, .one) { break }
      guard time >= range.0, range.1.map({ time < $0 }) ?? true else { continue }
      frames.append(Frame(pts: pts, shape: shape))
    }
    guard !frames.isEmpty else { return nil }
    self.init(
      frames: frames, timeBase: video.timeBase, declared: video.frameRate, format: format)
  }

  /// Returns `nil` at the end and where the input is damaged.
  private static func next(_ demuxer: Demuxer) throws(UprightError) -> Packet? {
    do throws(UprightError) {
      return try demuxer.read()
    } catch {
      if error.code == .cancelled { throw error }
      return nil
    }
  }
}

extension Int64 {
  fileprivate func saturating(adding other: Int64) -> Int64 {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? .max : sum
  }
}
