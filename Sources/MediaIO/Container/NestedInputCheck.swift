internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Glibc

/// Checks every file and URL that libavformat opens for one input: the input itself, and the entries of a
/// playlist.
///
/// Without the check, a playlist that refers to itself, or two that refer to each other, would be read
/// indefinitely. An entry of a playlist in a local file must be a regular file in the same folder or below
/// it. libavformat reads only what `PlaylistText` passes, and nothing of a playlist with which it would crash. One in a
/// local file always has an end: what is there is read at once, because nothing says whether the file still grows.
final class NestedInputCheck {
  private typealias Open =
    @convention(c) (
      UnsafeMutablePointer<AVFormatContext>?,
      UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
      UnsafePointer<CChar>?, CInt, UnsafeMutablePointer<OpaquePointer?>?
    ) -> CInt

  private let next: Open
  private let input: String
  /// The folder of a playlist in a local file, without symbolic links.
  private let folder: String?
  /// How often each URL was opened. `nil` once the input is open, because a live playlist is read again and
  /// again.
  private var opened: [String: Int]? = [:]
  private(set) var refusal: String?
  /// Whether `refusal` is of the whole input, and not of one of several variants.
  private(set) var isRefused = false
  private let allowsPlaylists: Bool
  /// The URIs of the variants and of the keys in the playlists so far.
  private var variants: Set<String> = []
  private var keys: Set<String> = []
  /// The URIs of the segments behind a discontinuity, by the URL of the playlist. A live one replaces its own.
  private var seams: [String: Set<String>] = [:]
  /// The playlists with several init segments, by their URLs.
  private var mapped: [String: MappedSegments] = [:]
  /// The number of discontinuities of the playlist up to the segment that is read.
  private(set) var discontinuities = 0
  /// The renditions that are left out (`PlaylistText.unread`).
  private(set) var unread: [String] = []
  /// What of a playlist could not be read, which libavformat leaves out.
  private var missing: [String] = []
  /// Whether a playlist's first segment is encrypted, and whether a key was read.
  private var (needsKey, hasKey) = (false, false)
  /// The first bytes of the input, as far as one read returned them.
  private var start: [UInt8] = []

  /// Why the input can't be read. FFmpeg 9 doesn't open a segment whose key it couldn't open.
  var reason: String? { refusal ?? (needsKey && !hasKey ? "its key can't be read" : nil) }

  /// How the files begin that only name others: ffconcat scripts, session descriptions, manifests.
  private static let scripts = ["ffconcat version", "v=0", "<?xml", "<MPD"]

  /// Whether the input only names others, and isn't an HLS playlist that may do so.
  var isScript: Bool {
    let refused = allowsPlaylists ? Self.scripts : Self.scripts + ["#EXTM3U"]
    return refused.contains { start.starts(with: $0.utf8) }
  }

  /// How often one URL may be opened before the input is open: as a playlist, then for its first segment.
  private static let repetitions = 3
  /// How many URLs may be opened before the input is open: a playlist and a segment for each variant and
  /// track.
  private static let maxOpened = 256

  /// Installs itself in front of the context's `io_open`. The owner of the context keeps this object alive.
  init?(_ context: UnsafeMutablePointer<AVFormatContext>, input: String) {
    guard let next = context.pointee.io_open else { return nil }
    self.next = next
    self.input = input
    allowsPlaylists = InputTrust(url: input).allowsPlaylists
    let isLocal = InputTrust.scheme(of: input) == nil || input.hasPrefix("file:")
    folder = isLocal ? Self.folder(of: Self.path(input)) : nil
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    context.pointee.io_open = { context, io, url, flags, options in
      guard let context, let url, let opaque = context.pointee.opaque else {
        return upright_averror(EINVAL)
      }
      let inputs = Unmanaged<NestedInputCheck>.fromOpaque(opaque).takeUnretainedValue()
      let address = String(cString: url)
      var code = upright_averror_invaliddata()
      let file = inputs.unescaped(address) ?? address
      if inputs.accepts(address, file) {
        code = file.withCString { inputs.next(context, io, $0, flags, options) }
      }
      let opened = code < 0 ? nil : io?.pointee
      guard inputs.allows(opened, at: address) else {
        if code >= 0 { avio_closep(io) }
        return code < 0 ? code : upright_averror_invaliddata()
      }
      return code
    }
  }

