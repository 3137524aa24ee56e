internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

/// An audio track of segments. AAC is copied. Other audio, and a track that begins later than the video, is encoded for each
/// segment alone, on one grid of frames for the whole file, by an encoder that begins a few frames before the segment.
final class SegmentAudio {
  private let side: SideTrackWriter
  private let container: OutputContainer
  private var demuxer: Demuxer
  private let open: () throws(UprightError) -> Demuxer
  private let seeks: Bool

  /// How many frames the encoder gets before the first one that is used: its decisions need some history.
  private static let history: Int64 = 4
  /// The least time without packets that is a pause, and how much of it is left to the transcoder.
  private static let (pause, rest) = (MediaTime(1, .one), MediaTime(1, Rational(1, 10)))
  /// How much earlier than a time reading begins: packets of other tracks lie between those of the audio.
  private static let leads = [0.5, 5].map { MediaTime(seconds: $0) }

  /// - Parameters:
  ///   - side: One of the plan's audio tracks.
  ///   - seeks: Whether reading begins near a time, and not at the start.
  init(_ plan: SessionPlan, _ side: SideTrackWriter, seeks: Bool) throws(UprightError) {
    guard let first = plan.demuxer as? Demuxer else {
      throw UprightError(.fault, "an input that can't be divided")
    }
    (self.side, container, self.seeks) = (side, plan.container, seeks)
    let format = plan.request.inputFormat
    // The tracks together say where a clock is reset.
    let all = Set(plan.sideTracks.map(\.stream.index)).union([plan.video.index])
    let read = seeks ? [side.stream.index] : all
    open = { () throws(UprightError) in
      let demuxer = try Demuxer(again: first, format: format)
      demuxer.select(read)
      return demuxer
    }
    demuxer = try open()
    // Only the headers of its frames have the configuration of AAC in ADTS.
    if case .filter = side.work, let packet = try nextPacket() {
      try side.write(packet) { (_) throws(UprightError) in }
    }
  }

  /// The track as described to outputs.
  var description: SideTrack { side.description }

  /// The number of samples that the encoder puts before the first one; 0 for a copy.
  var priming: Int {
    if case .transcode(let transcoder) = side.work { transcoder.priming } else { 0 }
  }

  /// Returns how long some samples last.
  func duration(of samples: Int) -> MediaTime {
    MediaTime(Int64(samples), Rational(1, max(1, side.description.parameters.sampleRate)))
  }

  /// Returns the decoding time of the track's first packet, `nil` if there is none, and the number of samples from there on
  /// that aren't played. Use it before any packet is read.
  func start() throws(UprightError) -> (time: MediaTime?, priming: Int) {
    try rewind()
    var start: MediaTime?
    var priming = 0
    var isPriming = true
    while start == nil || isPriming, let packet = try nextPacket() {
      isPriming = packet.isDiscarded
      var skipped = packet.skippedSamples
      if packet.isDiscarded {
        let tick = Rational(1, max(1, side.stream.parameters.sampleRate))
        skipped = Int(clamping: packet.duration.rescaled(from: packet.timeBase, to: tick))
      }
      priming = min(Self.mostPriming, priming + min(max(0, skipped), Self.mostPriming))
      guard start == nil else { continue }
      try side.write(packet) { (packet) throws(UprightError) in start = start ?? packet.decodingTime
      }
    }
    if case .transcode = side.work { return (start, self.priming) }
    return (start, priming < Self.mostPriming ? priming : 0)
  }

  /// More is no delay of an encoder, and FFmpeg ignores it.
  private static let mostPriming = 1 << 14

  /// Returns the packets whose times are in a range. They are those of the whole track, whatever the range.
  ///
  /// - Parameters:
  ///   - from: `nil` for the start of the track.
  ///   - to: `nil` for its end.
  ///   - first: The time of the track's first packet, as `start` returned it.
  func packets(
    from: MediaTime?, to: MediaTime?, first: MediaTime
  ) throws(UprightError) -> [PacketBox] {
    if let to, to <= first { return [] }
    guard case .transcode(let transcoder) = side.work else {
      return try read(from: from) { (packet, emit) throws(UprightError) in
        if let to, let time = packet.time, time >= to { return false }
        try side.write(packet, emit: emit)
        return true
      }
    }
    return try encoded(from: from, to: to, first: first, transcoder)
  }

