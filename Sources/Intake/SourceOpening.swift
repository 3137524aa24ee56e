internal import Foundation
package import UprightMediaIO

/// Opens what packets come from: a Janus recording, known by its first bytes or by `format` being
/// `mjr`, else whatever libavformat reads.
///
/// - Parameter sound: the recording of the sound beside that of the pictures; nil: none.
/// - Throws: `usage` where sound is given for anything else, and as the sources do.
package func openSource(
  _ url: String, format: String? = nil, sound: String? = nil, interrupt: Interrupt = Interrupt()
) throws(UprightError) -> any PacketSource {
  if format?.lowercased() == "mjr" || (format == nil && JanusFile.recognises(url)) {
    return try JanusSource(pictures: url, sound: sound, interrupt: interrupt)
  }
  if sound != nil {
    throw UprightError(
      .usage, "the input is no Janus recording and brings its own sound", at: "--audio",
      remedy: "leave it out, or give a recording of pictures (.mjr)")
  }
  return try Demuxer(url: url, format: format, interrupt: interrupt)
}
