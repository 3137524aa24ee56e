/// Which tracks the segments of a playlist hold.
public enum SegmentContent: Sendable, Hashable, Codable {
  /// The video, and the audio track that players choose by themselves.
  case all
  /// The video alone.
  case video
  /// One audio track, by its index in `SegmentVariant.audio`.
  case audio(Int)
  /// The first frame of each segment of the video, which is a keyframe: for playback that is much faster, and for seeking
  /// (RFC 8216, 4.3.3.6).
  case keyframes

  /// What their names begin with.
  fileprivate var prefix: String {
    switch self {
    case .all: ""
    case .video: "video-"
    case .audio(let track): "audio-\(track)-"
    case .keyframes: "keyframes-"
    }
  }

  fileprivate init?(_ words: ArraySlice<Substring>) {
    switch (words.first, words.count) {
    case (nil, 0): self = .all
    case ("video", 1): self = .video
    case ("keyframes", 1): self = .keyframes
    case ("audio", 2):
      guard let track = words.last.flatMap({ Int($0) }) else { return nil }
      self = .audio(track)
    default: return nil
    }
  }
}

/// A file of a `SegmentSource`, as the playlists name it. All are in one folder.
public enum SegmentFile: Sendable, Hashable, Codable {
  /// A media playlist: `index.m3u8`, `video.m3u8`, `audio-0.m3u8`, `keyframes.m3u8`.
  case playlist(SegmentContent)
  /// The init segment of a format: `init-0.mp4`, `audio-0-init-0.mp4`.
  case initial(Int, SegmentContent)
  /// A segment: `17.m4s`, `video-17.m4s`, `audio-0-17.m4s`, `keyframes-17.m4s`.
  case segment(Int, SegmentContent)
  /// The media playlist of a track of captions, by its index in `SegmentVariant.captions`: `captions-0.m3u8`.
  case captionsPlaylist(Int)
  /// Its captions while a format of the video lasts, as WebVTT: `captions-0-1.vtt`.
  case captions(Int, format: Int)
  /// The list of small pictures for a seek bar, as WebVTT: `sprites.vtt`.
  case sprites
  /// A sheet of such pictures, as a JPEG: `sprites-0.jpg`.
  case spriteSheet(Int)

  /// The name, without a folder.
  public var name: String {
    switch self {
    case .playlist(.all): "index.m3u8"
    case .playlist(let content): "\(content.prefix.dropLast()).m3u8"
    // They have the same format.
    case .initial(let format, .keyframes): Self.initial(format, .video).name
    case .initial(let format, let content): "\(content.prefix)init-\(format).mp4"
    case .segment(let index, let content): "\(content.prefix)\(index).m4s"
    case .captionsPlaylist(let track): "captions-\(track).m3u8"
    case .captions(let track, let format): "captions-\(track)-\(format).vtt"
    case .sprites: "sprites.vtt"
    case .spriteSheet(let sheet): "sprites-\(sheet).jpg"
    }
  }

  /// The file with a name; `nil` if none has it.
  public init?(_ name: some StringProtocol) {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    var words = Substring(name[..<dot]).split(separator: "-", omittingEmptySubsequences: false)[...]
    let last = words.last.flatMap { Int($0) }
    switch (name[name.index(after: dot)...], last) {
    case ("m3u8", let track?) where words.dropLast() == ["captions"]:
      self = .captionsPlaylist(track)
    case ("vtt", let format?):
      guard words.count == 3, words.first == "captions",
        let track = Int(words[words.startIndex + 1])
      else { return nil }
      self = .captions(track, format: format)
    case ("vtt", nil): self = .sprites
    case ("jpg", let sheet?): self = .spriteSheet(sheet)
    case ("m3u8", _):
      guard let content = words == ["index"] ? .all : SegmentContent(words) else { return nil }
      self = .playlist(content)
    case ("m4s", let index?):
      guard let content = SegmentContent(words.dropLast()) else { return nil }
      self = .segment(index, content)
    case ("mp4", let format?):
      words.removeLast()
      guard words.popLast() == "init", let content = SegmentContent(words) else { return nil }
      self = .initial(format, content)
    default: return nil
    }
    // Each file has one name: numbers have no sign and no leading zero.
    guard self.name == name, last ?? 0 >= 0 else { return nil }
  }
}
