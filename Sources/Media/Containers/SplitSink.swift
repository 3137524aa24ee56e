internal import Glibc
package import UprightOrientation
package import UprightMediaIO

/// Writes one file per format, `NAME-0.mkv`, `NAME-1.mkv`, ..., for containers whose tracks have one format.
///
/// Each file begins at its IDR frame, at time zero, with the audio whose PTS are in it, the subtitles that are shown in it, and
/// the cover pictures. The files are renamed to their final names only when all are complete.
package final class SplitSink: PacketSink {
  private struct Repeated {
    let packet: PacketBox
    let track: Int
    /// `nil` for a cover picture.
    let end: MediaTime?
  }

  private let container: OutputContainer
  private let target: String
  private let unfinished: UnfinishedFiles
  private var description: OutputDescription?
  private var parts: [ContainerSink] = []
  /// The cover pictures, and the subtitles that may still be shown where the next file begins.
  private var repeated: [Repeated] = []
  /// The start time of the current file on the timeline of the whole output.
  private var start = MediaTime.zero

  package private(set) var files: [String] = []
  private var committed = 0

  /// - Throws: `cannotCreate` if the first file can't be created, before any other work is done.
  package init(
    container: OutputContainer, target: String, unfinished: UnfinishedFiles
  ) throws(UprightError) {
    self.container = container
    self.target = target
    self.unfinished = unfinished
    try addPart()
  }

  /// Checks that `--split` suits the output.
  ///
  /// - Throws: `usage` if the output can't be several files or doesn't need to be.
  package static func check(_ container: OutputContainer, target: String) throws(UprightError) {
    let why: String? =
      if target == "-" || InputTrust.scheme(of: target) != nil || !StagedFile.isReplaceable(target)
      {
        "a single stream cannot be split into files"
      } else if container.isSegmented {
        "HLS can change its format within one playlist"
      } else if container == .y4m {
        "y4m cannot change its format"
      } else {
        nil
      }
    guard let why else { return }
    throw UprightError(
      .usage, why, at: "--split", remedy: "remove --split, or name a file such as NAME.mkv")
  }

  /// Returns the existing files with the names of parts, from an earlier run or otherwise.
  package static func present(_ target: String) -> [String] {
    let (stem, ending) = OutputName.halves(target)
    let folder = FilePath(target).absolute.folder
    let start = (stem.split(separator: "/").last.map(String.init) ?? "") + "-"
    return (folder.names ?? []).filter {
      $0.hasPrefix(start) && $0.hasSuffix(ending)
        && Int($0.dropFirst(start.count).dropLast(ending.count)) != nil
    }.sorted().map { folder.appending($0).path }
  }

  private func addPart() throws(UprightError) {
    let path = OutputName.numbered(target, parts.count)
    parts.append(
      try ContainerSink(
        container: container, target: path, interrupt: Interrupt(), unfinished: unfinished))
    files.append(path)
  }

  package func begin(_ description: OutputDescription) throws(UprightError) {
    var description = description
    // The end of a chapter within a file is not known when the file begins.
    description.chapters = []
    self.description = description
    try parts.last?.begin(description)
  }

  package func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(UprightError) {
    if let format { try change(to: format, at: packet.time ?? start) }
    if track > 0, let source = description?.sideTracks[track - 1].source {
      if source.isAttachedPicture {
        try keep(packet, of: track, until: nil)
      } else if source.kind == .subtitle, let time = packet.time {
        repeated.removeAll { $0.end.map { $0 <= time } ?? false }
        try keep(packet, of: track, until: time + packet.length)
      }
    }
    packet.move(by: -start)
    try parts.last?.write(packet, track: track, format: nil)
  }

  private func keep(
    _ packet: borrowing Packet, of track: Int, until end: MediaTime?
  ) throws(UprightError) {
    let box = PacketBox(try packet.shared(), format: nil)
    repeated.append(Repeated(packet: box, track: track, end: end))
  }

  /// Writes the cover pictures, and what is left of the subtitles that are shown when a file begins.
  private func repeatSideTracks() throws(UprightError) {
    let shown = repeated
    repeated = []
    for one in shown {
      guard var packet = one.packet.take() else { continue }
      if one.end == nil {
        packet.pts = start.plausibleTicks(of: packet.timeBase)
        packet.dts = packet.pts
      } else if !packet.limit(from: start, to: nil) {
        continue
      }
      try write(packet, track: one.track, format: nil)
    }
  }

  private func change(to format: EncodedFormat, at time: MediaTime) throws(UprightError) {
    guard var description else { throw UprightError(.fault, "a packet before the header") }
    try parts.last?.close()
    try addPart()
    start = time
    description.format = format
    // The encoder's priming is in the first file. The beginning of later files must be played.
    for index in description.sideTracks.indices {
      let track = description.sideTracks[index]
      description.sideTracks[index].parameters = try track.parameters.withoutPriming()
    }
    try parts.last?.begin(description)
    try repeatSideTracks()
  }

  package func finish(isPartial: Bool) throws(UprightError) {
    try parts.last?.close()
    for (index, part) in parts.enumerated() {
      if let name = try part.commit(isPartial: isPartial) { files[index] = name }
      committed += 1
    }
  }

  package func abandon() {
    // If the last file can't be renamed, the output is incomplete, so the others are removed.
    for file in files.prefix(committed) { _ = unsafe unlink(file) }
    for part in parts { part.abandon() }
    parts = []
  }
}
