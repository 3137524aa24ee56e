internal import CUprightFFmpeg
internal import UprightOrientation
internal import UprightSignals

/// Presents a track whose samples have a time each.
final class SamplePresenter: TrackPresenter {
  private let track: UneditedTrack
  private let samples: PresentedSamples
  private var run = 0
  /// The sample that is wanted next.
  private var sample: Int
  /// The sample that the track gives next.
  private var position = 0
  private var startsAnew = true

  init(_ track: UneditedTrack, _ samples: PresentedSamples) {
    (self.track, self.samples) = (track, samples)
    sample = samples.runs.first?.samples.lowerBound ?? 0
  }

  func next() throws(UprightError) -> Packet? {
    while let run = current() {
      if position != sample {
        try track.seek(to: samples.times.decoding[sample] + track.firstTime)
        position = sample
      }
      guard let packet = try track.read() else { return nil }
      let time = (packet.dts ?? packet.pts ?? 0) - track.firstTime
      // Damaged tables may give samples that aren't known.
      guard let found = samples.times.sample(decodedAt: time, from: sample),
        run.samples.contains(found)
      else {
        if time < samples.times.decoding[sample] { continue }
        sample = run.samples.upperBound
        position = -1
        continue
      }
      sample = found + 1
      position = sample
      if samples.isNeeded(found, in: run) { return presented(packet, found, run) }
    }
    return nil
  }

  /// Returns the run of the sample that is wanted next.
  private func current() -> PresentedSamples.Run? {
    while run < samples.runs.count, sample >= samples.runs[run].samples.upperBound {
      run += 1
      guard run < samples.runs.count else { break }
      sample = samples.runs[run].samples.lowerBound
      startsAnew = !samples.runs[run].continues
    }
    return run < samples.runs.count ? samples.runs[run] : nil
  }

  private func presented(
    _ packet: consuming Packet, _ sample: Int, _ run: PresentedSamples.Run
  ) -> Packet {
    let times = samples.times
    packet.startsAnew = startsAnew
    startsAnew = false
    packet.dts = run.piece.place(of: times.decoding[sample] - times.lateness)
    if let showing = samples.showing(of: sample, in: run) {
      packet.pts = showing.start
      packet.duration = showing.duration
    } else {
      packet.pts = run.piece.place(of: times.composition[sample])
      packet.isDiscarded = true
    }
    packet.dropImplausibleTimes()
    return packet
  }

  func seek(to time: MediaTime) throws(UprightError) -> MediaTime {
    let ticks = time.plausibleTicks(of: track.timeBase)
    let runs = samples.runs
    run = max(0, (runs.firstIndex { $0.piece.start > ticks } ?? runs.count) - 1)
    let media = runs[run].piece.media(at: max(ticks, runs[run].piece.start))
    let shown = samples.times.presented(in: media..<media + 1).last {
      samples.showing(of: $0, in: runs[run]) != nil
    }
    let bounds = runs[run].samples
    sample = min(
      max(samples.times.entry(for: shown ?? bounds.lowerBound), bounds.lowerBound),
      bounds.upperBound - 1)
    startsAnew = true
    position = -1
    let place = runs[run].piece.place(of: samples.times.composition[sample])
    return MediaTime(min(place, ticks), track.timeBase)
  }
}
