internal import Glibc
package import UprightOrientation
package import UprightMediaIO

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
  private let fileExtension: String
  private let cutter: SegmentCutter
  private var playlist: any HLSPlaylist
  /// Whether the playlist continues an earlier run in the same folder and lists only the last segments.
  private let isLive: Bool
  /// Returns whether a later run continues in the same folder. Then the playlist gets no EXT-X-ENDLIST, which
  /// could not be removed again (RFC 8216, 6.2.1).
  private let comesBack: @Sendable () -> Bool
  /// Where parts are published; `nil` for a playlist without parts.
  private let origin: HLSOrigin?
  /// The number of parts of the current segment.
  private var parts = 0
  /// The last part of a segment, until the segment is complete, and the name of the one that follows.
  private var lastPart: (file: String, bytes: [UInt8], next: String?)?
  /// The last part of a format, until the next format begins or the stream ends: one edition has both, so that no
  /// player takes the next segment for one of the format before.
  private var partBeforeChange: (name: String, bytes: [UInt8])?
  /// The file name of the playlist.
  private let playlistName: String
  /// The files that this run has written so far.
  private var written: Set<String> = []
  private var made: [String] = []
  private let unfinished: UnfinishedFiles
  private let listing: HLSMedia.Listing?
  private let turns: TurnLog
  /// The size of the present format; `nil` before the first, and for audio.
  private var size: PixelSize?

  /// - Parameters:
  ///   - isLive: Whether the playlist is a sliding window on a continuing stream.
  ///   - lowLatency: The duration of parts and where they are published, for a live playlist with parts; `nil` for
  ///     none. Media playlists that belong together have one origin.
  ///   - comesBack: Called at the end. Returns whether the stream continues in a later run.
  /// - Throws: `cannotCreate` if the folder isn't writable.
  package init(
    _ media: HLSMedia, playlistPath: String, isLive: Bool = false,
    lowLatency: LowLatencyHLS? = nil, unfinished: UnfinishedFiles,
    comesBack: @escaping @Sendable () -> Bool = { false }
  ) throws(UprightError) {
    self.comesBack = comesBack
    (listing, turns) = (media.listing, media.turns)
    self.unfinished = unfinished
    let file = FilePath(playlistPath).absolute
    self.playlistPath = playlistPath
    fileExtension = media.segments.fileExtension
    folder = file.folder.path
    playlistName = file.name
    name = Self.segmentName(file.stem)
    self.isLive = isLive
    origin = lowLatency?.origin
    // Fail before the work rather than after the first segment.
    try StagedFile.check(path: playlistPath)
    guard isLive else {
      playlist = MediaPlaylist(targetDuration: media.segmentDuration, date: media.turns.date)
      cutter = media.cutter()
      return
    }
    let earlier = file.contents.flatMap { String(validating: $0, as: UTF8.self) }
    let partTarget = lowLatency?.partDuration
    let window = LivePlaylist(
      window: partTarget == nil ? 6 : 12, segmentDuration: media.segmentDuration,
      partTarget: partTarget, log: media.turns, first: media.firstSegment, continuing: earlier)
    playlist = window
    cutter = media.cutter(
      partDuration: partTarget, first: window.nextSegment, continues: earlier != nil)
    if earlier != nil { removeStrays(but: window.needed) }
  }

  /// Removes the segments of an earlier run that its playlist no longer lists, or never listed.
  private func removeStrays(but needed: Set<String>) {
    for file in FilePath(folder).names ?? []
    where file.hasPrefix("\(name)-") && !needed.contains(file) {
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
        result += "~\(byte.digits(2, radix: 16, uppercase: true))".utf8
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  package func begin(_ description: OutputDescription) { cutter.begin(description) }

  package func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(UprightError) {
    try cutter.write(packet, track: track, format: format, emit: add)
  }

  private func add(_ piece: SegmentCutter.Piece) throws(UprightError) {
    switch piece {
    case .format(let description, let bytes):
      var map: String?
      if let bytes {
        // Format indexes restart in each run; segment numbers don't.
        let file = "\(name)-init-\(isLive ? playlist.nextSegment : description.format.index).mp4"
        try save(bytes, as: "\(folder)/\(file)")
        map = file
      }
      playlist.begin(map: map)
      size = description.hasVideo ? description.format.size : nil
      if let part = partBeforeChange.take() {
        // The first part of the format is certain: its first packet is here.
        publish([part], next: partName(segment: playlist.nextSegment, index: 0))
      }
      listing?.begin(description)
    case .segment(let bytes, let start, let duration):
      let file = "\(name)-\(playlist.nextSegment).\(fileExtension)"
      playlist.add(segment: file, duration: duration, start: start)
      // Not with their parts: hls.js 1.6 ends at a date in a segment that isn't complete.
      for turn in turns.turns(from: start, for: duration, offset: cutter.offset) {
        playlist.add(turn, size: size)
      }
      if let last = lastPart.take() {
        parts = 0
        if let next = last.next {
          // Players that wait for the part don't wait for the disk.
          publish([(last.file, last.bytes), (file, bytes)], next: next)
        } else {
          partBeforeChange = (last.file, last.bytes)
        }
      }
      try save(bytes, as: "\(folder)/\(file)")
      origin?.remove(file)
      try save(Array(playlist.text.utf8), as: playlistPath)
      for file in playlist.takeExpired() { _ = unsafe unlink("\(folder)/\(file)") }
      try listing?.add(bytes: bytes.count, duration: duration)
    case .part(let part):
      let file = partName(segment: playlist.nextSegment, index: parts)
      playlist.add(part: file, part)
      parts += 1
      switch part.next {
      case .part:
        let next = partName(segment: playlist.nextSegment, index: parts)
        publish([(file, part.bytes)], next: next)
      // One edition has the part and its segment.
      case .segment:
        lastPart = (file, part.bytes, partName(segment: playlist.nextSegment + 1, index: 0))
      case nil: lastPart = (file, part.bytes, nil)
      }
    }
  }

  private func partName(segment: Int, index: Int) -> String {
    "\(name)-\(segment).\(index).\(fileExtension)"
  }

  /// - Parameter next: The name of the part that certainly comes next.
  private func publish(_ files: [(name: String, bytes: [UInt8])], next: String?) {
    guard let origin, let edition = playlist.edition(next: next) else { return }
    origin.publish(
      edition, as: playlistName, files: files, expired: playlist.takeExpiredParts())
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
    defer { origin?.close(playlistName) }
    guard !cutter.isEmpty else { return }
    try cutter.finish(emit: add)
    if !comesBack() { playlist.end() }
    publish([partBeforeChange.take()].compactMap(\.self), next: nil)
    let path = isPartial ? OutputName.partial(playlistPath) : playlistPath
    try save(Array(playlist.text.utf8), as: path)
    if isPartial { _ = unsafe unlink(playlistPath) }
    try listing?.finish(isPartial: isPartial)
    if isPartial { made = listing?.partialPaths ?? [path] }
  }

  package var files: [String] { made }

  package func abandon() {
    origin?.close(playlistName)
    for file in written { _ = unsafe unlink(file) }
    written = []
    listing?.abandon()
  }
}
