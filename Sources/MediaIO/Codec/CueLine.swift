/// Subtitles one after another, as the text samples of MP4 are (ISO/IEC 14496-17): those that overlap become several, each
/// with everything that is shown for its time.
struct CueLine {
  struct Cue: Equatable {
    /// In milliseconds.
    var start: Int64
    var end: Int64
    /// The texts that are shown, as decoders provide them: in the form of a dialogue of ASS, after eight fields.
    var events: [String]

    /// All texts, one below the other.
    var dialogue: String {
      events.dropFirst().reduce(into: events.first ?? "") { dialogue, event in
        let fields = event.split(separator: ",", maxSplits: 8, omittingEmptySubsequences: false)
        dialogue += "\\N" + (fields.last ?? "")
      }
    }
  }

  /// What is shown from `time` on, as far as is known.
  private var shown: [Cue] = []
  private var time = Int64.min

  /// Adds the next cue. Returns what is shown before it begins. A cue of unknown length is itself complete.
  mutating func add(_ cue: Cue) -> [Cue] {
    let ended = advance(to: cue.start)
    guard cue.end > cue.start else { return ended + [cue] }
    shown.append(cue)
    return ended
  }

  mutating func finish() -> [Cue] { advance(to: .max) }

  private mutating func advance(to next: Int64) -> [Cue] {
    var cues: [Cue] = []
    if let first = shown.first { time = max(time, first.start) }
    shown.removeAll { $0.end <= time }
    while time < next, let end = shown.map(\.end).min() {
      let cue = Cue(start: time, end: min(end, next), events: shown.flatMap(\.events))
      cues.append(cue)
      time = cue.end
      shown.removeAll { $0.end <= time }
    }
    return cues
  }
}