  private typealias Emit = (consuming Packet) throws(UprightError) -> Void

  /// Reads packets from a time on until `body` returns `false`, and returns those that it passes on from that time on.
  private func read(
    from: MediaTime?, _ body: (consuming Packet, Emit) throws(UprightError) -> Bool
  ) throws(UprightError) -> [PacketBox] {
    var boxes: [PacketBox] = []
    let emit: Emit = { (packet) throws(UprightError) in
      let box = PacketBox(packet, format: nil)
      if let from, let time = box.times?.presentation, time < from { return }
      boxes.append(box)
    }
    var next = try first(before: from)
    while let packet = next.take() {
      guard try body(packet, emit) else { break }
      next = try nextPacket()
    }
    return boxes
  }

  /// Returns the first packet to read for a time: one that isn't later, if there is any.
  private func first(before time: MediaTime?) throws(UprightError) -> Packet? {
    side.restart()
    guard let time, seeks else {
      try rewind()
      return try nextPacket()
    }
    for lead in Self.leads {
      let ticks = (time - lead).plausibleTicks(of: side.stream.timeBase)
      guard demuxer.seek(stream: side.stream.index, to: ticks) else { break }
      if let packet = try nextPacket(), packet.time.map({ $0 <= time }) ?? false { return packet }
    }
    try rewind()
    return try nextPacket()
  }

  /// Returns the next packet of the track. What libavformat read ahead of other tracks is in its queue.
  private func nextPacket() throws(UprightError) -> Packet? {
    while let packet = try demuxer.read() {
      if packet.streamIndex == side.stream.index { return packet }
    }
    return nil
  }

  /// Goes to the first packet. When it has read ahead, libavformat skips the priming of Opus at a later packet.
  private func rewind() throws(UprightError) {
    // A seek that fails, as each of FLV's audio does, has read on.
    if !demuxer.seek(stream: side.stream.index, to: -1 << 40) { demuxer = try open() }
  }

  private func encoded(
    from: MediaTime?, to: MediaTime?, first: MediaTime, _ whole: AudioTranscoder
  ) throws(UprightError) -> [PacketBox] {
    let (timeBase, size) = (whole.timeBase, Int64(whole.frameSize))
    let base = first.plausibleTicks(of: timeBase) + Int64(whole.priming)
    let wanted = from.map { max(0, ($0 - first).plausibleTicks(of: timeBase) / size) } ?? 0
    let start = base + max(0, wanted - Self.history) * size
    guard let encoder = container.audioEncoder else { return [] }
    let transcoder = try AudioTranscoder(
      stream: side.stream, encoderName: encoder, wantsGlobalHeader: container.wantsGlobalHeader,
      start: start)
    var boxes: [PacketBox] = []
    var isEnough = false
    let emit: Emit = { (packet) throws(UprightError) in
      let box = PacketBox(packet, format: nil)
      guard let time = box.times?.presentation else { return }
      if let to, time >= to { isEnough = true }
      if !isEnough, from.map({ time >= $0 }) ?? true { boxes.append(box) }
    }
    var next = try self.first(before: from.map { _ in MediaTime(start, timeBase) })
    var last = MediaTime(start, timeBase)
    while !isEnough, let packet = next.take() {
      if let time = packet.time {
        if time - last > Self.pause {
          // Players wait for sound that doesn't come. The rest of a pause is as long as the samples' own times say.
          let end = to.map { min(time - Self.rest, $0 + Self.rest) } ?? time - Self.rest
          try transcoder.fill(to: end.plausibleTicks(of: timeBase), emit: emit)
          guard !isEnough else { break }
        }
        last = max(last, time)
      }
      try transcoder.transcode(packet, emit: emit)
      next = try nextPacket()
    }
    if !isEnough { try transcoder.transcode(nil, emit: emit) }
    return boxes
  }
}
