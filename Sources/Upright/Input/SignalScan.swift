internal import MediaIO
internal import Orientation

/// Reads a file's orientation signals from its packets alone: nothing is decoded.
struct SignalScan {
  /// From one picture on, in presentation order as far as the packets tell.
  struct Change {
    let seconds: Double
    let size: PixelSize
    let signal: OrientationSignal?
  }

  private let demuxer: Demuxer
  private let video: StreamInfo
  private var signals: SignalReader
  private var first: Int64?
  private var waiting: [Int64] = []
  private var last: OrientationSignal??
  private var isAtEnd = false

  /// How many pictures a decoder may hold back, and so how many are looked at together.
  private static let reordering = 17

  init(url: String, format: String?) throws(MediaError) {
    demuxer = try Demuxer(url: url, format: format)
    guard let video = demuxer.bestStream(.video) else {
      throw MediaError(.badData, "there is no video stream", at: url)
    }
    self.video = video
    signals = SignalReader(video)
    demuxer.select([video.index])
    // Where only the stream as a whole can speak, there is no need to read the packets.
    isAtEnd = !signals.readsPackets
  }

  /// The next change; the first is what stands at the start. Nil at the end.
  mutating func next() throws(MediaError) -> Change? {
    if last == nil && isAtEnd { return change(to: signals.streamSignal, at: 0) }
    while true {
      while !isAtEnd && waiting.count < Self.reordering { try readPacket() }
      guard !waiting.isEmpty else { return nil }
      let pts = waiting.removeFirst()
      first = first ?? pts
      let signal = signals.signal(at: pts)
      if last == nil || last != .some(signal) {
        return change(to: signal, at: Double(pts - (first ?? pts)) * video.timeBase.doubleValue)
      }
    }
  }

  private mutating func change(to signal: OrientationSignal?, at seconds: Double) -> Change {
    last = .some(signal)
    return Change(seconds: seconds, size: video.parameters.size, signal: signal)
  }

  private mutating func readPacket() throws(MediaError) {
    let packet: Packet
    do throws(MediaError) {
      guard let next = try demuxer.read() else {
        isAtEnd = true
        return
      }
      packet = next
    } catch {
      // The run itself will say what is wrong with the file.
      isAtEnd = true
      return
    }
    guard packet.streamIndex == video.index else { return }
    signals.note(packet)
    guard let pts = packet.pts, !packet.isDiscarded else { return }
    let place = waiting.firstIndex { $0 > pts } ?? waiting.count
    waiting.insert(pts, at: place)
  }
}
