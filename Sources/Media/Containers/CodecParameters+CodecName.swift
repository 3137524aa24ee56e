internal import UprightSignals
package import UprightMediaIO

extension CodecParameters {
  /// The name of the stream in `CODECS` (RFC 6381, 3.3); `nil` if it has none, or can't be told.
  package var codecString: String? {
    switch codecName {
    case "h264": CodecName.name(extradata, codec: .h264)
    // The sample entries of segments are hvc1.
    case "hevc": CodecName.name(extradata, codec: .hevc)
    case "av1": CodecName.av1(extradata, depth: pixelFormat?.bitDepth ?? 8)
    case "aac": CodecName.aac(extradata)
    // Audio object type 34: Layer 3.
    case "mp3": "mp4a.40.34"
    case "ac3": "ac-3"
    case "eac3": "ec-3"
    case "opus": "opus"
    default: nil
    }
  }
}
