internal import CUprightFFmpeg
internal import Glibc
internal import UprightOrientation
internal import UprightSignals

/// Reads the samples of an H.264 or HEVC track of a local MP4 or MOV file, each without the bytes of its slices behind their
/// headers. Times, order and flags are those of libavformat's packets.
final class SampleHeads {
  /// libavformat's index of the track. It lives as long as the context of the stream.
  private let stream: UnsafeMutablePointer<AVStream>
  private let url: String
  private let times: SampleTimes
  private let timeBase: Rational
  private let codec: DisplayOrientationTracker.Codec
  /// The bytes of the length in front of each NAL unit.
  private let lengthSize: Int
  private let file: CInt
  /// The size of the file, in bytes.
  private let fileSize: Int64
  /// What is added to the times of the tables; `nil` before the first packet was compared.
  private var shift: (decoding: Int64, composition: Int64)?
  private var sample = 0
  /// Some bytes of the file from a position on.
  private var window = [UInt8](repeating: 0, count: 512)
  private var windowStart = 0
  private var windowCount = 0

  private static let codecs: [String: DisplayOrientationTracker.Codec] = [
    "h264": .h264, "hevc": .hevc,
  ]
  /// The most bytes of a slice that are read: more than its header needs up to what tells how pictures depend on each other.
  private static let sliceHead = 64

  /// Returns `nil` if the file isn't local, is fragmented, or its tables and libavformat's index list other samples.
  init?(_ url: String, _ stream: UnsafeMutablePointer<AVStream>, _ video: StreamInfo) {
    let configuration = video.parameters.extradata
    guard InputTrust.scheme(of: url) == nil, configuration.first == 1,
      let codec = Self.codecs[video.codecName],
      case .lengths(let size) = NALFraming(configuration: configuration, codec: codec),
      let bytes = ByteSource(regularFile: url), let movie = MovieContent(in: bytes),
      !TrackTimes.hasFragments(movie.bytes),
      let track = TrackTimes.tracks(inMovie: movie.bytes).first(where: {
        $0.identifier == video.identifier
      }),
      let times = track.samples(), times.count == avformat_index_get_entries_count(stream)
    else { return nil }
    file = open(url, O_RDONLY | O_CLOEXEC)
    fileSize = Int64(lseek(file, 0, SEEK_END))
    guard file >= 0 else { return nil }
    (self.url, self.stream, self.times, self.codec) = (url, stream, times, codec)
    (lengthSize, timeBase) = (size, video.timeBase)
  }

  deinit { close(file) }

  var count: Int { times.count }

  private func entry(_ sample: Int) -> UnsafePointer<AVIndexEntry>? {
    avformat_index_get_entry(stream, CInt(clamping: sample))
  }

  /// Returns whether a packet is that sample, and its times are as far from those of the tables as those of the packet that
  /// was compared before.
  func agrees(with packet: borrowing Packet, _ sample: Int) -> Bool {
    guard let pts = packet.pts, let dts = packet.dts, let entry = entry(sample),
      [pts, dts, times.decoding[sample], times.composition[sample]]
        .allSatisfy(Int64.plausibleTicks.contains),
      packet.position == entry.pointee.pos, packet.size == Int(entry.pointee.size)
    else { return false }
    let own = (dts - times.decoding[sample], pts - times.composition[sample])
    let known = shift ?? own
    shift = known
    return own == known
  }

  /// Returns the next packet, or `nil` at the end.
  func next() throws(UprightError) -> Packet? {
    guard sample < count, let entry = entry(sample)?.pointee, let shift else { return nil }
    guard entry.size >= 0, entry.pos >= 0, entry.pos <= fileSize,
      Int64(entry.size) <= fileSize - entry.pos
    else { throw UprightError(.badData, "ends before its last frame", at: url) }
    let start = Int(entry.pos)
    let bytes = try head(of: start..<start + Int(entry.size))
    var packet = try Packet()
    guard av_new_packet(packet.raw, CInt(clamping: bytes.count)) >= 0 else {
      throw outOfMemory("packet")
    }
    packet.raw.pointee.data.update(from: bytes, count: bytes.count)
    packet.raw.pointee.pos = entry.pos
    packet.omittedBytes = Int(entry.size) - bytes.count
    packet.streamIndex = Int(stream.pointee.index)
    packet.timeBase = timeBase
    packet.dts = Self.sum(times.decoding[sample], shift.decoding)
    packet.pts = Self.sum(times.composition[sample], shift.composition)
    packet.isKey = entry.flags & AVINDEX_KEYFRAME != 0
    packet.isDiscarded = entry.flags & AVINDEX_DISCARD_FRAME != 0
    sample += 1
    return packet
  }

  private static func sum(_ time: Int64, _ shift: Int64) -> Int64 {
    Int64(clamping: Int128(time) + Int128(shift))
  }

  /// Returns the NAL units of a sample, slices without most of their bytes.
  private func head(of whole: Range<Int>) throws(UprightError) -> [UInt8] {
    var bytes: [UInt8] = []
    var place = whole.lowerBound
    while place < whole.upperBound {
      let rest = whole.upperBound - place - lengthSize
      guard rest > 0 else { return try read(whole) }
      let start = try read(place..<place + lengthSize + 1)
      let length = start.dropLast().reduce(0) { $0 << 8 | Int($1) }
      // Not what the configuration says.
      guard length > 0, length <= rest, let first = start.last else { return try read(whole) }
      let isSlice = codec == .h264 ? (1...5).contains(first & 31) : first >> 1 & 63 < 32
      let kept = isSlice ? min(length, Self.sliceHead) : length
      for byte in (0..<lengthSize).reversed() {
        bytes.append(UInt8(truncatingIfNeeded: kept >> (8 * byte)))
      }
      bytes += try read(place + lengthSize..<place + lengthSize + kept)
      place += lengthSize + length
    }
    return bytes
  }

  private func read(_ range: Range<Int>) throws(UprightError) -> [UInt8] {
    if range.lowerBound < windowStart || range.upperBound > windowStart + windowCount {
      if range.count > window.count {
        window = [UInt8](repeating: 0, count: range.count)
      }
      (windowStart, windowCount) = (range.lowerBound, 0)
      while windowCount < range.count {
        let count = window.withUnsafeMutableBytes {
          pread(
            file, $0.baseAddress?.advanced(by: windowCount), $0.count - windowCount,
            off_t(windowStart + windowCount))
        }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else {
          throw UprightError(.badData, "ends before its last frame", at: url)
        }
        windowCount += count
      }
    }
    let start = range.lowerBound - windowStart
    return Array(window[start..<start + range.count])
  }
}
