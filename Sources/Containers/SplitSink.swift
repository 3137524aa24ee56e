internal import Foundation
internal import Orientation
package import UprightMediaIO
package import UprightPipeline

/// One file a format, `NAME-0.mkv`, `NAME-1.mkv`, ...: for containers whose track has one format.
///
/// Each begins at its IDR, at time zero, with the sound and the subtitles whose PTS lie in it. None
/// bears its name before all are whole.
package final class SplitSink: PacketSink {
  private let container: OutputContainer
  private let target: String
  private let unfinished: UnfinishedFiles
  private var description: OutputDescription?
  private var parts: [ContainerSink] = []
  /// Where the present file begins, in seconds of the whole.
  private var start = 0.0

  package private(set) var files: [String] = []
  private var committed = 0

  /// - Throws: `cannotCreate` where the first file cannot be made: before any work is done.
  package init(
    container: OutputContainer, target: String, unfinished: UnfinishedFiles
  ) throws(MediaError) {
    self.container = container
    self.target = target
    self.unfinished = unfinished
    try addPart()
  }

  /// - Throws: `usage` where there cannot be several files, or need not be.
  package static func check(_ container: OutputContainer, target: String) throws(MediaError) {
    let why: String? =
      if target == "-" || InputTrust.scheme(of: target) != nil || !StagedFile.isReplaceable(target)
      {
        "one stream cannot be several files"
      } else if container.isSegmented {
        "HLS changes its format within one playlist"
      } else if container == .y4m {
        "y4m takes no change of format"
      } else {
        nil
      }
    guard let why else { return }
    throw MediaError(
      .usage, why, at: "--split", remedy: "leave it out, or name a file such as NAME.mkv")
  }

  /// The parts that an earlier run has left, or anything else that has their names.
  package static func present(_ target: String) -> [String] {
    let (stem, ending) = OutputName.halves(target)
    let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
    let start = (stem.split(separator: "/").last.map(String.init) ?? "") + "-"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter {
      $0.hasPrefix(start) && $0.hasSuffix(ending)
        && Int($0.dropFirst(start.count).dropLast(ending.count)) != nil
    }.sorted().map { "\(folder)/\($0)" }
  }

  private func addPart() throws(MediaError) {
    let path = OutputName.numbered(target, parts.count)
    parts.append(
      try ContainerSink(
        container: container, target: path, interrupt: Interrupt(), unfinished: unfinished))
    files.append(path)
  }

  package func begin(_ description: OutputDescription) throws(MediaError) {
    var description = description
    // Where a chapter ends within a file is not known when the file begins.
    description.chapters = []
    self.description = description
    try parts.last?.begin(description)
  }

  package func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(MediaError) {
    if let format { try change(to: format, at: packet.seconds ?? start) }
    let ticks = packet.timeBase.ticks(in: start)
    packet.pts = packet.pts.map { $0 - ticks }
    packet.dts = packet.dts.map { $0 - ticks }
    try parts.last?.write(packet, track: track, format: nil)
  }

  private func change(to format: EncodedFormat, at seconds: Double) throws(MediaError) {
    guard var description else { throw MediaError(.fault, "a packet before the header") }
    try parts.last?.close()
    try addPart()
    start = seconds
    description.format = format
    // The encoder's priming is in the first file; what begins a later one is to be heard.
    for index in description.sideTracks.indices {
      let track = description.sideTracks[index]
      description.sideTracks[index].parameters = try track.parameters.withoutPriming()
    }
    try parts.last?.begin(description)
  }

  package func finish(isPartial: Bool) throws(MediaError) {
    try parts.last?.close()
    for (index, part) in parts.enumerated() {
      if let name = try part.commit(isPartial: isPartial) { files[index] = name }
      committed += 1
    }
  }

  package func abandon() {
    // Where the last of them cannot be renamed, the others are no whole either.
    for file in files.prefix(committed) { _ = unsafe unlink(file) }
    for part in parts { part.abandon() }
    parts = []
  }
}
