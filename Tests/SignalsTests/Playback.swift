import UprightSignals

/// Plays a stream through the tracker, as a player would, or through the scanner.
struct Playback {
  var codec: Codec
  var wrapping = Wrapping.startCodes
  var units: [SyntheticUnit]

  /// Returns the indices of the units in output order: by sequence, then by PTS. `sequences` is the
  /// sequence number of each unit.
  func outputOrder(_ sequences: [Int]) -> [Int] {
    units.indices.sorted {
      (sequences[$0], units[$0].pts ?? 0, $0) < (sequences[$1], units[$1].pts ?? 0, $1)
    }
  }

  /// Returns the sequence number of each unit, derived from its kind only.
  func sequences() -> [Int] {
    var number = -1
    var isAtStart = true
    return units.map { unit in
      let starts =
        unit.kind == .idr || (unit.kind == .brokenLink && codec == .hevc) || isAtStart
      if starts { number += 1 }
      isAtStart = unit.endsSequence
      return number
    }
  }

  /// Returns the signal of each picture in output order. A picture is queried after all pictures
  /// before it in output order, the picture itself and `delay` more units have been noted.
  func track(delay: Int) -> [DisplayOrientationSignal?] {
    let order = outputOrder(sequences())
    var tracker = DisplayOrientationTracker(
      codec: codec, configuration: wrapping.configuration(codec))
    var result: [DisplayOrientationSignal?] = []
    var next = 0
    var latest = -1
    for index in units.indices {
      tracker.read(units[index].bytes(codec, wrapping), pts: units[index].pts)
      while next < order.count, max(latest, order[next]) + delay <= index {
        latest = max(latest, order[next])
        result.append(tracker.signal(at: units[order[next]].pts))
        next += 1
      }
    }
    while next < order.count {
      result.append(tracker.signal(at: units[order[next]].pts))
      next += 1
    }
    return result
  }

  func scan() -> SignalTimeline {
    var scanner = DisplayOrientationScanner(
      codec: codec, configuration: wrapping.configuration(codec))
    for unit in units { scanner.read(unit.bytes(codec, wrapping), pts: unit.pts) }
    return scanner.finish()
  }

  /// Returns the scanner's result for each picture.
  func scanned() -> [DisplayOrientationSignal?] {
    let timeline = scan()
    var result: [DisplayOrientationSignal?] = []
    for (index, run) in timeline.runs.enumerated() {
      let end =
        index + 1 < timeline.runs.count ? timeline.runs[index + 1].index : timeline.pictureCount
      result += Array(repeating: run.signal, count: end - run.index)
    }
    return result
  }
}
