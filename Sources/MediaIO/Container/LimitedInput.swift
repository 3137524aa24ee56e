internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Glibc
internal import UprightOrientation

/// Ends a raw stream of H.264 or HEVC, or a transport stream, where an access unit exceeds `NALUnitLimit`. Keeps the
/// codecs of a transport stream's streams as they were declared first.
///
/// libavformat's parser collects whole access units before any packet is returned. It replaces the I/O context of an
/// open `AVFormatContext` by one that reads from it.
final class LimitedInput {
  private enum Counter {
    case stream(NALUnitCounter, AVCodecID)
    case transport(TransportUnitCounter)
  }

  private let owner: UnsafeMutablePointer<AVFormatContext>
  private let source: UnsafeMutablePointer<AVIOContext>
  private var context: UnsafeMutablePointer<AVIOContext>?
  private var counter: Counter
  /// The beginning of a packet of a transport stream whose rest isn't there yet.
  private var incomplete: [UInt8] = []
  /// The streams that go on in another codec, and the position where that is declared first.
  var changes: [TransportTables.Change: Int64] {
    if case .transport(let units) = counter { units.changes } else { [:] }
  }
  /// Whether the input was ended.
  private(set) var isExceeded = false
  /// Whether the input ends where video goes on in another codec.
  var endsAtOtherVideo = false

  /// Returns `nil` if `owner` has another format, or reads from no I/O context.
  init?(_ owner: UnsafeMutablePointer<AVFormatContext>) throws(UprightError) {
    switch String(cString: owner.pointee.iformat.pointee.name) {
    case "h264": counter = .stream(NALUnitCounter(), AV_CODEC_ID_H264)
    case "hevc": counter = .stream(NALUnitCounter(), AV_CODEC_ID_HEVC)
    case "mpegts": counter = .transport(TransportUnitCounter())
    default: return nil
    }
    guard let source = owner.pointee.pb else { return nil }
    self.owner = owner
    self.source = source
    let size = 32 << 10
    guard let buffer = av_malloc(size) else { throw outOfMemory("input") }
    context = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), CInt(size), 0, nil,
      { opaque, bytes, count in
        guard let opaque, let bytes else { return upright_averror_eof() }
        return Unmanaged<LimitedInput>.fromOpaque(opaque).takeUnretainedValue().read(bytes, count)
      }, nil,
      { opaque, offset, whence in
        guard let opaque else { return -1 }
        return Unmanaged<LimitedInput>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
      })
    guard let context else {
      av_free(buffer)
      throw outOfMemory("input")
    }
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    context.pointee.seekable = source.pointee.seekable
    context.pointee.pos = avio_seek(source, 0, SEEK_CUR)
    context.pointee.bytes_read = context.pointee.pos
    owner.pointee.pb = context
  }

  deinit {
    guard let context else { return }
    av_freep(&context.pointee.buffer)
    avio_context_free(&self.context)
  }

  /// Gives the owner its own I/O context back, which it closes itself.
  func restore() { owner.pointee.pb = source }

  /// The error of an input that was ended.
  ///
  /// - Parameter remedy: What is left of it.
  func error(at url: String, remedy: String = "") -> UprightError {
    UprightError(
      .badData,
      "an access unit has more than \(NALUnitLimit.units) NAL units or \(NALUnitLimit.bytes >> 20) MiB",
      at: url, remedy: remedy)
  }

  private func read(_ bytes: UnsafeMutablePointer<UInt8>, _ count: CInt) -> CInt {
    if isExceeded { return upright_averror_invaliddata() }
    if endsAtOtherVideo, changes.keys.contains(where: \.isVideo) { return upright_averror_eof() }
    while true {
      let kept = incomplete.prefix(Int(count))
      for (index, byte) in kept.enumerated() { bytes[index] = byte }
      let rest = count - CInt(kept.count)
      let got = rest > 0 ? avio_read_partial(source, bytes + kept.count, rest) : 0
      guard got > 0 else {
        // What is left at the end is no packet.
        guard got == 0 || got == upright_averror_eof(), !kept.isEmpty else {
          return got == 0 ? upright_averror_eof() : got
        }
        incomplete.removeFirst(kept.count)
        return CInt(kept.count)
      }
      incomplete = []
      let whole = examine(UnsafeMutableRawBufferPointer(start: bytes, count: kept.count + Int(got)))
      if isExceeded { return upright_averror_invaliddata() }
      if whole > 0 { return CInt(whole) }
    }
  }

  /// Returns how many of the bytes can be passed on. The rest is kept until more is there.
  private func examine(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
    switch counter {
    case .stream(var units, let codec):
      counter = .stream(NALUnitCounter(), AV_CODEC_ID_NONE)
      units.read(UnsafeRawBufferPointer(bytes))
      counter = .stream(units, codec)
      isExceeded = units.isExceeded(as: codec)
      return bytes.count
    case .transport(var units):
      counter = .stream(NALUnitCounter(), AV_CODEC_ID_NONE)
      let start = avio_seek(source, 0, SEEK_CUR) - Int64(bytes.count)
      let whole = units.read(bytes, at: start)
      counter = .transport(units)
      incomplete = Array(bytes[whole...])
      // A stream's codec may be known only later.
      isExceeded = (0..<Int(owner.pointee.nb_streams)).contains { index in
        guard let stream = owner.pointee.streams[index]?.pointee else { return false }
        return units.isExceeded(pid: Int(stream.id), as: stream.codecpar.pointee.codec_id)
      }
      return whole
    }
  }

  private func seek(_ offset: Int64, _ whence: CInt) -> Int64 {
    if whence & AVSEEK_SIZE != 0 { return avio_size(source) }
    let position = avio_seek(source, offset, whence)
    guard position >= 0, case .transport(var units) = counter else { return position }
    incomplete = []
    units.restart()
    counter = .transport(units)
    return position
  }
}
