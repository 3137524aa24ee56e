package import Orientation
package import UprightMediaIO
package import UprightPipeline

/// One file or one network stream in a container that libavformat writes.
package final class ContainerSink: PacketSink {
  private let muxerName: String
  private let target: String
  private let interrupt: Interrupt
  private let unfinished: UnfinishedFiles
  private var staged: StagedFile?
  private var muxer: Muxer?
  private var mark: OrientationMark?
  private var description: OutputDescription?
  /// Pictures written so far.
  private var pictures = 0
  /// Seconds between two points up to which the file is whole on the disk, whatever ends the process; nil:
  /// a file that is whole at its end.
  private let wholeEvery: Double?
  /// Where the last of these points is.
  private var wholeUpTo: Double?
  private var sampleDescriptions: SampleDescriptions?
  private var indexRoom: IndexRoom?
  package private(set) var files: [String] = []

  /// - Parameter wholeEvery: for a recording: written under its own name from the first byte, and at
  ///   each IDR that is so many seconds after the last one all before it plays.
  /// - Throws: `cannotCreate` where the file cannot be made: before any work is done.
  package convenience init(
    container: OutputContainer, target: String, interrupt: Interrupt, unfinished: UnfinishedFiles,
    wholeEvery: Double? = nil
  ) throws(MediaError) {
    try self.init(
      muxer: container.muxer, target: target, interrupt: interrupt, unfinished: unfinished,
      wholeEvery: wholeEvery)
  }

  /// The same for any muxer of libavformat's.
  package init(
    muxer: String, target: String, interrupt: Interrupt, unfinished: UnfinishedFiles,
    wholeEvery: Double? = nil
  ) throws(MediaError) {
    self.unfinished = unfinished
    self.wholeEvery = wholeEvery
    muxerName = muxer
    self.target = target
    self.interrupt = interrupt
    // A device or a pipe is written into as it stands.
    if wholeEvery == nil, Self.isStaged(target) {
      let file = try StagedFile(path: target)
      unfinished.add(file.temporaryPath)
      staged = file
    }
  }

  /// Whether the output is a file that takes its name when it is finished.
  package static func isStaged(_ target: String) -> Bool {
    target != "-" && InputTrust.scheme(of: target) == nil && StagedFile.isReplaceable(target)
  }

  package func begin(_ description: OutputDescription) throws(MediaError) {
    self.description = description
    let isSelfContained = staged != nil && ["mp4", "mov"].contains(muxerName)
    try begin(description) { (muxer) throws(MediaError) in
      try muxer.addTracks(description, isSelfContained: isSelfContained)
    }
  }

  /// Opens the output with tracks that `add` adds.
  package func begin(
    _ description: some FileDescription, add: (Muxer) throws(MediaError) -> Void
  ) throws(MediaError) {
    let address = staged?.temporaryPath ?? (target == "-" ? "pipe:1" : target)
    let muxer = try Muxer(
      format: muxerName, target: .url(address),
      name: target == "-" ? "standard output" : target, interrupt: staged == nil ? interrupt : nil,
      settings: protocolSettings)
    try add(muxer)
    muxer.setMetadata(description.metadata)
    try muxer.setChapters(description.chapters)
    if staged != nil, ["mp4", "mov"].contains(muxerName) {
      indexRoom = IndexRoom(samples: description.copiedSamples)
    }
    try muxer.writeHeader(options(description))
    self.muxer = muxer
    mark = description.mark
  }

  /// A server that takes nothing is not waited for without end, and one that speaks TLS proves its name.
  private var protocolSettings: [(String, String)] {
    switch InputTrust.scheme(of: target) {
    case "rtmp": [("rw_timeout", Self.patience)]
    case "rtmps": [("rw_timeout", Self.patience), ("tls_verify", "1")]
    default: []
    }
  }

  /// Microseconds.
  private static let patience = "10000000"

  private func options(_ description: some FileDescription) -> [(String, String)] {
    switch muxerName {
    case "mp4", "mov":
      // Edit lists count in the movie's time scale; at libavformat's 1000 a start would be rounded.
      var options = [("movie_timescale", "\(description.videoTimeBase.denominator)")]
      var flags = description.listsTags ? "+use_metadata_tags" : ""
      if let indexRoom {
        options.append(("moov_size", "\(indexRoom.size)"))
      } else {
        // A pipe cannot be gone back in, and a recording may be cut off: there the index comes in
        // fragments.
        flags += staged == nil ? "+delay_moov+default_base_moof" : "+faststart"
        if staged == nil { flags += wholeEvery == nil ? "+frag_keyframe" : "+frag_custom" }
      }
      if !flags.isEmpty { options.append(("movflags", flags)) }
      return options
    case "flv": return [("flvflags", "+no_duration_filesize")]
    case "matroska", "webm":
      // What will be put right afterwards must not be summed up before.
      return description.mark?.needsRectangularProjection == true ? [("write_crc32", "0")] : []
    default: return []
    }
  }

  package func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(MediaError) {
    guard let muxer else { throw MediaError(.fault, "a packet before the header", at: target) }
    if let format {
      switch muxerName {
      case "flv":
        // flvenc writes a new sequence header for it; the in-band sets are there as well.
        try packet.attachNewExtradata(format.parameters.extradata)
        muxer.announce(format.size, of: 0)
      case "mp4", "mov": try describe(format)
      default: break
      }
    }
    if track == 0 {
      if let tick = description?.frameTick {
        packet.rescale(to: tick)
        packet.pts = Int64(pictures)
        packet.dts = packet.pts
      }
      if packet.isKey, let seconds = packet.seconds { try makeWhole(muxer, before: seconds) }
      pictures += 1
    }
    try muxer.write(packet, stream: track)
  }

  /// Ends the fragment or cluster before an IDR and hands it to the kernel, where it is time.
  private func makeWhole(_ muxer: Muxer, before seconds: Double) throws(MediaError) {
    guard let wholeEvery else { return }
    guard let wholeUpTo else {
      self.wholeUpTo = seconds
      return
    }
    guard seconds - wholeUpTo >= wholeEvery - 0.001 else { return }
    self.wholeUpTo = seconds
    try muxer.flush()
  }

  /// Notes where a format begins; its description goes into the index when the file is whole. What goes
  /// into a pipe has the parameter sets in band only.
  private func describe(_ format: EncodedFormat) throws(MediaError) {
    guard staged != nil, var description else { return }
    if sampleDescriptions == nil {
      sampleDescriptions = try SampleDescriptions(
        first: description, muxer: muxerName, location: target)
    }
    description.format = format
    try sampleDescriptions?.begin(description, at: pictures)
  }

  package func finish(isPartial: Bool) throws(MediaError) {
    try close()
    if let name = try commit(isPartial: isPartial), isPartial { files = [name] }
  }

  /// Makes the file whole, under its temporary name still.
  func close() throws(MediaError) {
    // Else libavformat fails, with the media written over, where the room is too small.
    if indexRoom != nil { muxer?.setIndexRoom(0) }
    try muxer?.finish()
    muxer = nil
    if let staged {
      try indexRoom?.settle(fileAt: staged.temporaryPath, location: target)
    }
    if let staged, mark?.needsRectangularProjection == true {
      try MatroskaProjection.makeRectangular(staged.temporaryPath)
    }
    if let staged { try sampleDescriptions?.write(toFileAt: staged.temporaryPath) }
    sampleDescriptions = nil
  }

  /// Gives a file that is whole its name, which is returned; `nil` for what is no file.
  func commit(isPartial: Bool) throws(MediaError) -> String? {
    defer { forget() }
    guard let staged else { return nil }
    let name = isPartial ? OutputName.partial(target) : target
    try staged.commit(as: name)
    return name
  }

  package func abandon() {
    muxer = nil
    staged?.discard()
    forget()
  }

  private func forget() {
    if let staged { unfinished.remove(staged.temporaryPath) }
    staged = nil
  }
}