  /// Returns whether libavformat may read what was opened at `url`; `nil` if it could not be opened.
  private func allows(_ io: UnsafeMutablePointer<AVIOContext>?, at url: String) -> Bool {
    guard url == input || allowsPlaylists else { return true }
    let buffered = io.map(Self.firstBytes) ?? []
    let first = Array(buffered.prefix(16))
    if url == input, start.isEmpty { start = first }
    let isPlaylist = first.starts(with: PlaylistText.start)
    if PlaylistText.contains(url, in: keys) {
      guard first.count == 16 else { return refuse("its key \(url) can't be read") }
      hasKey = true
    } else if needsKey, !hasKey, !isPlaylist, !first.isEmpty {
      // libavformat goes on without a key, and doesn't open one whose name has no usual ending.
      return refuse("the key of \(url) can't be read")
    }
    if io == nil { note(missing: url) }
    guard let io, allowsPlaylists, isPlaylist else {
      if seams.values.contains(where: { PlaylistText.contains(url, in: $0) }) {
        discontinuities += 1
      }
      return io.map { fits($0, buffered, at: url) } ?? true
    }
    guard let text = Self.whole(io, PlaylistText.limit) else {
      return refuse("\(url) is larger than \(PlaylistText.limit) bytes")
    }
    let playlist = PlaylistText(text)
    if let reason = playlist.refusal { return refuse("\(url): \(reason)") }
    // It is opened for the first time, before all others. libavformat crashes with variants of variants.
    let isFirst = url == input && opened?[url] == 1
    if !isFirst, !playlist.variants.isEmpty {
      return refuse("it refers to \(url), which has variants itself")
    }
    // libavformat leaves out a variant without segments, and crashes with such a rendition.
    if opened != nil, playlist.segments == 0, playlist.variants.isEmpty {
      if !PlaylistText.contains(url, in: variants) { _ = refuse("\(url) has no segments") }
      return false
    }
    variants.formUnion(playlist.variants)
    if isFirst { unread = playlist.unread }
    keys.formUnion(playlist.keys)
    seams[url] = Set(playlist.discontinuities)
    if playlist.maps.count > 1 || mapped[url] != nil {
      mapped[url, default: MappedSegments()].update(playlist)
    }
    needsKey = needsKey || playlist.needsKey
    let isEndless = folder != nil && playlist.variants.isEmpty && !playlist.isEnded
    return Self.replaceBuffer(
      of: io, by: playlist.passed + (isEndless ? PlaylistText.end : []))
  }

  /// Returns whether a segment can be read by libavformat, which uses only the first init segment of a playlist. Those of
  /// others get their parameter sets.
  private func fits(
    _ io: UnsafeMutablePointer<AVIOContext>, _ bytes: [UInt8], at url: String
  ) -> Bool {
    for playlist in mapped.keys {
      switch mapped[playlist]?.change(of: url, bytes, whole: { Self.whole(io, Self.longest) }) {
      case nil: continue
      case .refused: return refuse("\(url) has other tracks than the segments before it")
      case .replaced(let segment): return Self.replaceBuffer(of: io, by: segment)
      }
    }
    return true
  }

  /// The longest segment that is changed, in bytes.
  private static let longest = 256 << 20

  /// What is missing, as a text for the user; `nil` if nothing is.
  var loss: String? {
    missing.first.map { first in
      missing.count > 1
        ? "\(missing.count) segments can't be read, the first is \(first)"
        : "\(first) can't be read"
    }
  }

  private func note(missing url: String) {
    guard url != input, !PlaylistText.contains(url, in: variants) else { return }
    let name = folder == nil ? url : Self.path(url)
    if missing.count < Self.maxOpened, !missing.contains(name) { missing.append(name) }
  }

