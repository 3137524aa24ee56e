internal import CUprightFFmpeg
internal import CUprightFFmpegShims
package import UprightOrientation
internal import UprightSignals

/// Fields of MP4 and MOV files that the linked libavformat doesn't read, or misreads.
extension Demuxer {
  /// Returns the replacements that make libavformat read the samples of `tracks` in their size.
  ///
  /// libavformat before 6.0 ignores `pcmC`: it reads 16 bits of each sample of `ipcm`, and doesn't know
  /// `fpcm`. It knows QuickTime's types for the same samples, which have the same size; which byte comes first is
  /// corrected afterwards. Since 6.0 it reads `pcmC`, and refuses the whole file where the box has another type of
  /// entry around it or a size that no codec has. The latter is hidden, so that the other tracks can be read.
  static func patches(of content: MovieContent) -> [PatchedInput.Patch] {
    MovieTrack.tracks(inMovie: content.bytes).flatMap(\.entries).compactMap { entry in
      guard let pcm = entry.pcm else { return nil }
      switch (quickTimeType(pcm), upright_reads_pcmc()) {
      case (let type?, false):
        return PatchedInput.Patch(
          position: content.position + entry.position + 4, bytes: Array(type.utf8))
      case (nil, true):
        guard let box = entry.boxes.first(where: { $0.type == "pcmC" }) else { return nil }
        return PatchedInput.Patch(
          position: content.position + entry.position + box.whole.lowerBound + 4,
          bytes: Array("free".utf8))
      default: return nil
      }
    }
  }

  private static func quickTimeType(_ pcm: SampleEntry.PCM) -> String? {
    switch (pcm.isFloat, pcm.bits) {
    case (false, 16): "twos"
    case (false, 24): "in24"
    case (false, 32): "in32"
    case (true, 32): "fl32"
    case (true, 64): "fl64"
    default: nil
    }
  }

  /// Returns the error for a file that can't be opened: libavformat 7.1 and later can't open some that are encrypted.
  static func explained(
    _ error: UprightError, _ movie: MovieContent?, at location: String
  ) -> UprightError {
    guard error.code == .badData, let movie else { return error }
    let tracks = MovieTrack.tracks(inMovie: movie.bytes)
    let encryption = tracks.lazy.flatMap(\.entries).compactMap(\.encryption).first
    return encryption.map { .encrypted("the file", $0, at: location) } ?? error
  }

  /// Makes the codec of a stream that of its track's `pcmC`, if their samples have the same size, and its
  /// configuration that of its `hvcC`: libavformat 7.1 and later append the parameter sets of `lhvC`, which copies
  /// would have in both boxes.
  static func correct(
    _ stream: UnsafeMutablePointer<AVStream>, by track: MovieTrack?
  ) throws(UprightError) {
    guard let entry = track?.entries.first, let parameters = stream.pointee.codecpar else { return }
    if let pcm = entry.pcm, let wanted = avcodec_descriptor_get_by_name(pcm.codecName)?.pointee.id,
      av_get_bits_per_sample(wanted) == av_get_bits_per_sample(parameters.pointee.codec_id)
    {
      parameters.pointee.codec_id = wanted
    }
    if entry.boxes.contains(where: { $0.type == "lhvC" }),
      let configuration = entry.boxes.first(where: { $0.type == "hvcC" }),
      parameters.pointee.codec_id == AV_CODEC_ID_HEVC
    {
      try CodecParameters.setExtradata(Array(entry.bytes[configuration.payload]), of: parameters)
    }
  }
}

extension UprightError {
  static func encrypted(
    _ part: String, _ scheme: String, at location: String
  ) -> UprightError {
    UprightError(
      .badData, "\(part) is encrypted (\(scheme))", at: location, remedy: "decrypt it first")
  }
}

extension StreamInfo {
  /// Throws if the samples can't be read as they are: encrypted, or misread by the linked libavformat.
  ///
  /// - Parameter location: The input's name.
  package func checkReadable(at location: String) throws(UprightError) {
    if let encryption { throw .encrypted(label, encryption, at: location) }
    guard let pcm = track?.entries.first?.pcm, pcm.codecName != codecName else { return }
    throw UprightError(
      .badData,
      "\(label) has samples of \(pcm.bits) bits, \(pcm.isLittleEndian ? "little" : "big")-endian "
        + "(pcmC), which the linked FFmpeg doesn't read", at: location,
      remedy: "convert its audio first")
  }
}

/// Properties of tracks that are read from the container's own fields.
struct TrackProperties {
  /// The tracks of an MP4 or MOV file.
  let movie: [MovieTrack]
  /// The shapes of a Matroska file's video tracks, in order.
  private let matroska: [StreamShape]
  /// The encryption of a Matroska file's tracks, by the index of the stream.
  let ciphers: [Int: String]
  let outline: MovieOutline?
  let topBoxes: [MP4BoxType]

  /// - Parameters:
  ///   - opening: The first bytes of an input that isn't seekable.
  ///   - content: The index of a local MP4 or MOV file.
  ///   - file: The local file.
  ///   - settings: libavformat options by name.
  init(
    _ context: UnsafeMutablePointer<AVFormatContext>, opening: [UInt8], _ content: MovieContent?,
    _ file: ByteSource?, _ settings: [String: String], _ interrupt: Interrupt
  ) {
    guard String(cString: context.pointee.iformat.pointee.name).hasPrefix("mov,") else {
      (movie, outline, topBoxes) = ([], nil, [])
      // Of any other input, only what is in memory is read, so that no second connection is made.
      matroska = MatroskaVideo.shapes { position, count in
        if let file { return file.read(at: position, count: count) }
        guard position >= 0, position < opening.count else { return [] }
        return Array(opening[position...].prefix(count))
      }
      ciphers = file.map { MatroskaEncryption.algorithms(in: $0) } ?? [:]
      return
    }
    var found = content ?? MovieContent(inOpening: opening)
    if found?.isComplete != true, file == nil, let url = context.pointee.url {
      found =
        ByteSource(url: String(cString: url), settings: settings, interrupt: interrupt)
        .flatMap { MovieContent(in: $0) } ?? found
    }
    movie = found.map { MovieTrack.tracks(inMovie: $0.bytes) } ?? []
    outline = found.flatMap { $0.isComplete ? MovieOutline(movie: $0.bytes) : nil }
    var seen: Set<MP4BoxType> = []
    topBoxes = file.map { MovieFileBoxes($0).map(\.type).filter { seen.insert($0).inserted } } ?? []
    (ciphers, matroska) = ([:], [])
  }

  /// Returns what the container says of the shape of a video stream, without the scale of a matrix, where
  /// libavformat leaves it out or merges it with what the bitstream says: cropping, and the aspect ratio of the pixels.
  /// `nil` if it can't be read.
  ///
  /// - Parameters:
  ///   - track: The track of an MP4 or MOV file.
  ///   - order: The number of video streams before it.
  func shape(of track: MovieTrack?, order: Int) -> StreamShape? {
    track?.shape ?? (order < matroska.count ? matroska[order] : nil)
  }
}

extension PacketSource {
  /// Throws if the samples of a stream can't be read as they are.
  package func checkReadable() throws(UprightError) {
    for stream in container.streams { try stream.checkReadable(at: url) }
  }
}
