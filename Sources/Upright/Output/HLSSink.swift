internal import Foundation
internal import MediaIO
internal import Orientation

/// HLS with fMP4 segments and a playlist of our own (RFC 8216): where the format changes, the segment
/// ends, EXT-X-DISCONTINUITY stands, and a new init segment begins. Timestamps go on across it.
///
/// One `mp4` muxer in memory a format. libavformat's own hls muxer cannot do this: it writes one
/// EXT-X-MAP and no discontinuity.
final class HLSSink: PacketSink {
  private let playlistPath: String
  private let folder: String
  private let name: String
  private let segmentDuration: Double

  private var description: OutputDescription?
  private var muxer: Muxer?
  private var playlist: MediaPlaylist
  private var segmentIndex = 0
  /// Where the segment that is being collected begins; nil while there is none.
  private var segmentStart: Double?
  /// Where the last picture seen ends.
  private var end = 0.0
  /// What is added to every timestamp so that none is negative, since `tfdt` is unsigned: sound's
  /// priming and the pictures' reordering begin before zero. Seconds, whole ticks of the pictures.
  private var offset = 0.0
  private var isEmpty = true
  /// What this run has made so far.
  private var files: Set<String> = []
  private let unfinished: UnfinishedFiles

  /// - Throws: `cannotCreate` where the folder cannot be written.
  init(
    playlistPath: String, segmentDuration: Double, unfinished: UnfinishedFiles
  ) throws(MediaError) {
    self.unfinished = unfinished
    let url = URL(fileURLWithPath: playlistPath)
    self.playlistPath = playlistPath
    self.segmentDuration = segmentDuration
    folder = url.deletingLastPathComponent().path
    name = url.deletingPathExtension().lastPathComponent
    playlist = MediaPlaylist(targetDuration: segmentDuration)
    // Says no before the work rather than after the first segment.
    try StagedFile.check(path: playlistPath)
  }

  func begin(_ description: OutputDescription) throws(MediaError) {
    self.description = description
    let tick = description.videoTimeBase.doubleValue
    // A playlist of an earlier run would name segments that are about to be replaced.
    _ = unsafe unlink(playlistPath)
    offset = (max(0, -description.earliestTime) / tick).rounded(.up) * tick
  }

  func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(MediaError) {
    guard let description else { throw MediaError(.fault, "a packet before the header") }
    shift(&packet)
    let seconds = packet.seconds ?? end
    if track == 0 {
      if let format {
        try closeSegment(at: seconds)
        try open(format, description)
      } else if muxer == nil {
        try open(description.format, description)
      } else if packet.isKey, let start = segmentStart,
        seconds - start >= segmentDuration - 0.001
      {
        try closeSegment(at: seconds)
      }
      if segmentStart == nil { segmentStart = seconds }
      end = max(end, seconds + Double(packet.duration) * packet.timeBase.doubleValue)
    } else if muxer == nil {
      try open(description.format, description)
    }
    isEmpty = false
    try muxer?.write(packet, stream: track)
  }

  private func shift(_ packet: inout Packet) {
    guard offset > 0 else { return }
    let ticks = Int64((offset / packet.timeBase.doubleValue).rounded())
    packet.pts = packet.pts.map { $0 + ticks }
    packet.dts = packet.dts.map { $0 + ticks }
  }

  // MARK: - Segments

  private func open(
    _ format: EncodedFormat, _ description: OutputDescription
  ) throws(MediaError) {
    try muxer?.finish()
    let muxer = try Muxer(format: "mp4", target: .memory)
    var changed = description
    changed.format = format
    try muxer.addTracks(changed)
    try muxer.writeHeader([
      (
        "movflags",
        "+frag_custom+empty_moov+default_base_moof+frag_discont+skip_trailer"
      ),
      ("use_editlist", "0"), ("fragment_index", "\(segmentIndex + 1)"),
      ("avoid_negative_ts", "disabled"),
    ])
    let file = "\(name)-init-\(format.index).mp4"
    try save(try muxer.takeBytes(), as: file)
    playlist.begin(map: file)
    self.muxer = muxer
  }

  private func closeSegment(at seconds: Double) throws(MediaError) {
    guard let muxer, let start = segmentStart else { return }
    try muxer.endFragment()
    let file = "\(name)-\(segmentIndex).m4s"
    try save(try muxer.takeBytes(), as: file)
    playlist.add(segment: file, duration: seconds - start)
    segmentIndex += 1
    segmentStart = nil
    try save(Array(playlist.text.utf8), as: "\(name).m3u8", path: playlistPath)
  }

  private func save(_ bytes: [UInt8], as file: String, path: String? = nil) throws(MediaError) {
    let path = path ?? "\(folder)/\(file)"
    let staged = try StagedFile(path: path)
    unfinished.add(staged.temporaryPath)
    defer { unfinished.remove(staged.temporaryPath) }
    try staged.commit(bytes)
    if files.isEmpty {
      // The playlist of an earlier run names segments that are about to be replaced.
      _ = unsafe unlink(playlistPath)
    }
    files.insert(path)
  }

  func finish() throws(MediaError) {
    guard !isEmpty else { return }
    try closeSegment(at: end)
    muxer = nil
    playlist.isEnded = true
    try save(Array(playlist.text.utf8), as: "\(name).m3u8", path: playlistPath)
  }

  func abandon() {
    muxer = nil
    for file in files { _ = unsafe unlink(file) }
    files = []
  }
}

/// The text of a media playlist (RFC 8216, section 4).
struct MediaPlaylist {
  private enum Line {
    case map(String)
    case segment(String, duration: Double)
  }

  private let targetDuration: Double
  private var lines: [Line] = []
  var isEnded = false

  init(targetDuration: Double) { self.targetDuration = targetDuration }

  /// Says which init segment the following segments want; the second and later ones begin after a
  /// discontinuity.
  mutating func begin(map: String) { lines.append(.map(map)) }

  mutating func add(segment: String, duration: Double) {
    lines.append(.segment(segment, duration: max(0, duration)))
  }

  var text: String {
    var longest = targetDuration
    for case .segment(_, let duration) in lines { longest = max(longest, duration) }
    var text = """
      #EXTM3U
      #EXT-X-VERSION:7
      #EXT-X-TARGETDURATION:\(Int(longest.rounded()))
      #EXT-X-MEDIA-SEQUENCE:0
      #EXT-X-PLAYLIST-TYPE:\(isEnded ? "VOD" : "EVENT")
      #EXT-X-INDEPENDENT-SEGMENTS

      """
    var hasMap = false
    for line in lines {
      switch line {
      case .map(let file):
        if hasMap { text += "#EXT-X-DISCONTINUITY\n" }
        hasMap = true
        text += "#EXT-X-MAP:URI=\"\(file)\"\n"
      case .segment(let file, let duration):
        text += "#EXTINF:\(String(format: "%.6f", duration)),\n\(file)\n"
      }
    }
    if isEnded { text += "#EXT-X-ENDLIST\n" }
    return text
  }
}
