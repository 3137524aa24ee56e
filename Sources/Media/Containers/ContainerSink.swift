package import UprightOrientation
package import UprightMediaIO

/// Writes one file, one network stream, or bytes in memory, in a container that libavformat muxes.
package final class ContainerSink: PacketSink {
  private let muxerName: String
  private let target: String
  private let interrupt: Interrupt
  private let unfinished: UnfinishedFiles
  private var staged: StagedFile?
  /// Receives the bytes of an output in memory, and `nil` at its end; `nil` for others.
  private let receive: ((sending [UInt8]?) throws(UprightError) -> Void)?
  private var muxer: Muxer?
  private var mark: OrientationMetadata?
  private var description: OutputDescription?
  /// The number of frames written so far.
  private var frames = 0
  /// The interval at which the file becomes playable up to that point, even if the process is killed; `nil`
  /// for a file that becomes playable only when it is finished.
  private let wholeEvery: MediaTime?
  /// The last time up to which the file is playable.
  private var wholeUpTo: MediaTime?
  /// Whether a part of such a file is playable.
  package private(set) var hasWholePart = false
  private var sampleDescriptions: SampleDescriptions?
  private var indexRoom: IndexReservation?
  /// The last video packet of an MP4 or MOV file: the next one or the file's end decides its duration. If it reached past
  /// the start of the next fragment, movenc would move that.
  private var held: Packet?
  private var decodingEnd = DecodingEnd()
  private var isClosed = false
  package private(set) var files: [String] = []

  /// - Parameter wholeEvery: For a recording: the file is written under its final name from the first byte.
  ///   At each IDR frame that comes at least this long after the last such point, everything before it
  ///   becomes playable.
  /// - Throws: `cannotCreate` if the file can't be created, before any other work is done.
  package convenience init(
    container: OutputContainer, target: String, interrupt: Interrupt, unfinished: UnfinishedFiles,
    wholeEvery: MediaTime? = nil
  ) throws(UprightError) {
    try self.init(
      muxer: container.muxer, target: target, interrupt: interrupt, unfinished: unfinished,
      wholeEvery: wholeEvery)
  }

  /// The same for any muxer of libavformat.
  package init(
    muxer: String, target: String, interrupt: Interrupt, unfinished: UnfinishedFiles,
    wholeEvery: MediaTime? = nil
  ) throws(UprightError) {
    receive = nil
    self.unfinished = unfinished
    self.wholeEvery = wholeEvery
    muxerName = muxer
    self.target = target
    self.interrupt = interrupt
    // Devices and pipes are written directly, without a temporary file.
    if wholeEvery == nil, Self.isStaged(target) {
      let file = try StagedFile(path: target)
      unfinished.add(file.temporaryPath)
      staged = file
    }
  }

  /// Writes to memory, in a container that is written without seeking.
  ///
  /// - Parameter receive: Receives the bytes in pieces, and `nil` at the end.
  package init(
    container: OutputContainer,
    receive: @escaping (sending [UInt8]?) throws(UprightError) -> Void
  ) {
    self.receive = receive
    unfinished = UnfinishedFiles()
    wholeEvery = nil
    muxerName = container.muxer
    target = "memory"
    interrupt = Interrupt()
  }

  /// Returns whether the output is a file that is renamed to its final name when it is finished.
  package static func isStaged(_ target: String) -> Bool {
    target != "-" && InputTrust.scheme(of: target) == nil && StagedFile.isReplaceable(target)
  }

  package func begin(_ description: OutputDescription) throws(UprightError) {
    self.description = description
    let isSelfContained = staged != nil && ["mp4", "mov"].contains(muxerName)
    try begin(description) { (muxer) throws(UprightError) in
      try muxer.addTracks(description, isSelfContained: isSelfContained)
    }
  }

  /// Opens the output with the tracks that `add` adds.
  package func begin(
    _ description: some FileDescription, add: (Muxer) throws(UprightError) -> Void
  ) throws(UprightError) {
    let address = staged?.temporaryPath ?? (target == "-" ? "pipe:1" : target)
    let muxer = try Muxer(
      format: muxerName, target: receive == nil ? .url(address) : .memory,
      name: target == "-" ? "standard output" : target, interrupt: staged == nil ? interrupt : nil,
      settings: protocolSettings)
    try add(muxer)
    muxer.setMetadata(description.metadata)
    try muxer.setChapters(description.chapters)
    if staged != nil, ["mp4", "mov"].contains(muxerName) {
      indexRoom = IndexReservation(samples: description.copiedSamples)
    }
    try muxer.writeHeader(options(description))
    self.muxer = muxer
    mark = description.mark
    try handOver()
  }

  /// Passes on what the muxer has written to memory.
  private func handOver() throws(UprightError) {
    guard let receive, let bytes = try muxer?.takeBytes(), !bytes.isEmpty else { return }
    try receive(bytes)
  }

  /// Limits how long a server that accepts no data can block, and verifies the certificate of an RTMPS
  /// server.
  private var protocolSettings: [(String, String)] {
    switch InputTrust.scheme(of: target) {
    case "rtmp": [("rw_timeout", Self.timeout)]
    case "rtmps": [("rw_timeout", Self.timeout), ("tls_verify", "1")]
    default: []
    }
  }

  /// The timeout, in microseconds.
  private static let timeout = "10000000"

  private func options(_ description: some FileDescription) -> [(String, String)] {
    switch muxerName {
    case "mp4", "mov":
      // Edit lists use the movie's time scale. libavformat's default of 1000 would round the start time.
      var options = [("movie_timescale", "\(description.videoTimeBase.denominator)")]
      var flags = description.listsTags ? "+use_metadata_tags" : ""
      if let indexRoom {
        options.append(("moov_size", "\(indexRoom.size)"))
      } else {
        // A pipe is not seekable, and a recording may be cut off, so both use a fragmented index.
        flags += staged == nil ? "+delay_moov+default_base_moof" : "+faststart"
        if staged == nil { flags += wholeEvery == nil ? "+frag_keyframe" : "+frag_custom" }
      }
      if !flags.isEmpty { options.append(("movflags", flags)) }
      return options
    case "flv": return [("flvflags", "+no_duration_filesize")]
    case "rtsp":
      // RTP in the one TCP connection: over UDP, the server's reply would determine where packets are sent.
      return [
        ("rtsp_transport", "tcp"), ("protocol_whitelist", "tcp"), ("timeout", Self.timeout),
      ]
    case "matroska", "webm":
      // Elements that are patched afterwards must have no checksum.
      return description.mark?.needsRectangularProjection == true ? [("write_crc32", "0")] : []
    default: return []
    }
  }

  package func write(
    _ packet: consuming Packet, track: Int, format: EncodedFormat?
  ) throws(UprightError) {
    guard let muxer else { throw UprightError(.fault, "a packet before the header", at: target) }
    if let format {
      switch muxerName {
      case "flv":
        // flvenc writes a new sequence header for the new extradata; the parameter sets are in band as well.
        try packet.attachNewExtradata(format.parameters.extradata)
        muxer.announce(format.size, of: 0)
      case "mp4", "mov": try describe(format)
      default: break
      }
    }
    if track == 0 {
      if let tick = description?.frameTick {
        packet.rescale(to: tick)
        packet.pts = Int64(frames)
        packet.dts = packet.pts
      }
      if holdsLast { try writeHeld(muxer, before: packet.dts) }
      if packet.isKey, let time = packet.time { try makeWhole(muxer, before: time) }
      frames += 1
      if holdsLast {
        decodingEnd.add(packet)
        held = consume packet
        return
      }
    }
    try muxer.write(packet, stream: track)
    try handOver()
  }

  private var holdsLast: Bool {
    ["mp4", "mov"].contains(muxerName) && (staged != nil || wholeEvery != nil)
  }

  private func writeHeld(_ muxer: Muxer, before next: Int64? = nil) throws(UprightError) {
    guard var packet = held.take() else { return }
    // movenc takes the end of the track, which its edit list has, from how long each frame is shown. In fragments it takes
    // the start of the next one from how long the last is decoded.
    if wholeEvery != nil || packet.duration == 0 { packet.last(until: next) }
    try muxer.write(packet, stream: 0)
  }

  /// Ends the fragment or cluster before an IDR frame and writes it to the file, if the interval has passed.
  private func makeWhole(_ muxer: Muxer, before time: MediaTime) throws(UprightError) {
    guard let wholeEvery else { return }
    guard let wholeUpTo else {
      self.wholeUpTo = time
      return
    }
    guard KeyframeClock.ends(after: time - wholeUpTo, of: wholeEvery) else { return }
    self.wholeUpTo = time
    try muxer.flush()
    hasWholePart = true
  }

  /// Records where a format begins. Its sample description is added to the index when the file is finished.
  /// Pipes have the parameter sets in band only.
  private func describe(_ format: EncodedFormat) throws(UprightError) {
    guard staged != nil, var description else { return }
    if sampleDescriptions == nil {
      sampleDescriptions = try SampleDescriptions(
        first: description, muxer: muxerName, location: target)
    }
    description.format = format
    try sampleDescriptions?.begin(description, at: frames)
  }

  package func finish(isPartial: Bool) throws(UprightError) {
    try close()
    if let name = try commit(isPartial: isPartial), isPartial { files = [name] }
  }

  /// Finishes the file under its temporary name.
  package func complete() throws(UprightError) { try close() }

  func close() throws(UprightError) {
    guard !isClosed else { return }
    isClosed = true
    // Reset the reserved room. Otherwise libavformat fails, with the media overwritten, if the room is too
    // small.
    if indexRoom != nil { muxer?.setIndexRoom(0) }
    if var last = held.take() {
      decodingEnd.finish(&last)
      held = consume last
    }
    if let muxer { try writeHeld(muxer) }
    try muxer?.finish()
    try handOver()
    muxer = nil
    try receive?(nil)
    if let staged {
      try indexRoom?.settle(fileAt: staged.temporaryPath, location: target)
    }
    if let staged, mark?.needsRectangularProjection == true {
      try MatroskaProjection.makeRectangular(staged.temporaryPath)
    }
    if let staged { try sampleDescriptions?.write(toFileAt: staged.temporaryPath) }
    if let staged, let description,
      !description.entryBoxes.isEmpty || !description.userData.isEmpty
    {
      let entries = SampleEntryBoxes(boxes: description.entryBoxes)
      try FilePatcher(path: staged.temporaryPath, location: target).extendIndex(at: target) {
        description.userData.rebuilt(entries.rebuilt($0))
      }
    }
    sampleDescriptions = nil
  }

  /// Renames a finished file to its final name and returns that name; `nil` if the output is not a staged
  /// file.
  func commit(isPartial: Bool) throws(UprightError) -> String? {
    defer { forget() }
    guard let staged else { return nil }
    let name = isPartial ? OutputName.partial(target) : target
    try staged.commit(as: name)
    return name
  }

  package func abandon() {
    muxer = nil
    try? receive?(nil)
    staged?.discard()
    forget()
  }

  private func forget() {
    if let staged { unfinished.remove(staged.temporaryPath) }
    staged = nil
  }
}

