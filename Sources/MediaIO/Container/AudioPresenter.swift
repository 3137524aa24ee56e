internal import CUprightFFmpeg
internal import UprightOrientation
internal import UprightSignals

/// Presents an audio track, cut to the sample: PCM is cut in the packet, other codecs by the decoder, which is
/// told how many samples of a packet to drop.
final class AudioPresenter: TrackPresenter {
  private let track: UneditedTrack
  private let pieces: [PresentationMap.Piece]
  /// `nil` if the stream isn't PCM.
  private let frameSize: Int?
  private let preroll: Int64
  /// How long a packet is when it is decoded, whatever its duration says: the last one's may be shorter.
  private let packetLength: Int64
  private var piece = 0
  /// The time of the media to go on from; `nil` to read on.
  private var target: Int64?

  /// - Parameters:
  ///   - frameSize: The size of a sample of all channels in bytes; `nil` if the stream isn't PCM.
  ///   - packetSize: The number of samples of a packet; 0 if it varies.
  init(_ track: UneditedTrack, _ map: PresentationMap, frameSize: Int?, packetSize: Int) {
    (self.track, self.frameSize) = (track, frameSize)
    packetLength = frameSize == nil ? track.ticks(Int64(packetSize)) : 0
    // A piece at another speed has no sound.
    pieces = map.pieces.filter { $0.rate == TrackTimes.Edit.normalRate }
    preroll = frameSize == nil ? TrackPresentation.preroll.roundedUp(to: track.timeBase).ticks : 0
    target = pieces.first?.mediaStart
  }

  func next() throws(UprightError) -> Packet? {
    while piece < pieces.count {
      let piece = pieces[piece]
      if let target = target.take() { try track.seek(to: max(0, target - preroll)) }
      guard var packet = try track.read() else {
        goOn()
        continue
      }
      // A fragment's last packet has no duration.
      if packet.duration == 0 { packet.duration = packetLength }
      let start = packet.pts ?? packet.dts ?? 0
      let (end, overflow) = start.addingReportingOverflow(packet.duration)
      guard !overflow, start < piece.mediaEnd else {
        goOn()
        continue
      }
      // Without an index, reading starts farther ahead.
      if end < piece.mediaStart - preroll { continue }
      packet.pts = piece.place(of: start)
      packet.dts = packet.pts
      if end <= piece.mediaStart {
        if frameSize != nil { continue }
        packet.isDiscarded = true
      } else {
        try packet.cut(
          first: max(0, piece.mediaStart - start), last: max(0, end - piece.mediaEnd),
          surplus: end < piece.mediaEnd ? 0 : max(0, start + packetLength - end),
          frameSize: frameSize, samples: track.samples)
      }
      packet.dropImplausibleTimes()
      return packet
    }
    return nil
  }

  private func goOn() {
    piece += 1
    if piece < pieces.count { target = pieces[piece].mediaStart }
  }

  func seek(to time: MediaTime) throws(UprightError) -> MediaTime {
    let ticks = time.plausibleTicks(of: track.timeBase)
    piece = max(0, (pieces.firstIndex { $0.start > ticks } ?? pieces.count) - 1)
    guard piece < pieces.count else { return time }
    target = pieces[piece].media(at: max(ticks, pieces[piece].start))
    return time
  }
}

extension Packet {
  /// Cuts ticks off both ends of a packet of audio.
  ///
  /// - Parameters:
  ///   - surplus: What is decoded after the packet's duration.
  ///   - frameSize: The size of a sample of all channels in bytes; `nil` if the stream isn't PCM.
  ///   - samples: Returns how many samples last as long as some ticks.
  mutating func cut(
    first: Int64, last: Int64 = 0, surplus: Int64 = 0, frameSize: Int?,
    samples: (Int64) -> Int64
  ) throws(UprightError) {
    guard first > 0 || last > 0 || surplus > 0 else { return }
    duration = max(0, duration - last)
    guard let frameSize else {
      return try skipSamples(first: samples(first), last: samples(last + surplus))
    }
    duration = max(0, duration - first)
    pts = pts.map { $0 + first }
    dts = pts
    cut(
      first: Int(clamping: samples(first)).multipliedReportingOverflow(by: frameSize).partialValue,
      last: Int(clamping: samples(last)).multipliedReportingOverflow(by: frameSize).partialValue)
  }
}
