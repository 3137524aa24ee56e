public import UprightOrientation
public import UprightPolicy
public import UprightMedia
internal import UprightFrames
internal import UprightMediaIO

/// A file as HLS on demand: the playlist is known from its packets alone, and each segment is made when it is asked for.
///
/// Segment N is a pure function of the file, the options and N: any process, on any machine with the same libraries, in any
/// order, gets the same bytes. GOPs that are upright already and of the right size are copied; the others are decoded,
/// turned and encoded, each segment by an encoder of its own. Of a long GOP, several segments are made.
///
///     let source = try SegmentSource(input: "clip.mov")
///     let playlist = source.playlist            // lists init-0.mp4, 0.m4s, 1.m4s ...
///     let bytes = try source.segment(17)
///
/// Segments are fragmented MP4 (RFC 8216, 3.3). Those of `playlist` have the video and one audio track; there are also
/// playlists of the video and of each audio track alone, and of keyframes, which a multivariant playlist lists
/// (`SegmentVariant`). A source may be used by any number of threads at once; each call opens the file for itself.
public final class SegmentSource: Sendable {
  /// One segment of the playlist.
  public struct Segment: Sendable, Hashable {
    /// When it begins, in seconds from the first frame of the file, or from its audio if that begins more than 0.1 s earlier.
    public let start: Double
    /// Its duration, in seconds.
    public let duration: Double
    /// The number of its format, from 0. A format begins with an init segment of its own.
    public let format: Int
    /// The size of its frames.
    public let size: PixelSize
    /// Why its frames are encoded, as a text for the user; `nil` if they are copied.
    public let reason: String?
  }

  /// The segments, in order.
  public let segments: [Segment]
  /// The duration of the video, in seconds.
  public let duration: Double
  /// Warnings for the user: about the orientation signals, and about what the output lacks.
  public let warnings: [String]

  private let work: SegmentWork

  /// The least duration of segments whose frames are copied, and of those that are encoded, in seconds. A player shows
  /// the first frame of an encoded segment when all of it is encoded.
  static let (copied, encoded) = (MediaTime(4, .one), MediaTime(1, .one))

  /// Reads the packets of a file once, and decides the orientation of every frame. Decodes one frame at most. Blocks.
  ///
  /// - Parameters:
  ///   - input: A path, or a URL of a seekable file.
  ///   - inputFormat: libavformat's name of the input's format, if it can't be detected.
  ///   - options: How frames are turned and encoded. Without a size, that of the guidance, 720x1280, and no side longer
  ///     than the file's. Without a speed, `veryfast` with a faster motion search, because a player waits for each
  ///     segment. The number of threads decides the bytes of encoded segments; 0 is 3.
  ///   - policy: The rotation policy.
  ///   - events: The orientation events, in seconds from the first frame.
  /// - Throws: `usage` for options that segments can't have, and for a file that can't be divided, with the reason;
  ///   the errors of a `TranscodeSession` that occur before its first frame.
  public init(
    input: String, inputFormat: String? = nil, options: TranscodeOptions = TranscodeOptions(),
    policy: PolicyDocument = PolicyDocument(), events: EventSource = .none
  ) throws(UprightError) {
    let request = try TranscodeRequest(
      segmentsOf: input, inputFormat: inputFormat, options: Self.checked(options), policy: policy,
      events: events)
    work = try SegmentWork(request)
    let list = work.list
    segments = list.pieces.map { piece in
      Segment(
        start: list.begin(of: piece).seconds, duration: list.duration(of: piece).seconds,
        format: piece.format, size: piece.size, reason: piece.reason)
    }
    duration = segments.map(\.duration).reduce(0, +)
    warnings = work.warnings
  }

  /// The media playlist (RFC 8216, 4.3). It names segment N `N.m4s`, and the init segment of format F `init-F.mp4`.
  public var playlist: String { text(of: .all, in: "") }

  /// Returns the playlist with its files in a folder: `FOLDER/N.m4s`.
  public func playlist(in folder: String) -> String { text(of: .all, in: folder + "/") }

  /// Returns the media playlist of some content, with its files in the same folder.
  ///
  /// - Throws: `usage` if there is no such audio track.
  public func playlist(of content: SegmentContent) throws(UprightError) -> String {
    try check(content)
    return text(of: content, in: "")
  }

  private func text(of content: SegmentContent, in folder: String) -> String {
    work.list.playlist(of: content, count: work.count(of: content), in: folder)
  }

  private func check(_ content: SegmentContent) throws(UprightError) {
    guard work.count(of: content) > 0 else {
      throw UprightError(
        .usage, "there is no such audio track", at: work.request.input,
        remedy: "see SegmentVariant.audio")
    }
  }

