public import UprightOrientation
internal import UprightMedia

/// What a multivariant playlist says of a source: known before any segment is made. Peaks are rates that no segment exceeds.
public struct SegmentVariant: Sendable, Hashable, Codable {
  /// A track that viewers may choose.
  public struct Track: Sendable, Hashable, Codable {
    /// The name for viewers. No two tracks have the same.
    public var name: String
    /// The language by ISO 639 or BCP 47; `nil` if it is unknown.
    public var language: String?
  }

  /// An audio track.
  public struct Audio: Sendable, Hashable, Codable {
    /// What it is called, and its language.
    public var track: Track
    /// The number of channels; `nil` if it is unknown.
    public var channels: Int?
    /// Its name in `CODECS` (RFC 6381); `nil` if it has none.
    public var codec: String?
    /// In bits per second.
    public var peak: Double
    /// In bits per second; what is usual if the input doesn't say.
    public var average: Double
  }

  /// The peak of the rate of the video, in bits per second.
  public var peak: Double
  /// The average of the rate of the video, in bits per second; for frames that are encoded, what is usual for their size.
  public var average: Double
  /// The peak of the rate of the keyframes alone.
  public var keyframesPeak: Double
  /// The names of the formats in `CODECS` (RFC 6381); empty if one has none.
  public var codecs: [String]
  /// The size of the first format.
  public var size: PixelSize
  /// The frame rate, in frames per second; `nil` if it varies.
  public var frameRate: Double?
  /// `HLG` or `PQ`; `nil` for frames with a standard dynamic range.
  public var range: String?
  /// The audio tracks. The first is that which players choose by themselves.
  public var audio: [Audio]
  /// The tracks of text captions.
  public var captions: [Track]

  /// Returns the multivariant playlist (RFC 8216, 4.3.4) of sources of one file in several sizes.
  ///
  /// - Parameter variants: Each with the folder of its files. Audio and captions are those of the first one.
  public static func playlist(of variants: [(variant: SegmentVariant, folder: String)]) -> String {
    func uri(_ folder: String, _ content: SegmentContent) -> String {
      folder + "/" + SegmentFile.playlist(content).name
    }
    let listed = variants.map { variant, folder in
      var listed = MultivariantText.Variant(
        uri: uri(folder, .video), peak: variant.peak, average: variant.average,
        codecs: variant.codecs, size: variant.size,
        frameRate: variant.frameRate.map { Rational(Int(clamping: ($0 * 1000).rounded()), 1000) })
      listed.range = variant.range
      listed.keyframes = (uri(folder, .keyframes), variant.keyframesPeak)
      return listed
    }
    let audio = variants.first.map { first in
      first.variant.audio.enumerated().map { index, audio in
        MultivariantText.Audio(
          uri: uri(first.folder, .audio(index)), name: audio.track.name, peak: audio.peak,
          average: audio.average, codec: audio.codec, channels: audio.channels,
          language: audio.track.language)
      }
    }
    var text = MultivariantText(version: 7, variants: listed, audio: audio ?? [])
    if let (first, folder) = variants.first {
      text.captions = first.captions.enumerated().map { index, track in
        .init(
          uri: folder + "/" + SegmentFile.captionsPlaylist(index).name, name: track.name,
          language: track.language)
      }
    }
    return text.text
  }
}
