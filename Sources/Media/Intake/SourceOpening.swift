package import UprightOrientation
package import UprightMediaIO

/// Opens a packet source: a Janus recording if the first bytes or the format `mjr` identify one, otherwise
/// any file that libavformat reads.
///
/// - Parameter audio: The audio recording that belongs to a video recording; `nil` if there is none.
/// - Throws: `usage` if `audio` is given for anything else, and the errors of the sources.
package func openSource(
  _ url: String, format: String? = nil, audio: String? = nil, interrupt: Interrupt = Interrupt()
) throws(UprightError) -> any PacketSource {
  if format?.lowercased() == "mjr" || (format == nil && JanusFile.recognises(url)) {
    return try JanusSource(video: url, audio: audio, interrupt: interrupt)
  }
  if audio != nil {
    throw UprightError(
      .usage, "the input is not a Janus recording and contains its audio", at: "--audio",
      remedy: "remove it, or give a video recording (.mjr) as input")
  }
  do throws(UprightError) {
    return try Demuxer(url: url, format: format, interrupt: interrupt)
  } catch {
    guard error.code == .badData, let file = ByteSource(regularFile: url) else { throw error }
    let (reason, remedy): (String, String)
    if let picture = MovieIndex.picture(in: file) {
      (reason, remedy) = ("\(picture) is not supported as input", "convert it to JPEG or PNG")
    } else if MovieIndex.isMissing(in: file) {
      (reason, remedy) = ("no index (moov); it may be truncated", error.remedy)
    } else {
      throw error
    }
    var reported = UprightError(
      .badData, "not a readable media file: \(reason)", at: url, remedy: remedy, cause: error)
    reported.library = error.library
    throw reported
  }
}

extension PacketSource {
  /// Opens the same input again, from its start: a file whose streams are known at once.
  ///
  /// - Throws: The errors of `openSource`.
  package func reopened(format: String?) throws(UprightError) -> any PacketSource {
    guard let first = self as? Demuxer else { return try openSource(url, format: format) }
    return try Demuxer(again: first, format: format)
  }
}
