internal import Foundation
package import Orientation
package import UprightMediaIO
package import UprightPipeline

/// HLS with a playlist written by this class (RFC 8216). At a format change, the segment ends,
/// EXT-X-DISCONTINUITY is written, and a new init segment begins if the segment format has init segments.
/// Timestamps continue across the change.
///
/// The segments are made in memory. libavformat's hls muxer can't do this: it writes one EXT-X-MAP and no
/// discontinuity.
package final class HLSSink: PacketSink {
  private let playlistPath: String
  private let folder: String
  private let name: String
  private let segmentDuration: Double

  private let segments: any HLSSegments
  private var description: OutputDescription?
  private var hasFormat = false
  private var playlist: any HLSPlaylist
  /// Whether the playlist continues an earlier run in the same folder and lists only the last segments.
  private let isLive: Bool
  /// Returns whether a later run continues in the same folder. Then the playlist gets no EXT-X-ENDLIST, which
  /// could not be removed again (RFC 8216, 6.2.1).
  private let comesBack: @Sendable () -> Bool
  /// The start time of the current segment; `nil` if there is none.
  private var segmentStart: Double?
  /// The end time of the last frame.
  private var end = 0.0
  /// The offset in seconds that is added to every timestamp so that none is negative, since `tfdt` is
  /// unsigned: audio priming and frame reordering begin before zero. A whole number of video ticks.
  private var offset = 0.0
  private var isEmpty = true
  /// The files that this run has written so far.
  private var written: Set<String> = []
  private var made: [String] = []
  private let unfinished: UnfinishedFiles
  /// The last video packet. It is written once the next packet defines its duration in decoding order: movenc
  /// changes the time of a segment's first packet if the duration of the packet before reaches past it.
  private var held: Packet?

  /// - Parameters:
  ///   - isLive: Whether the playlist is a sliding window on a continuing stream.
  ///   - comesBack: Called at the end. Returns whether the stream continues in a later run.
  /// - Throws: `cannotCreate` if the folder isn't writable.
  package init(
    playlistPath: String, segments: any HLSSegments, segmentDuration: Double,
    isLive: Bool = false, unfinished: UnfinishedFiles,
    comesBack: @escaping @Sendable () -> Bool = { false }
  ) throws(UprightError) {
    self.comesBack = comesBack
    self.segments = segments
    self.unfinished = unfinished
    let url = URL(fileURLWithPath: playlistPath)
    self.playlistPath = playlistPath
    self.segmentDuration = segmentDuration
    folder = url.deletingLastPathComponent().path
    name = Self.segmentName(url.deletingPathExtension().lastPathComponent)
    self.isLive = isLive
    // Fail before the work rather than after the first segment.
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

  /// Removes the segments of an earlier run that its playlist no longer lists, or never listed.
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

  /// Returns `name` with characters that are special in URIs escaped.
  ///
  /// The lines of a playlist are URIs (RFC 8216, 4.1). Players that read local files would not find names
  /// with percent escapes, so the characters are written as `~3A`. A tilde that would read as such an escape
  /// is escaped too, so that no two playlists share segment names.
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

  package func begin(_ description: OutputDescription) throws(UprightError) {
    self.description = description
    let tick = description.videoTimeBase.doubleValue
    offset = (max(0, -description.earliestTime) / tick).rounded(.up) * tick
  }

  package func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(UprightError) {
    guard let description else { throw UprightError(.fault, "a packet before the header") }
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

  private func writeHeld(before next: Int64?) throws(UprightError) {
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
  ) throws(UprightError) {
    var changed = description
    changed.format = format
    var map: String?
    if let bytes = try segments.begin(changed, segment: playlist.nextSegment) {
      // Format indexes restart in each run; segment numbers don't.
      let file = "\(name)-init-\(isLive ? playlist.nextSegment : format.index).mp4"
      try save(bytes, as: "\(folder)/\(file)")
      map = file
    }
    playlist.begin(map: map)
    hasFormat = true
  }

  private func closeSegment(at seconds: Double) throws(UprightError) {
    guard let start = segmentStart else { return }
    let file = "\(name)-\(playlist.nextSegment).\(segments.fileExtension)"
    try save(try segments.cut(), as: "\(folder)/\(file)")
    playlist.add(segment: file, duration: seconds - start, start: start)
    segmentStart = nil
    try save(Array(playlist.text.utf8), as: playlistPath)
    for file in playlist.takeExpired() { _ = unsafe unlink("\(folder)/\(file)") }
  }

  private func save(_ bytes: [UInt8], as path: String) throws(UprightError) {
    let staged = try StagedFile(path: path)
    unfinished.add(staged.temporaryPath)
    defer { unfinished.remove(staged.temporaryPath) }
    try staged.commit(bytes)
    if written.isEmpty && !isLive {
      // The playlist of an earlier run lists segments that are about to be replaced.
      _ = unsafe unlink(playlistPath)
    }
    // Live segments are not recorded: there is no limit to their number, and they are kept even if the run
    // fails.
    if !isLive { written.insert(path) }
  }

  package func finish(isPartial: Bool) throws(UprightError) {
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
