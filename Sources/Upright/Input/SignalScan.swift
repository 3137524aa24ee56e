internal import MediaIO
internal import Orientation

/// Reads a file's orientation signals from its packets alone. Pictures are decoded only where a codec
/// keeps its signal inside them (EXIF in a JPEG).
struct SignalScan {
  /// What stands from one picture on.
  struct Change {
    let seconds: Double
    /// Counted from 0 in presentation order.
    let frame: Int
    let size: PixelSize
    let signal: OrientationSignal?
  }

  private let demuxer: any PacketSource
  private let video: StreamInfo
  private let decoder: VideoDecoder?
  private var signals: SignalReader
  private var first: Int64?
  private var frame = -1
  /// Pictures seen and not yet passed on, in presentation order, with what is known of them.
  private var waiting: [(pts: Int64, signal: OrientationSignal??)] = []
  private var last: OrientationSignal??
  private var isAtEnd = false

  /// How many pictures a decoder may hold back, and so how many are looked at together.
  private static let reordering = 17

  init(url: String, format: String?) throws(MediaError) {
    try self.init(openSource(url, format: format))
  }

  /// Scans what was just opened: standard input cannot be opened twice.
  init(_ demuxer: any PacketSource) throws(MediaError) {
    self.demuxer = demuxer
    guard let video = demuxer.bestStream(.video) else {
      throw MediaError(.badData, "there is no video stream", at: demuxer.url)
    }
    self.video = video
    signals = SignalReader(video)
    let keepsSignalInside = ["mjpeg", "webp", "png"].contains(video.codecName)
    decoder = keepsSignalInside ? try VideoDecoder(stream: video) : nil
    demuxer.select([video.index])
    // Where only the stream as a whole can speak, there is no need to read the packets.
    isAtEnd = !signals.readsPackets && decoder == nil
  }

  /// The next change; the first is what stands at the start. Nil at the end.
  mutating func next() throws(MediaError) -> Change? {
    if last == nil && isAtEnd {
      frame = 0
      return change(to: signals.streamSignal, at: 0)
    }
    while true {
      while !isAtEnd && waiting.count < Self.reordering { try readPacket() }
      guard !waiting.isEmpty else { return nil }
      let picture = waiting.removeFirst()
      first = first ?? picture.pts
      frame += 1
      let signal = picture.signal ?? signals.signal(at: picture.pts)
      if last == nil || last != .some(signal) {
        return change(
          to: signal, at: Double(picture.pts - (first ?? 0)) * video.timeBase.doubleValue)
      }
    }
  }

  private mutating func change(to signal: OrientationSignal?, at seconds: Double) -> Change {
    last = .some(signal)
    return Change(seconds: seconds, frame: frame, size: video.parameters.size, signal: signal)
  }

  private mutating func readPacket() throws(MediaError) {
    guard let packet = nextPacket() else {
      isAtEnd = true
      return
    }
    guard packet.streamIndex == video.index else { return }
    signals.note(packet)
    guard !packet.isDiscarded else { return }
    let pts = packet.pts ?? packet.dts ?? Int64(frame + 1 + waiting.count)
    var signal: OrientationSignal??
    if let decoder {
      _ = decoder.send(packet)
      guard let picture = try decoder.receive() else { return }
      signal = .some(signals.signal(for: picture))
    }
    let place = waiting.firstIndex { $0.pts > pts } ?? waiting.count
    waiting.insert((pts, signal), at: place)
  }

  /// Nil at the end, and where reading fails: the run itself will say what is wrong with the file.
  private func nextPacket() -> Packet? {
    do throws(MediaError) { return try demuxer.read() } catch { return nil }
  }
}
