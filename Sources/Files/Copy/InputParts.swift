internal import UprightPolicy
internal import UprightFrames
internal import UprightMediaIO
internal import UprightMedia

/// An input split at entry points into parts that are processed separately: GOPs that are copied, and GOPs
/// whose frames are re-encoded.
struct InputParts {
  /// A run of whole GOPs.
  struct Part {
    /// The indexes of the frames, which are the same in decoding and in presentation order.
    var frames: Range<Int>
    /// Why the frames are encoded, as a text for the user; `nil` if they are copied.
    let reason: String?

    var isCopied: Bool { reason == nil }
  }

  let inputSurvey: InputSurvey
  /// The parts, in order and without gaps.
  var parts: [Part]
  /// Decoding times of all packets, in ticks of the source.
  var decodingTimes: [Int64]
  /// How encoded frames are combined with copied ones; `nil` if no frames are copied.
  var join: StreamMerger?
  /// The codec to encode to; `nil` for the codec of the plan.
  var codec: VideoCodec?
  /// The number of parts that are encoded in parallel.
  var concurrency = 1
  /// How many frames on each side of those that are encoded are decoded too, to deinterlace them.
  var neighbours = 0

  var copiedFrames: Int { parts.filter(\.isCopied).map(\.frames.count).reduce(0, +) }

  /// Splits the input into as few parts as possible.
  ///
  /// - Parameter reason: Returns why frames in a stretch need new pixels; `nil` if they don't.
  static func parts(
    _ inputSurvey: InputSurvey, reason: (InputSurvey.Stretch) -> String?
  ) -> [Part] {
    let cuts = inputSurvey.survey.cuts()
    // Without an entry point at the start the input can't be split.
    guard cuts.first == 0 else { return [] }
    let ends = cuts.dropFirst() + [inputSurvey.survey.shown.count]
    var reasons = zip(cuts, ends).map { cut, end in
      inputSurvey.stretches(in: cut..<end).lazy.compactMap(reason).first
        ?? (inputSurvey.survey.hidesFrames(in: cut..<end) ? PacketSurvey.hides : nil)
    }
    // A held frame or a crossfade begins with an earlier frame, which must be decoded with it.
    for index in cuts.indices.dropFirst().reversed()
    where reasons[index] != nil && reasons[index - 1] == nil
      && inputSurvey.stretch(of: cuts[index]).direction.showsEarlierFrame
    {
      reasons[index - 1] = reasons[index]
    }
    var parts: [Part] = []
    for (gop, reason) in zip(zip(cuts, ends), reasons) {
      if let last = parts.last, last.isCopied == (reason == nil) {
        parts[parts.count - 1].frames = last.frames.lowerBound..<gop.1
      } else {
        parts.append(Part(frames: gop.0..<gop.1, reason: reason))
      }
    }
    return parts
  }
}

extension FrameDirection {
  /// Whether the output frame shows content of an earlier frame.
  var showsEarlierFrame: Bool {
    !isCaptureEnabled || moment?.turn.style == .hold || moment?.turn.style == .crossfade
  }
}
