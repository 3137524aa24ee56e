package import Orientation
internal import OrientationSignals
package import UprightMediaIO
package import UprightPipeline

/// Reads a file's orientation signals and picture sizes from its packets alone. Pictures are decoded
/// only where a codec keeps its signal inside them (EXIF in a JPEG).
package struct SignalScan {
  /// What stands from one picture on.
  package struct Change {
    package let seconds: Double
    /// Counted from 0 in presentation order.
    package let frame: Int
    package let size: PixelSize
    /// All that is said, the strongest first.
    package let signals: [OrientationSignal]

    /// The one that stands.
    package var signal: OrientationSignal? { signals.first }
  }

  /// A picture seen and not yet passed on.
  private struct Picture {
    let pts: Int64
    let size: PixelSize
    /// Known already only of decoded ones.
    let signals: [OrientationSignal]?
  }

  private let demuxer: any PacketSource
  private let video: StreamInfo
  private let decoder: VideoDecoder?
  private let sizes: CodedSizeReader?
  private var reader: SignalReader
  private var size: PixelSize
  private var first: Int64?
  private var frame = -1
  /// In presentation order.
  private var waiting: [Picture] = []
  private var last: (size: PixelSize, signals: [OrientationSignal])?
  private var isAtEnd = false
  private let note: (borrowing Packet) -> Void
  /// What ended reading before the end; nil where all was read.
  package private(set) var error: UprightError?

  /// How many pictures a decoder may hold back, and so how many are looked at together.
  private static let reordering = 17

  package init(url: String, format: String?) throws(UprightError) {
    try self.init(openSource(url, format: format))
  }

  /// Scans what was just opened: standard input cannot be opened twice.
  ///
  /// - Parameter note: shown each packet on the way.
  package init(
    _ demuxer: any PacketSource, note: @escaping (borrowing Packet) -> Void = { _ in }
  ) throws(UprightError) {
    self.demuxer = demuxer
    self.note = note
    guard let video = demuxer.bestStream(.video) else {
      throw UprightError(.badData, "there is no video stream", at: demuxer.url)
    }
    self.video = video
    size = video.parameters.size
    reader = try SignalReader(demuxer, video)
    sizes = CodedSizeReader(video)
    let keepsSignalInside = ["mjpeg", "webp", "png"].contains(video.codecName)
    decoder = keepsSignalInside ? try VideoDecoder(stream: video) : nil
    demuxer.select([video.index])
  }

  /// What the user should know of the signals read so far.
  package var warnings: [String] { reader.warnings }

  /// The next change; the first is what stands at the start. Nil at the end.
  package mutating func next() throws(UprightError) -> Change? {
    while true {
      while !isAtEnd && waiting.count < Self.reordering { try readPacket() }
      guard !waiting.isEmpty else { return nil }
      let picture = waiting.removeFirst()
      first = first ?? picture.pts
      frame += 1
      let signals = picture.signals ?? reader.signals(at: picture.pts)
      if let last, last.size == picture.size, last.signals == signals { continue }
      last = (picture.size, signals)
      // A hostile file's times may lie further apart than a tick can count.
      let ticks = Double(picture.pts) - Double(first ?? 0)
      return Change(
        seconds: ticks * video.timeBase.doubleValue, frame: frame, size: picture.size,
        signals: signals)
    }
  }

  private mutating func readPacket() throws(UprightError) {
    guard let packet = nextPacket() else {
      isAtEnd = true
      return
    }
    reader.note(packet)
    note(packet)
    guard packet.streamIndex == video.index else { return }
    size = sizes?.size(of: packet) ?? vp9Size(packet) ?? size
    guard !packet.isDiscarded else { return }
    let pts = packet.pts ?? packet.dts ?? Int64(frame + 1 + waiting.count)
    var signals: [OrientationSignal]?
    if let decoder {
      _ = decoder.send(packet)
      guard let picture = try decoder.receive() else { return }
      size = picture.size
      signals = reader.signals(for: picture)
    }
    let place = waiting.firstIndex { $0.pts > pts } ?? waiting.count
    waiting.insert(Picture(pts: pts, size: size, signals: signals), at: place)
  }

  private func vp9Size(_ packet: borrowing Packet) -> PixelSize? {
    guard video.codecName == "vp9", packet.isKey else { return nil }
    return unsafe packet.withBytes { unsafe VP9Keyframe.size($0.prefix(16)) }
  }

  /// Nil at the end, and where reading fails: the run itself will say what is wrong with the file.
  private mutating func nextPacket() -> Packet? {
    do throws(UprightError) {
      return try demuxer.read()
    } catch {
      self.error = error
      return nil
    }
  }
}
