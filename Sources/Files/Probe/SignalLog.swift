internal import UprightOrientation
internal import UprightMedia

/// Lists the signals of each source, with the frames at which they begin and end.
struct SignalLog {
  private(set) var signals: [Probe.Signal] = []
  private var last: SignalScan.Change?

  /// Adds the entries for `change`, with sources in order of precedence. A signal is listed again if it begins
  /// to be applied because one of higher precedence has ended. A size is listed if it changes.
  mutating func add(_ change: SignalScan.Change) {
    defer { last = change }
    var contents: [Probe.Signal.Content] = []
    if let last, last.shown != change.shown { contents.append(.size(change.shown)) }
    for source in OrientationSignal.Source.allCases {
      let before = last?.signals.first { $0.source == source }
      guard let now = change.signals.first(where: { $0.source == source }) else {
        if before != nil { contents.append(.ends(source)) }
        continue
      }
      let isApplied = change.signal == now
      if now != before || (isApplied && last?.signal?.source != source) {
        contents.append(.begins(now, isApplied: isApplied))
      }
    }
    signals += contents.map {
      Probe.Signal(seconds: change.time.seconds, frame: change.frame, content: $0)
    }
  }
}
