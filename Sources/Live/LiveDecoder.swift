internal import UprightOrientation
internal import UprightMediaIO
internal import UprightMedia

/// The items that the decoding thread passes to the session thread.
enum LiveItem: ~Copyable {
  /// The video of a stream begins, which was read for this time to find its tracks.
  case opened(frameRate: Double?, lookAhead: Duration)
  /// It has audio, which may come later.
  case audioBegan
  /// A frame with its timestamp in ticks of `LiveClock`, its orientation signal, and the mark of the events that take
  /// effect at it.
  case frame(VideoFrame, OrientationSignal?, ArrivalMark)
  /// Audio samples, and the publisher's timestamp of the first one in ticks of `LiveClock`.
  case audio(AudioFrame, at: Int64)
  /// The stream ended or failed; it may return.
  case lost(String)
  /// The input ended and is not reopened; with the error if it failed.
  case ended(UprightError?)
}

/// Decodes what a `LiveReader` has read, on its own thread.
///
/// Sendable by handover: it is created on one thread and runs on another.
final class LiveDecoder: @unchecked Sendable {
  private let packets: ArrivedPackets
  private let queue: BoundedQueue<LiveItem>
  private var video: LiveVideoReader?
  private var audio: LiveAudioReader?
  private var run = 0
  private var isWanted = true
  /// The packets that earlier decoders could not decode.
  private var damagedBefore = 0

  /// Added to the times of a file that is read again, in ticks of `LiveClock`.
  private var shift: Int64 = 0
  /// The times of the first frame of this reading of a file, and of the end of its last one, both shifted.
  private var span: (start: Int64, end: Int64)?

  init(_ packets: ArrivedPackets, queue: BoundedQueue<LiveItem>) {
    self.packets = packets
    self.queue = queue
  }

  /// Decodes until the input ends or nobody takes the frames.
  func decode() {
    while isWanted {
      packets.count { $0.isBusy = false }
      guard let item = packets.take() else { break }
      packets.count { $0.isBusy = true }
      do throws(UprightError) { try process(item) } catch {
        packets.count { $0.damaged += 1 }
      }
    }
    packets.count { $0.isBusy = false }
    packets.refuse()
    queue.close()
  }

  private func process(_ item: consuming ArrivedItem) throws(UprightError) {
    switch consume item {
    case .video(let reader, let run, let lookAhead):
      finishVideo()
      damagedBefore = packets.counted.damaged
      (video, audio, self.run) = (reader, nil, run)
      put(.opened(frameRate: reader.frameRate, lookAhead: lookAhead))
    case .audio(let reader):
      audio = reader
      put(.audioBegan)
    case .audioAnnounced: put(.audioBegan)
    case .packet(let packet): try decode(packet)
    case .repeated:
      finishVideo()
      continueFile()
    case .lost(let reason):
      finishVideo()
      put(.lost(reason))
    case .ended(let error):
      finishVideo()
      put(.ended(error))
    }
  }

  private func decode(_ packet: borrowing Packet) throws(UprightError) {
    video?.readSignals(of: packet)
    if let video, packet.streamIndex == video.index {
      let (start, blocked) = (ContinuousClock.now, secondsBlocked)
      defer {
        let seconds = start.secondsUntilNow - (secondsBlocked - blocked)
        packets.count {
          $0.times.add(seconds)
          $0.damaged = damagedBefore + video.damagedPackets
        }
      }
      try video.take(packet, pass)
    } else if let audio, packet.streamIndex == audio.index {
      try audio.take(packet) { samples, time in put(.audio(samples, at: shifted(time))) }
    }
  }

  private func finishVideo() {
    guard let video else { return }
    do throws(UprightError) { try video.finish(pass) } catch {
      packets.count { $0.damaged += 1 }
    }
    self.video = nil
  }

  /// Makes the next reading of a file begin where this one ended.
  private func continueFile() {
    guard let span, span.end > span.start else { return }
    shift = Int64(clamping: Int128(shift) + Int128(span.end) - Int128(span.start))
    self.span = nil
  }

  /// Returns a time of a file that may be read again, in ticks of `LiveClock`.
  private func shifted(_ time: Int64) -> Int64 { Int64(clamping: Int128(time) + Int128(shift)) }

  /// The time spent waiting for the session to take decoded frames, in seconds.
  private var secondsBlocked = 0.0

  private func pass(_ frame: consuming VideoFrame, _ signal: OrientationSignal?) {
    // A frame without a timestamp is as new as can be.
    let mark = ArrivalMark(run: run, time: frame.pts ?? .max)
    if let time = frame.pts.map(shifted) {
      frame.pts = time
      // A frame without a duration lasts as long as the step to it.
      let step = frame.duration > 0 ? frame.duration : max(1, time - (span?.end ?? time))
      let end = Int64(clamping: Int128(time) + Int128(step))
      span = (span?.start ?? time, max(span?.end ?? end, end))
    }
    packets.count { $0.frames += 1 }
    let start = ContinuousClock.now
    put(.frame(frame, signal, mark))
    secondsBlocked += start.secondsUntilNow
  }

  private func put(_ item: consuming sending LiveItem) {
    isWanted = queue.put(item) && isWanted
  }
}
