internal import Foundation
internal import Orientation
internal import UprightContainers
internal import UprightMediaIO
internal import UprightOrienting
internal import UprightPipeline

/// Long encoded runs cut into chunks that are worked on beside one another: `--chunks`.
extension ClipParts {
  /// Seconds of a chunk at least: about as long as an encoder goes without a keyframe anyway.
  private static let length = 8.0
  /// Seconds of a chunk where the clip is too short for so long ones.
  private static let shortest = 2.0

  /// How many chunks at a time are worth it on this machine: encoders of one thread each do less in all
  /// than one of many threads, and leave no core waiting. Each has its memory.
  static var usualChunks: Int { min(ProcessInfo.processInfo.activeProcessorCount, 8) }

  /// What asks to be encoded in one piece, for a person; nil where nothing does.
  static func reasonAgainstChunks(_ plan: SessionPlan) -> String? {
    let options = plan.options
    if options.isLive { return "--latency live looks at nothing ahead" }
    if options.splits { return "--split begins each file with an encoder of its own" }
    if options.start != nil || options.end != nil {
      return "--start and --to cut between entry points"
    }
    if plan.container == .y4m { return "y4m holds pictures that are not encoded" }
    if case .bitrate = options.rate { return "a bitrate is spread over the whole clip" }
    return CopyFinder.reasonAgainstLookingAhead(plan)
  }

  /// The same clip with its encoded parts cut, `count` to be worked on at a time; nil where there is no
  /// place to cut.
  ///
  /// - Parameters:
  ///   - count: 2 or more.
  ///   - isAsked: whether the number was asked for; else no chunk is shorter than an encoder's own GOP,
  ///     and so none costs bits.
  func chunked(_ count: Int, isAsked: Bool) -> ClipParts? {
    let cuts = outlook.survey.cuts().filter {
      !outlook.stretch(of: $0).direction.showsEarlierPicture
    }
    let encoded = parts.filter { !$0.isCopied }.map(seconds).reduce(0, +)
    let length = min(
      Self.length, max(isAsked ? Self.shortest : Self.length, encoded / Double(count * 2)))
    var chunked = self
    chunked.concurrency = count
    chunked.parts = parts.flatMap { $0.isCopied ? [$0] : split($0, at: cuts, every: length) }
    return chunked.parts.count > parts.count ? chunked : nil
  }

  private func split(_ part: Part, at cuts: [Int], every length: Double) -> [Part] {
    var pieces = [part]
    for cut in cuts where part.frames.dropFirst().contains(cut) {
      let start = pieces[pieces.count - 1].frames.lowerBound
      guard seconds(of: start..<cut) >= length - 0.001,
        seconds(of: cut..<part.frames.upperBound) >= length / 2
      else { continue }
      pieces[pieces.count - 1].frames = start..<cut
      pieces.append(Part(frames: cut..<part.frames.upperBound, reason: part.reason))
    }
    return pieces
  }

  /// Seconds that a part lasts, the last picture itself left out.
  func seconds(of part: Part) -> Double { seconds(of: part.frames) }

  private func seconds(of frames: Range<Int>) -> Double {
    let last = outlook.survey.shown.count - 1
    return outlook.seconds(of: min(frames.upperBound, last))
      - outlook.seconds(of: min(frames.lowerBound, last))
  }

  /// When keyframes are asked for in each part: as if the clip were encoded in one piece.
  func keyframeClocks(_ clock: KeyframeClock) -> [KeyframeClock] {
    var clock = clock
    return parts.map { part in
      let first = clock
      for frame in part.frames {
        _ = clock.isDue(
          at: outlook.seconds(of: frame), canvas: outlook.stretch(of: frame).direction.canvas)
      }
      return first
    }
  }

  /// The canvas that stands at a picture, and the turn of the first picture on it: where chroma sits on
  /// the canvas, it does so because of that one.
  func canvas(at frame: Int) -> (size: PixelSize, turn: ImageOrientation) {
    let canvas = outlook.stretch(of: frame).direction.canvas
    let before = outlook.stretches(in: 0..<frame + 1)
    let first = before.last { $0.direction.canvas != canvas }.map { other in
      before.first { $0.firstFrame > other.firstFrame }
    }
    let stretch = (first ?? before.first) ?? outlook.stretch(of: frame)
    return (canvas, stretch.direction.turn)
  }
}