/// What a file is opened with, whatever its tracks.
package protocol FileDescription {
  /// Seconds per tick of the pictures.
  var videoTimeBase: Rational { get }
  var metadata: [String: String] { get }
  var chapters: [Demuxer.Chapter] { get }
  /// How it says which way up copied pictures are; nil where pixels are upright.
  var mark: OrientationMark? { get }
  /// Whether tags are written as QuickTime's list of any names.
  var listsTags: Bool { get }
  /// Samples of all tracks where most are copied; 0 where that is not known, or they are encoded.
  var copiedSamples: Int { get }
}

extension OutputDescription: FileDescription {
  package var copiedSamples: Int {
    guard let copiedVideo, copiedVideo.frameCount > 0 else { return 0 }
    return sideTracks.reduce(copiedVideo.frameCount) { $0 + $1.source.frameCount }
  }
}

extension Muxer {
  /// Adds the pictures and the tracks beside them, in that order.
  ///
  /// - Parameter isSelfContained: whether a sample entry holds all parameter sets of its format.
  func addTracks(
    _ description: OutputDescription, isSelfContained: Bool = false
  ) throws(MediaError) {
    if let source = description.copiedVideo {
      _ = try addCopy(
        of: source, parameters: description.format.parameters,
        timeBase: description.videoTimeBase, metadata: description.videoMetadata,
        orientation: description.mark?.field)
    } else {
      _ = try addStream(
        description.format.parameters, timeBase: description.frameTick ?? description.videoTimeBase,
        frameRate: description.frameRate, isSelfContained: isSelfContained,
        metadata: description.videoMetadata)
    }
    for track in description.sideTracks {
      _ = try addStream(
        track.parameters, timeBase: track.timeBase, like: track.source, metadata: track.metadata)
    }
  }
}
