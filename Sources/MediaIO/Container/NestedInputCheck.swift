internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Glibc

/// Checks every file and URL that libavformat opens for one input: the input itself, and the entries of a
/// playlist.
///
/// Without the check, a playlist that refers to itself, or two that refer to each other, would be read
/// indefinitely. An entry of a playlist in a local file must be a regular file in the same folder or below
/// it.
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
  /// The first bytes of the input, as far as one read returned them.
  private var start: [UInt8] = []

  /// How the files begin that only name others: ffconcat scripts, session descriptions, manifests.
  private static let scripts = ["ffconcat version", "v=0", "<?xml", "<MPD"]

  /// Whether the input only names others, and isn't an HLS playlist that may do so.
  var isScript: Bool {
    let refused = InputTrust(url: input).allowsPlaylists ? Self.scripts : Self.scripts + ["#EXTM3U"]
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
    let isLocal = InputTrust.scheme(of: input) == nil || input.hasPrefix("file:")
    folder = isLocal ? Self.folder(of: Self.path(input)) : nil
    context.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    context.pointee.io_open = { context, io, url, flags, options in
      guard let context, let url, let opaque = context.pointee.opaque else {
        return upright_averror(EINVAL)
      }
      let inputs = Unmanaged<NestedInputCheck>.fromOpaque(opaque).takeUnretainedValue()
      let address = String(cString: url)
      guard inputs.accepts(address) else { return upright_averror_invaliddata() }
      let code = inputs.next(context, io, url, flags, options)
      if code >= 0, address == inputs.input, let io = io?.pointee { inputs.look(at: io) }
      return code
    }
  }

  /// Keeps the first bytes of the input. They stay in the buffer of `io`, so that the demuxer reads them too.
  private func look(at io: UnsafeMutablePointer<AVIOContext>) {
    guard start.isEmpty else { return }
    _ = avio_r8(io)
    start = Array(
      UnsafeBufferPointer(start: io.pointee.buffer, count: io.pointee.buf_end - io.pointee.buffer)
        .prefix(16))
    avio_seek(io, 0, SEEK_SET)
  }

  /// Marks the input as open. From then on URLs may repeat.
  func finishOpening() { opened = nil }

  private func accepts(_ url: String) -> Bool {
    if url != input, let folder, !Self.isRegularFile(Self.path(url), in: folder) {
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
