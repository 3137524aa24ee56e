/// The media types of HLS files, by the extension of their names.
enum MediaTypes {
  static let byExtension = [
    "m3u8": "application/vnd.apple.mpegurl", "m4s": "video/iso.segment", "mp4": "video/mp4",
    "ts": "video/mp2t", "vtt": "text/vtt", "jpg": "image/jpeg",
  ]
}
