internal import CUprightFFmpeg
internal import CUprightFFmpegShims
internal import Glibc
internal import UprightOrientation

extension Demuxer {
  /// Returns the error for a failed reading of a packet; `nil` at the end.
  static func readError(_ code: CInt, at url: String) -> UprightError? {
    switch code {
    case upright_averror_eof(): nil
    case upright_averror_exit(): UprightError(.cancelled, "stopped", at: url)
    // Demuxers return these codes for sizes and counts that no file can have.
    case upright_averror_invaliddata(), upright_averror(ENOMEM), upright_averror(EINVAL),
      upright_averror(ERANGE):
      UprightError(
        .badData, "damaged: \(explain(code))", at: url, remedy: keptRemedy
      ).reporting(code)
    // Nothing is wrong with the connection.
    case upright_averror_patchwelcome():
      UprightError(
        .badData, "the linked FFmpeg can't read what follows: \(explain(code))", at: url,
        remedy: keptRemedy
      ).reporting(code)
    default:
      UprightError(
        .inputOutput, "reading failed: \(explain(code))", at: url,
        remedy: "check the file or the connection"
      ).reporting(code)
    }
  }

  /// The error of an MP4 or MOV input that can't be read twice and of which no frame could be read.
  static func unread(_ url: String) -> UprightError {
    UprightError(
      .badData, "its index is behind its frames, and it can't be read twice; or it is cut off",
      at: url,
      remedy: "give the file's name, or move the index to the start (ffmpeg -movflags +faststart)")
  }

  /// Returns the error for a failed opening, or for an input without streams if `code` is 0.
  static func openError(
    _ code: CInt, url: String, _ nested: NestedInputCheck?, _ redirects: RedirectGuard?
  ) -> UprightError {
    // A stream without packets is no error of the library.
    let error = openError(code, url, nested, redirects)
    return code < 0 ? error.reporting(code) : error
  }

  private static func openError(
    _ code: CInt, _ url: String, _ nested: NestedInputCheck?, _ redirects: RedirectGuard?
  ) -> UprightError {
    if let reason = nested?.reason {
      return UprightError(
        .badData, "the playlist cannot be read: \(reason)", at: url,
        remedy: "use the media file itself")
    }
    return switch code {
    case upright_averror(EINVAL) where redirects?.isActive == true:
      UprightError(
        .unavailable, "the server redirects to another address: not followed", at: url,
        remedy: "use the address of the stream itself")
    case upright_averror(ENOENT):
      UprightError(.noInput, "no such file", at: url, remedy: "check the path")
    case upright_averror(EACCES), upright_averror(EPERM):
      UprightError(.noInput, "permission denied", at: url, remedy: "make it readable")
    case upright_averror(EISDIR):
      UprightError(.noInput, "is a folder", at: url, remedy: "name a media file")
    case upright_averror(ECONNREFUSED), upright_averror(ETIMEDOUT), upright_averror(EIO),
      upright_averror(ECONNRESET), upright_averror(ENETUNREACH), upright_averror(EHOSTUNREACH),
      _ where upright_is_http_error(code):
      UprightError(
        .noInput, "cannot be read: \(explain(code))", at: url, remedy: "check the address")
    case upright_averror_protocol_not_found():
      UprightError(
        .unavailable, "the linked FFmpeg has no such protocol", at: url,
        remedy: "use a file, rtmp, srt or http address")
    case upright_averror_exit():
      UprightError(.cancelled, "stopped", at: url)
    default: notMedia(code, url: url, isScript: nested?.isScript == true)
    }
  }

  private static func notMedia(_ code: CInt, url: String, isScript: Bool) -> UprightError {
    if isScript {
      return UprightError(
        .badData, "a playlist or script with the name of a media file: its entries are not read",
        at: url, remedy: "use the media file itself, or name an HLS playlist .m3u8")
    }
    // `EINVAL`: no demuxer that `InputTrust` allows. libavformat would list them all.
    let reason =
      code == upright_averror(EINVAL) ? "its format is not supported" : explain(code)
    return UprightError(
      .badData, "not a readable media file: \(reason)", at: url,
      remedy: "expected MP4, MOV, Matroska, WebM, MPEG-TS, FLV, HLS or raw H.264/HEVC")
  }
}
