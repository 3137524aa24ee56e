/// One track's part of an audio or video tag of FLV (Video File Format Specification 10.1, E.4.2 and E.4.3; Enhanced
/// RTMP v2, "Enhanced Audio" and "Enhanced Video").
package struct FLVTrackTag: Sendable, Hashable {
  /// The types of such tags.
  package enum Kind: UInt8, Sendable {
    case audio = 8
    case video = 9
  }

  package enum Content: Sendable, Hashable {
    /// The codec's configuration, such as avcC.
    case configuration
    /// A coded frame, and how much later it is presented than it is decoded, in milliseconds.
    case frame(offset: Int)
    /// What needs no decoder: the end of a sequence, metadata of HDR.
    case other
  }

  /// FFmpeg's name of the codec. `nil` for a code that isn't known.
  package let codec: String?
  /// The number of the track among those of its kind.
  package let track: Int
  package let content: Content
  /// Whether decoding can start here. It always can in audio.
  package let isKey: Bool
  /// Where the bytes for the decoder are in the tag's data.
  package let body: Range<Int>
  /// The audio samples per second by the tag's head. 0 if it doesn't tell.
  package var sampleRate = 0
  /// The number of audio channels by the tag's head. 0 if it doesn't tell.
  package var channels = 0

  /// Whether it is a coded frame.
  package var isFrame: Bool {
    if case .frame = content { true } else { false }
  }

  /// Reads the data of a tag.
  ///
  /// - Returns: A part for each track, several with enhanced RTMP's "multitrack" alone. Nothing for a command, and for
  ///   data that is cut short.
  package static func parts(of kind: Kind, _ data: [UInt8]) -> [FLVTrackTag] {
    var reader = ByteReader(data)
    guard let head = reader.count(1) else { return [] }
    switch kind {
    case .video:
      let type = head >> 4 & 7
      // A video info or command frame has no codec.
      if type == 5 { return [] }
      let isKey = type == 1
      if head & 0x80 != 0 { return extended(kind, head & 15, isKey, data, &reader) }
      return [video(head & 15, isKey, &reader)].compactMap(\.self)
    case .audio:
      if head >> 4 == 9 { return extended(kind, head & 15, true, data, &reader) }
      return [audio(head, &reader)].compactMap(\.self)
    }
  }

  // MARK: - Without extension

  private static let videoCodecs = [
    2: "flv1", 3: "flashsv", 4: "vp6f", 5: "vp6a", 6: "flashsv2", 7: "h264", 9: "mpeg4",
    // No standard has it. Encoders used it before enhanced RTMP, with hvcC in place of avcC.
    12: "hevc",
  ]

  private static func video(
    _ codec: Int, _ isKey: Bool, _ reader: inout ByteReader
  ) -> FLVTrackTag? {
    let name = videoCodecs[codec]
    var content = Content.frame(offset: 0)
    if [7, 9, 12].contains(codec) {
      guard let type = reader.count(1), let offset = signed(&reader) else { return nil }
      content = type == 0 ? .configuration : type == 1 ? .frame(offset: offset) : .other
    }
    return FLVTrackTag(
      codec: name, track: 0, content: content, isKey: isKey, body: rest(of: &reader))
  }

  private static func audio(_ head: Int, _ reader: inout ByteReader) -> FLVTrackTag? {
    let codec = head >> 4
    let pcm = head & 2 == 0 ? "pcm_u8" : "pcm_s16le"
    let names = [
      0: pcm, 1: "adpcm_swf", 2: "mp3", 3: pcm, 4: "nellymoser", 5: "nellymoser", 6: "nellymoser",
      7: "pcm_alaw", 8: "pcm_mulaw", 10: "aac", 11: "speex", 14: "mp3",
    ]
    var content = Content.frame(offset: 0)
    if codec == 10 {
      guard let type = reader.count(1) else { return nil }
      content = type == 0 ? .configuration : .frame(offset: 0)
    }
    var tag = FLVTrackTag(
      codec: names[codec], track: 0, content: content, isKey: true, body: rest(of: &reader))
    // These rates are the codec's. The others are 5.5, 11, 22 and 44.1 kHz.
    let fixed = [4: 16_000, 5: 8000, 7: 8000, 8: 8000, 11: 16_000, 14: 8000]
    tag.sampleRate = fixed[codec] ?? 44_100 >> (3 - head >> 2 & 3)
    tag.channels = [4, 5, 11].contains(codec) ? 1 : 1 + head & 1
    return tag
  }

  // MARK: - Enhanced RTMP

  private static let codes = [
    "avc1": "h264", "hvc1": "hevc", "av01": "av1", "vp08": "vp8", "vp09": "vp9",
    "mp4a": "aac", "Opus": "opus", ".mp3": "mp3", "ac-3": "ac3", "ec-3": "eac3", "fLaC": "flac",
  ]

  /// - Parameter type: The packet type in the tag's first byte.
  private static func extended(
    _ kind: Kind, _ type: Int, _ isKey: Bool, _ data: [UInt8], _ reader: inout ByteReader
  ) -> [FLVTrackTag] {
    guard var type = skipModifiers(type, &reader) else { return [] }
    guard type == (kind == .video ? 6 : 5) else {
      let code = reader.text(4)
      return [part(kind, type, code, 0, isKey, &reader)].compactMap(\.self)
    }
    guard let head = reader.count(1) else { return [] }
    type = head & 15
    // One track, several of a codec, or several of different codecs.
    let layout = head >> 4
    var code = layout == 2 ? nil : reader.text(4)
    var parts: [FLVTrackTag] = []
    while reader.count > 0 {
      if layout == 2 { code = reader.text(4) }
      guard let track = reader.count(1), let size = layout == 0 ? reader.count : reader.count(3),
        let range = reader.skip(size)
      else { break }
      var bytes = ByteReader(data, range)
      if let part = part(kind, type, code, track, isKey, &bytes) { parts.append(part) }
    }
    return parts
  }

  /// Skips what modifies a packet, such as nanoseconds of its time ("ModEx").
  ///
  /// - Returns: The type of the packet itself. `nil` if it is cut short.
  private static func skipModifiers(_ type: Int, _ reader: inout ByteReader) -> Int? {
    var type = type
    while type == 7 {
      guard var size = reader.count(1) else { return nil }
      if size == 255 {
        guard let long = reader.count(2) else { return nil }
        size = long
      }
      guard reader.skip(size + 1) != nil, let next = reader.count(1) else { return nil }
      type = next & 15
    }
    return type
  }

  private static func part(
    _ kind: Kind, _ type: Int, _ code: String?, _ track: Int, _ isKey: Bool,
    _ reader: inout ByteReader
  ) -> FLVTrackTag? {
    guard let code else { return nil }
    var content = Content.other
    switch (kind, type) {
    case (_, 0): content = .configuration
    case (.video, 1) where ["avc1", "hvc1"].contains(code):
      guard let offset = signed(&reader) else { return nil }
      content = .frame(offset: offset)
    case (_, 1), (.video, 3): content = .frame(offset: 0)
    default: break
    }
    return FLVTrackTag(
      codec: codes[code], track: track, content: content, isKey: isKey, body: rest(of: &reader))
  }

  /// Reads a signed number of 24 bits.
  private static func signed(_ reader: inout ByteReader) -> Int? {
    reader.count(3).map { $0 >= 1 << 23 ? $0 - 1 << 24 : $0 }
  }

  private static func rest(of reader: inout ByteReader) -> Range<Int> {
    let start = reader.position
    return reader.skip(reader.count) ?? start..<start
  }
}
