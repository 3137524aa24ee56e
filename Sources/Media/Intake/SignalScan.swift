package import UprightOrientation
internal import UprightSignals
package import UprightMediaIO

/// Reads a file's orientation signals and frame sizes from its packets. Frames are decoded only if the codec
/// stores its signal inside them (EXIF in images).
package struct SignalScan {
  /// The signals and the shape from one frame on.
  package struct Change {
    /// The frame's time from the first frame on.
    package let time: MediaTime
    /// The frame's index in presentation order, from 0.
    package let frame: Int
    /// The size of the stored frames, cropping applied.
    package let size: PixelSize
    /// The size that is shown, before the turn.
    package let shown: PixelSize
    /// All signals, strongest first.
    package let signals: [OrientationSignal]

    package init(
      time: MediaTime, frame: Int, size: PixelSize, shown: PixelSize,
      signals: [OrientationSignal]
    ) {
      (self.time, self.frame) = (time, frame)
      (self.size, self.shown, self.signals) = (size, shown, signals)
    }

    /// The signal that takes effect.
    package var signal: OrientationSignal? { signals.first }
  }

  /// A frame that was read and not yet returned.
  private struct BufferedFrame {
    let pts: Int64
    let shape: FrameShape
    /// The signals, known in advance only for decoded frames.
    let signals: [OrientationSignal]?
  }

  private let demuxer: any PacketSource
  private let video: StreamInfo
  private let decoder: VideoDecoder?
  private let sizes: CodedSizeReader?
  private var reader: SignalReader
  private var shape: FrameShape
  private var first: Int64?
  private var frame = -1
  /// The buffered frames, in presentation order.
  private var waiting: [BufferedFrame] = []
  private var last: (shape: FrameShape, signals: [OrientationSignal])?
  private var isAtEnd = false
  private let observe: (borrowing Packet) -> Void
  /// The error that ended reading early; `nil` if everything was read.
  package private(set) var error: UprightError?

  /// The number of frames that are buffered to restore presentation order: the most that a decoder may hold
  /// back.
  private static let reordering = 17

  /// Scans a source from where it is.
  ///
  /// - Parameters:
  ///   - gravity: How readings of motion sensors turn frames; `nil` if they don't.
  ///   - observe: Called for each packet.
  package init(
    _ demuxer: any PacketSource, gravity: GravityUse? = nil,
    observe: @escaping (borrowing Packet) -> Void = { _ in }
  ) throws(UprightError) {
    self.demuxer = demuxer
    self.observe = observe
    guard let video = demuxer.bestStream(.video) else {
      throw UprightError(.badData, "there is no video stream", at: demuxer.url)
    }
    self.video = video
    shape = video.frameShape
    reader = try SignalReader(demuxer, video, gravity: gravity)
    sizes = CodedSizeReader(video)
    let keepsSignalInside = ["mjpeg", "webp", "png"].contains(video.codecName)
    decoder = keepsSignalInside ? try VideoDecoder(stream: video) : nil
    demuxer.select([video.index])
  }

  /// Warnings about the signals read so far, for the user.
  package var warnings: [String] { reader.warnings }

  /// Returns the next change, or `nil` at the end. The first change is the initial state.
  package mutating func next() throws(UprightError) -> Change? {
    while true {
      while !isAtEnd && waiting.count < Self.reordering { try readPacket() }
      guard !waiting.isEmpty else { return nil }
      let next = waiting.removeFirst()
      first = first ?? next.pts
      frame += 1
      let signals = next.signals ?? reader.signals(at: next.pts)
      if let last, last.shape == next.shape, last.signals == signals { continue }
      last = (next.shape, signals)
      let base = video.timeBase
      let time = MediaTime(next.pts, base) - MediaTime(first ?? 0, base)
      return Change(
        time: time, frame: frame, size: next.shape.stored, shown: next.shape.shown,
        signals: signals)
    }
  }

  private mutating func readPacket() throws(UprightError) {
    guard let packet = nextPacket() else {
      isAtEnd = true
      return
    }
    reader.read(packet)
    observe(packet)
    guard packet.streamIndex == video.index else { return }
    if let size = sizes?.size(of: packet) {
      shape = video.shape(of: size, own: sizes?.changedRatio)
    }
    guard !packet.isDiscarded else { return }
    let pts = packet.pts ?? packet.dts ?? Int64(frame + 1 + waiting.count)
    var signals: [OrientationSignal]?
    if let decoder {
      _ = decoder.send(packet)
      guard let decoded = try decoder.receive() else { return }
      shape = decoded.shape
      signals = reader.signals(for: decoded)
    }
    let place = waiting.firstIndex { $0.pts > pts } ?? waiting.count
    waiting.insert(BufferedFrame(pts: pts, shape: shape, signals: signals), at: place)
  }

  /// Returns `nil` at the end and on a read error. The transcoding run will report the error.
  private mutating func nextPacket() -> Packet? {
    do throws(UprightError) {
      return try demuxer.read()
    } catch {
      self.error = error
      return nil
    }
  }
}