  /// Returns a file of the source, by its name in the playlists. Blocks while it is made.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - isWanted: Asked now and then; rendering ends if it returns `false`.
  /// - Throws: `usage` if there is no such file; `cancelled` if it isn't wanted any more; `badData` if the input has changed
  ///   or can't be decoded.
  public func bytes(
    of file: SegmentFile, while isWanted: () -> Bool = { true }
  ) throws(UprightError) -> [UInt8] {
    switch file {
    case .playlist(let content): Array(try playlist(of: content).utf8)
    case .initial(let format, let content):
      try initSegment(format, of: content, while: isWanted)
    case .segment(let index, let content): try segment(index, of: content, while: isWanted)
    case .captionsPlaylist(let track): Array(try work.captionsPlaylist(track).utf8)
    case .captions(let track, let format):
      Array(try work.captions(track, format, while: isWanted).utf8)
    case .sprites: Array(sprites(in: "").utf8)
    case .spriteSheet(let sheet): try spriteSheet(sheet, while: isWanted)
    }
  }

  /// Returns the list of small upright pictures for a seek bar, as WebVTT: times, each with its part of a sheet.
  ///
  /// - Parameter folder: The folder of the sheets; empty for that of the list.
  public func sprites(in folder: String) -> String {
    SegmentSprites(work.list).text(in: folder.isEmpty ? "" : folder + "/")
  }

  private func spriteSheet(
    _ sheet: Int, while isWanted: () -> Bool
  ) throws(UprightError) -> [UInt8] {
    let sprites = SegmentSprites(work.list)
    guard (0..<sprites.sheets).contains(sheet) else {
      throw UprightError(
        .usage, "there is no sheet \(sheet)", at: work.request.input,
        remedy: "give 0 to \(sprites.sheets - 1)")
    }
    try work.checkUnchanged()
    return try sprites.sheet(sheet, of: work.request, while: isWanted)
  }

  /// Returns what a multivariant playlist says of the source. Decodes one frame at most.
  ///
  /// - Throws: The errors of `init`.
  public func variant() throws(UprightError) -> SegmentVariant { try work.variant() }

  /// - Throws: `usage` for options that segments can't have.
  private static func checked(
    _ options: TranscodeOptions
  ) throws(UprightError) -> TranscodeOptions {
    for (isSet, option) in [
      (options.renditions.count > 1, "ladder or dual"), (options.splits, "split"),
      (options.start != nil, "start"), (options.end != nil, "to"), (options.audio != nil, "audio"),
      (options.segments == .ts, "segments of MPEG-TS"), (options.isLive, "latency live"),
      (options.constantRate != nil, "constantRate"), (options.isStrict, "strict"),
      (options.upright == .metadata, "upright metadata"), (options.encoder != nil, "encoder"),
    ] where isSet {
      throw UprightError(
        .usage, "is not supported in segments that are made one by one", at: option,
        remedy: "leave it out")
    }
    var options = options
    // With 3, two processors are busy while the encoder waits for a frame.
    options.threads = options.threads > 0 ? options.threads : 3
    options.chunks = .count(1)
    options.chunkDuration = Self.encoded.seconds
    // Each segment begins with the keyframe of its encoder; no other keyframe is needed.
    options.segmentDuration = 3600
    options.keepsPartial = false
    options.overwrites = false
    return options
  }

  /// Returns a segment. The first one of each format but the first begins with its init segment, which players that load
  /// one only need. Blocks while it is rendered.
  ///
  /// - Parameters:
  ///   - index: The number of the segment, from 0.
  ///   - content: The tracks of its playlist.
  ///   - isWanted: Asked for each packet; rendering ends if it returns `false`.
  /// - Throws: `usage` if there is no such segment; `cancelled` if it isn't wanted any more; `badData` if the file has
  ///   changed or can't be decoded.
  public func segment(
    _ index: Int, of content: SegmentContent = .all, while isWanted: () -> Bool = { true }
  ) throws(UprightError) -> [UInt8] {
    try segmentWithInit(index, of: content, while: isWanted).segment
  }

  /// Returns a segment, as `segment(_:of:while:)`, and the init segment of its format, which are made together.
  ///
  /// - Throws: As `segment(_:of:while:)`.
  public func segmentWithInit(
    _ index: Int, of content: SegmentContent = .all, while isWanted: () -> Bool = { true }
  ) throws(UprightError) -> (initSegment: [UInt8], segment: [UInt8]) {
    try check(content)
    let count = work.count(of: content)
    guard (0..<count).contains(index) else {
      throw UprightError(
        .usage, "there is no segment \(index)", at: work.request.input,
        remedy: "give 0 to \(count - 1)")
    }
    let rendered = try work.render(index, content, while: isWanted)
    return (rendered.header, rendered.bytes)
  }

  /// Returns the init segment of a format. Blocks while the format's first segment is rendered, whose encoder makes the
  /// parameter sets.
  ///
  /// - Throws: As `segment(_:of:while:)`.
  public func initSegment(
    _ format: Int, of content: SegmentContent = .all, while isWanted: () -> Bool = { true }
  ) throws(UprightError) -> [UInt8] {
    try check(content)
    guard let first = segments.firstIndex(where: { $0.format == format }) else {
      throw UprightError(
        .usage, "there is no format \(format)", at: work.request.input,
        remedy: "give 0 to \(segments.last?.format ?? 0)")
    }
    return try work.render(first, content, while: isWanted).header
  }
}
