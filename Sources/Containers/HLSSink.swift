internal import Foundation
internal import Orientation
package import UprightMediaIO
package import UprightPipeline

/// HLS with a playlist of our own (RFC 8216): where the format changes, the segment ends,
/// EXT-X-DISCONTINUITY stands, and a new init segment begins where segments have one. Timestamps go on
/// across it.
///
/// The segments are made in memory. libavformat's own hls muxer cannot do this: it writes one EXT-X-MAP
/// and no discontinuity.
package final class HLSSink: PacketSink {
  private let playlistPath: String
  private let folder: String
  private let name: String
  private let segmentDuration: Double

  private let segments: any HLSSegments
  private var description: OutputDescription?
  private var hasFormat = false
  private var playlist: any HLSPlaylist
  /// Whether it goes on from an earlier run in the same folder and shows the last segments only.
  private let isLive: Bool
  /// Whether another run goes on in the same folder: then the playlist gets no end, which could not be
  /// taken back (RFC 8216, 6.2.1).
  private let comesBack: @Sendable () -> Bool
  /// Where the segment that is being collected begins; nil while there is none.
  private var segmentStart: Double?
  /// Where the last picture seen ends.
  private var end = 0.0
  /// What is added to every timestamp so that none is negative, since `tfdt` is unsigned: sound's
  /// priming and the pictures' reordering begin before zero. Seconds, whole ticks of the pictures.
  private var offset = 0.0
  private var isEmpty = true
  /// What this run has written so far.
  private var written: Set<String> = []
  private var made: [String] = []
  private let unfinished: UnfinishedFiles
  /// The last picture's packet, written once the next one says how long it lasts in decoding order:
  /// movenc changes the times of a segment's first packet where the last one's duration reaches past it.
  private var held: Packet?

  /// - Parameters:
  ///   - isLive: whether the playlist is a window on a stream that goes on.
  ///   - comesBack: asked at the end whether the stream goes on in a later run.
  /// - Throws: `cannotCreate` where the folder cannot be written.
  package init(
    playlistPath: String, segments: any HLSSegments, segmentDuration: Double,
    isLive: Bool = false, unfinished: UnfinishedFiles,
    comesBack: @escaping @Sendable () -> Bool = { false }
  ) throws(MediaError) {
    self.comesBack = comesBack
    self.segments = segments
    self.unfinished = unfinished
    let url = URL(fileURLWithPath: playlistPath)
    self.playlistPath = playlistPath
    self.segmentDuration = segmentDuration
    folder = url.deletingLastPathComponent().path
    name = Self.segmentName(url.deletingPathExtension().lastPathComponent)
    self.isLive = isLive
    // Says no before the work rather than after the first segment.
    try StagedFile.check(path: playlistPath)
    guard isLive else {
      playlist = MediaPlaylist(targetDuration: segmentDuration)
      return
    }
    let earlier = try? String(contentsOfFile: playlistPath, encoding: .utf8)
    let window = LivePlaylist(segmentDuration: segmentDuration, continuing: earlier)
    playlist = window
    if earlier != nil { removeStrays(but: window.needed) }
  }

  /// Removes the segments of an earlier run that its playlist had given up, or never listed.
  private func removeStrays(but needed: Set<String>) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for file in names where file.hasPrefix("\(name)-") && !needed.contains(file) {
      let number = file.dropFirst(name.utf8.count + 1).prefix { $0 != "." }
      let digits = number.hasPrefix("init-") ? number.dropFirst(5) : number
      guard !digits.isEmpty, digits.allSatisfy(\.isNumber),
        [".m4s", ".mp4", ".ts"].contains(where: file.hasSuffix)
      else { continue }
      _ = unsafe unlink("\(folder)/\(file)")
    }
  }

  /// A playlist's lines are URIs (RFC 8216, 4.1) in which these signs mean something, and escaped as
  /// URIs they would not be found by players that read local files. So they are written as `~3A`, and
  /// so is a tilde that would read as one of these: no two playlists share the names of segments.
  static func segmentName(_ name: String) -> String {
    let bytes = Array(name.utf8)
    func isDigit(_ index: Int) -> Bool {
      bytes.indices.contains(index) && "0123456789ABCDEF".utf8.contains(bytes[index])
    }
    var result: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      let isEscape = byte == 0x7E && isDigit(index + 1) && isDigit(index + 2)
      if isEscape || byte < 0x20 || "%:#?\"\\".utf8.contains(byte) {
        result += Array(String(format: "~%02X", byte).utf8)
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  package func begin(_ description: OutputDescription) throws(MediaError) {
    self.description = description
    let tick = description.videoTimeBase.doubleValue
    offset = (max(0, -description.earliestTime) / tick).rounded(.up) * tick
  }

  package func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(MediaError) {
    guard let description else { throw MediaError(.fault, "a packet before the header") }
    shift(&packet)
    let seconds = packet.seconds ?? end
    if track == 0 {
      try writeHeld(before: packet.dts)
      if let format {
        try closeSegment(at: seconds)
        try open(format, description)
      } else if !hasFormat {
        try open(description.format, description)
      } else if packet.isKey, let start = segmentStart,
        KeyframeClock.ends(after: seconds - start, of: segmentDuration)
      {
        try closeSegment(at: seconds)
      }
      if segmentStart == nil { segmentStart = seconds }
      end = max(end, seconds + Double(packet.duration) * packet.timeBase.doubleValue)
    } else if !hasFormat {
      try open(description.format, description)
    }
    isEmpty = false
    if track == 0 {
      held = consume packet
    } else {
      try segments.write(packet, track: track)
    }
  }

  private func writeHeld(before next: Int64?) throws(MediaError) {
    guard var packet = held.take() else { return }
    if let next, let dts = packet.dts, next > dts { packet.duration = next - dts }
    try segments.write(packet, track: 0)
  }

  private func shift(_ packet: inout Packet) {
    guard offset > 0 else { return }
    let ticks = packet.timeBase.ticks(in: offset)
    packet.pts = packet.pts.map { $0 + ticks }
    packet.dts = packet.dts.map { $0 + ticks }
  }

  // MARK: - Segments

  private func open(
    _ format: EncodedFormat, _ description: OutputDescription
  ) throws(MediaError) {
    var changed = description
    changed.format = format
    var map: String?
    if let bytes = try segments.begin(changed, segment: playlist.nextSegment) {
      // Formats are counted anew in each run, segments are not.
      let file = "\(name)-init-\(isLive ? playlist.nextSegment : format.index).mp4"
      try save(bytes, as: "\(folder)/\(file)")
      map = file
    }
    playlist.begin(map: map)
    hasFormat = true
  }

  private func closeSegment(at seconds: Double) throws(MediaError) {
    guard let start = segmentStart else { return }
    let file = "\(name)-\(playlist.nextSegment).\(segments.fileExtension)"
    try save(try segments.cut(), as: "\(folder)/\(file)")
    playlist.add(segment: file, duration: seconds - start, start: start)
    segmentStart = nil
    try save(Array(playlist.text.utf8), as: playlistPath)
    for file in playlist.takeExpired() { _ = unsafe unlink("\(folder)/\(file)") }
  }

  private func save(_ bytes: [UInt8], as path: String) throws(MediaError) {
    let staged = try StagedFile(path: path)
    unfinished.add(staged.temporaryPath)
    defer { unfinished.remove(staged.temporaryPath) }
    try staged.commit(bytes)
    if written.isEmpty && !isLive {
      // The playlist of an earlier run names segments that are about to be replaced.
      _ = unsafe unlink(playlistPath)
    }
    // A live stream's are as many as it lasts, and stay whatever becomes of it.
    if !isLive { written.insert(path) }
  }

  package func finish(isPartial: Bool) throws(MediaError) {
    guard !isEmpty else { return }
    try writeHeld(before: nil)
    try closeSegment(at: end)
    if !comesBack() { playlist.end() }
    let path = isPartial ? OutputName.partial(playlistPath) : playlistPath
    try save(Array(playlist.text.utf8), as: path)
    guard isPartial else { return }
    _ = unsafe unlink(playlistPath)
    made = [path]
  }

  package var files: [String] { made }

  package func abandon() {
    for file in written { _ = unsafe unlink(file) }
    written = []
  }
}
