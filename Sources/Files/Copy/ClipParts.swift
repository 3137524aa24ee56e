internal import RotationPolicy
internal import UprightMediaIO
internal import UprightOrienting

/// A clip cut at entry points into parts that are worked on apart: GOPs that are copied, and GOPs whose
/// pictures are encoded anew.
struct ClipParts {
  /// A run of whole GOPs.
  struct Part {
    /// Pictures, counted alike in decoding and in presentation order.
    var frames: Range<Int>
    /// Why its pictures are encoded, for a person; nil: they are copied.
    let reason: String?

    var isCopied: Bool { reason == nil }
  }

  let outlook: Outlook
  /// In order, without gaps.
  var parts: [Part]
  /// Decoding times of all packets, in ticks of the source.
  let decodingTimes: [Int64]
  /// How encoded pictures stand beside copied ones; nil where none are copied.
  var join: StreamJoin?
  /// What is encoded to; nil: as the plan says.
  var codec: VideoCodec?
  /// Encoded parts that are worked on at a time.
  var concurrency = 1

  var copiedFrames: Int { parts.filter(\.isCopied).map(\.frames.count).reduce(0, +) }

  /// Cuts the clip into as few parts as there can be.
  ///
  /// - Parameter reason: why pictures with this direction, from so many seconds on, need new pixels; nil
  ///   where they need none.
  static func parts(
    _ outlook: Outlook, reason: (Outlook.Stretch) -> String?
  ) -> [Part] {
    let cuts = outlook.survey.cuts()
    // Without an entry at the start there is nothing to begin with.
    guard cuts.first == 0 else { return [] }
    let ends = cuts.dropFirst() + [outlook.survey.shown.count]
    var reasons = zip(cuts, ends).map { cut, end in
      outlook.stretches(in: cut..<end).lazy.compactMap(reason).first
    }
    // What stands still begins with a picture of before: it must be decoded with it.
    for index in cuts.indices.dropFirst().reversed()
    where reasons[index] != nil && reasons[index - 1] == nil
      && outlook.stretch(of: cuts[index]).direction.showsEarlierPicture
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

extension Direction {
  /// Whether what is drawn holds a picture from before this one.
  var showsEarlierPicture: Bool {
    !isCaptureEnabled || moment?.turn.style == .hold || moment?.turn.style == .crossfade
  }
}
