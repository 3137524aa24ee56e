package import UprightMediaIO

/// What frames lose by being encoded, as texts for the user.
package enum EncodingLosses {
  package static let toneMapping = "HDR: tone-mapped to BT.709 in 8 bits (--codec hevc keeps it)"
  package static let captions = "closed captions (CEA-608/708): the encoder does not write them"

  /// Returns what `frame` loses in an encoder with `settings`.
  package static func of(
    _ frame: borrowing VideoFrame, _ settings: VideoEncoder.Settings, container: String
  ) -> [String] {
    let (source, target) = (frame.format, settings.format)
    var losses: [String] = []
    if target.bitDepth < source.bitDepth {
      losses.append(
        "\(source.bitDepth)-bit samples: encoded with \(target.bitDepth) bits"
          + (target.bitDepth < 10 ? " (--codec hevc keeps 10)" : ""))
    }
    if let (name, encoded) = chroma(source, target) {
      losses.append("\(name): encoded as \(encoded)")
    }
    if !settings.codec.carriesHDR && !frame.colour.hdr.isEmpty {
      losses.append("HDR10 mastering data: \(container) can't store it")
    }
    if frame.hasCaptions && !settings.carriesCaptions {
      losses.append(captions)
    }
    return losses
  }

  /// Returns the names of both samplings if `target` has fewer chroma samples.
  private static func chroma(
    _ source: PixelFormat, _ target: PixelFormat
  ) -> (String, String)? {
    guard !source.isMonochrome, let encoded = target.chromaName else { return nil }
    let (old, new) = (source.chromaShift, target.chromaShift)
    guard new.x > old.x || new.y > old.y else { return nil }
    return (source.isRGB ? "RGB" : "\(source.chromaName ?? source.name) chroma", encoded)
  }
}
