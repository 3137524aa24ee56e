internal import UprightMediaIO
internal import UprightOrientation

/// Places the audio of a camera that sends no sender reports (RFC 3550, 6.4.1) beside its video.
///
/// Without reports the times of each RTP stream begin at 0 with its own first packet. Both streams take one path, so the
/// fastest packet of each tells how far apart they began. Used on the reading thread.
struct ArrivalAlignment {
  /// Whether libavformat gives a frame of the video only once the next one begins to arrive.
  private let isHeldBack: Bool
  /// The arrival of the last packet of the video, in ticks.
  private var lastVideo: Int64?
  /// The least delay of a packet, arrival less time, in ticks of `LiveClock`. `nil` before the first packet.
  private var delays: (video: Int64?, audio: Int64?)
  /// What is added to the times of the audio, in ticks.
  private var shift: Int64 = 0
  /// Whether reports relate the video to the audio.
  private var isReported = (video: false, audio: false)

  /// A smaller correction is jitter, in ticks.
  private static let smallestCorrection = LiveClock.rate / 40

  /// - Parameter codec: libavcodec's name of the video's codec.
  init(video codec: String?) { isHeldBack = codec.map { ["h264", "hevc"].contains($0) } ?? false }

  /// Moves a packet of the audio to the time at which it belongs, unless reports have placed it.
  ///
  /// - Parameter arrival: The time since reading began.
  mutating func align(_ packet: inout Packet, isVideo: Bool, arrival: Duration) {
    if isVideo {
      isReported.video = isReported.video || packet.isReported
    } else {
      isReported.audio = isReported.audio || packet.isReported
    }
    guard !(isReported.video && isReported.audio), let time = packet.time else { return }
    let wall = LiveClock.timeBase.ticks(in: arrival / .seconds(1))
    let ticks = time.plausibleTicks(of: LiveClock.timeBase)
    if isVideo {
      if let arrived = isHeldBack ? lastVideo : wall {
        delays.video = min(delays.video ?? .max, arrived - ticks)
      }
      lastVideo = wall
      return
    }
    let delay = wall - ticks
    delays.audio = min(delays.audio ?? delay, delay)
    if let audio = delays.audio, let video = delays.video,
      abs(audio - video - shift) >= Self.smallestCorrection
    {
      shift = audio - video
    }
    packet.move(by: MediaTime(shift, LiveClock.timeBase))
  }
}