/// The properties that a file is opened with, apart from its tracks.
package protocol FileDescription {
  /// Seconds per tick of the video timestamps.
  var videoTimeBase: Rational { get }
  var metadata: [String: String] { get }
  var chapters: [Demuxer.Chapter] { get }
  /// How the output signals the orientation of copied frames; `nil` if the pixels are upright.
  var mark: OrientationMetadata? { get }
  /// Whether tags are written as QuickTime's list of arbitrary names.
  var listsTags: Bool { get }
  /// The number of samples of all tracks if most are copied; 0 if unknown, or if they are encoded.
  var copiedSamples: Int { get }
}

extension OutputDescription: FileDescription {
  package var copiedSamples: Int {
    guard let copiedVideo, copiedVideo.frameCount > 0 else { return 0 }
    return sideTracks.reduce(copiedVideo.frameCount) { $0 + $1.source.frameCount }
  }
}

extension Muxer {
  /// Adds the video track and the side tracks, in that order.
  ///
  /// - Parameter isSelfContained: Whether a sample entry contains all parameter sets of its format.
  func addTracks(
    _ description: OutputDescription, isSelfContained: Bool = false
  ) throws(UprightError) {
    if let source = description.copiedVideo {
      _ = try addCopy(
        of: source, parameters: description.format.parameters,
        timeBase: description.videoTimeBase, metadata: description.videoMetadata,
        orientation: description.mark?.field)
    } else if description.hasVideo {
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
