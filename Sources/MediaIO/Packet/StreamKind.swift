/// The kind of content in a stream.
public enum StreamKind: String, Sendable, CaseIterable {
  /// Video, or a cover picture.
  case video
  /// Audio.
  case audio
  /// Subtitles, as text or as bitmaps.
  case subtitle
  /// Timed data, such as Apple's orientation track.
  case data
  /// A file that the container carries, such as a font.
  case attachment
  /// Anything else.
  case unknown
}