  private func refuse(_ reason: String) -> Bool {
    (refusal, isRefused) = (reason, true)
    return false
  }

  /// Returns the bytes that one read gives. They stay in the buffer of `io`, so that the demuxer
  /// reads them too.
  private static func firstBytes(of io: UnsafeMutablePointer<AVIOContext>) -> [UInt8] {
    _ = avio_r8(io)
    defer { avio_seek(io, 0, SEEK_SET) }
    return Array(
      UnsafeBufferPointer(start: io.pointee.buffer, count: io.pointee.buf_end - io.pointee.buffer))
  }

  /// Reads all bytes; `nil` if there are more than `limit`.
  private static func whole(
    _ io: UnsafeMutablePointer<AVIOContext>, _ limit: Int
  ) -> [UInt8]? {
    var (text, piece) = ([UInt8](), [UInt8](repeating: 0, count: 32 << 10))
    while case let count = avio_read(io, &piece, CInt(clamping: piece.count)), count > 0 {
      text += piece.prefix(Int(count))
      if text.count > limit { return nil }
    }
    return text
  }

  /// Lets `io` begin with `text`, all that it gives, as libavformat does with the bytes that it has read to find
  /// the format. The context stays that of its protocol, whose options are passed on to the entries.
  private static func replaceBuffer(
    of io: UnsafeMutablePointer<AVIOContext>, by text: [UInt8]
  ) -> Bool {
    guard let buffer = av_memdup(text, text.count) else { return false }
    av_freep(&io.pointee.buffer)
    let start = buffer.assumingMemoryBound(to: UInt8.self)
    (io.pointee.buffer, io.pointee.buffer_size) = (start, CInt(clamping: text.count))
    (io.pointee.buf_ptr, io.pointee.buf_end) = (start, start + text.count)
    (io.pointee.pos, io.pointee.eof_reached) = (Int64(text.count), 0)
    return true
  }

  /// Marks the input as open. From then on URLs may repeat.
  func finishOpening() { opened = nil }

  /// - Parameter file: The URL that is opened for it.
  private func accepts(_ url: String, _ file: String) -> Bool {
    if url != input, let folder, !Self.isRegularFile(Self.path(file), in: folder) {
      refusal = "it refers to \(url), which is not a regular file in its folder"
      return false
    }
    guard var opened else { return true }
    opened[url, default: 0] += 1
    self.opened = opened
    if opened[url, default: 0] > Self.repetitions {
      refusal = "it refers to itself, directly or through another playlist"
      return false
    }
    if opened.count > Self.maxOpened {
      refusal = "it refers to more than \(Self.maxOpened) playlists and segments at the start"
      return false
    }
    return true
  }

  /// Returns the URL of a file without the percent encoding of its name in the playlist, which libavformat keeps; `nil` if a
  /// file has the encoded name, or there is no encoding.
  private func unescaped(_ url: String) -> String? {
    guard url != input, folder != nil, url.contains("%"), Self.realPath(Self.path(url)) == nil
    else { return nil }
    var (bytes, rest) = ([UInt8](), Array(url.utf8)[...])
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let code = UInt8(digits, radix: 16) {
        bytes.append(code)
        rest.removeFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the path in a URL that libavformat opens: `crypto+file:a.ts`, `file:a.ts`, `a.ts`.
  private static func path(_ url: String) -> String {
    var path = Substring(url)
    for prefix in ["crypto+", "crypto:", "file:"] where path.hasPrefix(prefix) {
      path = path.dropFirst(prefix.utf8.count)
    }
    return String(path)
  }

  private static func folder(of path: String) -> String? {
    guard let real = realPath(path), let slash = real.lastIndex(of: "/") else { return nil }
    return String(real[...slash])
  }

  private static func isRegularFile(_ path: String, in folder: String) -> Bool {
    var status = stat()
    guard let real = realPath(path), real.hasPrefix(folder), stat(real, &status) == 0 else {
      return false
    }
    return status.st_mode & S_IFMT == S_IFREG
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}
