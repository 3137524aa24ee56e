internal import UprightOrientation
internal import UprightSignals
internal import UprightMediaIO

/// Adds a sample description for each video format to a finished MP4 or QuickTime file. libavformat writes
/// only the first one (ISO/IEC 14496-12, 8.5.2). With them a reader knows the size of a sample without
/// parsing it. The parameter sets are in band as well, for readers that ignore the second description.
///
/// The index must be before the media (fast start), as libavformat leaves it.
struct SampleDescriptions {
  /// The description that applies from a sample of the first track on.
  struct Run {
    let firstSample: Int
    /// The index of the description, from 1.
    let description: Int
  }

  /// The distinct sample entries (`avc1`, `hev1`, ...). The first is already in the file.
  private(set) var entries: [[UInt8]]
  private(set) var runs: [Run]
  /// The name of the file in error messages.
  let location: String
  private let muxer: String

  init(entries: [[UInt8]], runs: [Run], muxer: String = "mp4", location: String) {
    self.entries = entries
    self.runs = runs
    self.muxer = muxer
    self.location = location
  }

  /// - Parameters:
  ///   - first: The description that the file was opened with.
  ///   - muxer: The name of libavformat's muxer that writes the file.
  init(first: OutputDescription, muxer: String, location: String) throws(UprightError) {
    self.init(
      entries: [try Self.entry(first, muxer: muxer)], runs: [], muxer: muxer, location: location)
  }

  /// Records that a format begins at a sample of the first track.
  mutating func begin(_ description: OutputDescription, at sample: Int) throws(UprightError) {
    let entry = try Self.entry(description, muxer: muxer)
    let index = entries.firstIndex(of: entry) ?? entries.count
    if index == entries.count { entries.append(entry) }
    runs.append(Run(firstSample: sample, description: index + 1))
  }

  /// Returns the sample entry that libavformat writes for a format, taken from an empty file.
  private static func entry(
    _ description: OutputDescription, muxer name: String
  ) throws(UprightError) -> [UInt8] {
    let muxer = try Muxer(format: name, target: .memory)
    var alone = description
    alone.sideTracks = []
    try muxer.addTracks(alone, isSelfContained: true)
    try muxer.writeHeader([("movflags", "+frag_custom+empty_moov+skip_trailer")])
    let bytes = try muxer.takeBytes()
    var range = bytes.indices
    for type in ["moov", "trak", "mdia", "minf", "stbl", "stsd"] as [MP4BoxType] {
      guard let payload = MP4Boxes.payload(at: type, of: bytes, in: range) else {
        throw unexpected("no \(type)", at: name)
      }
      range = payload
    }
    guard let entry = MP4Boxes(bytes, in: range.dropFirst(8)).complete.first else {
      throw unexpected("no sample entry", at: name)
    }
    return Array(bytes[entry.whole])
  }

  private static func unexpected(_ what: String, at location: String) -> UprightError {
    UprightError(.fault, "the file's index is not as expected: \(what)", at: location)
  }

  /// Writes the descriptions to the file at `path`, which grows by them.
  func write(toFileAt path: String) throws(UprightError) {
    // Readers limit the number of descriptions (libavformat to 1024).
    guard entries.count <= 255 else { return }
    let file = try FilePatcher(path: path, location: location)
    guard let index = try file.indexRange() else { throw Self.unexpected("no moov", at: location) }
    let old = try file.bytes(in: index)
    var new = try rebuilt(old)
    let growth = new.count - old.count
    // If the growth would overflow 32-bit offsets, the file is left unchanged: the parameter sets in band are
    // enough to play it.
    guard growth > 0, new.moveChunks(by: growth) else { return }
    try file.replace(index, with: new)
  }

  // MARK: - The index

  /// Returns the index with the first track's tables rewritten and chunk offsets unchanged.
  private func rebuilt(_ moov: [UInt8]) throws(UprightError) -> [UInt8] {
    func rebuild(_ box: MP4Box, _ path: ArraySlice<MP4BoxType>) throws(UprightError) -> [UInt8] {
      guard let next = path.first else {
        let tables = try SampleTables(moov, box.payload, self)
        return MP4Box.bytes(box.type, tables.bytes)
      }
      var payload: [UInt8] = []
      var isFound = false
      for child in MP4Boxes(moov, in: box.payload).complete {
        if child.type == next, !isFound {
          isFound = true
          payload += try rebuild(child, path.dropFirst())
        } else {
          payload += moov[child.whole]
        }
      }
      guard isFound else { throw Self.unexpected("no \(next)", at: location) }
      return MP4Box.bytes(box.type, payload)
    }
    guard let box = MP4Boxes(moov, in: moov.indices).complete.first else {
      throw Self.unexpected("no moov", at: location)
    }
    // The video is the first track.
    return try rebuild(box, ["trak", "mdia", "minf", "stbl"])
  }
}
