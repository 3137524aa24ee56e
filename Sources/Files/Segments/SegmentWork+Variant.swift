internal import UprightOrientation
internal import UprightMedia
internal import UprightMediaIO

extension SegmentWork {
  /// Returns what a multivariant playlist says of the source. Decodes one frame at most, and opens encoders, but encodes
  /// nothing.
  ///
  /// - Throws: The errors of a session before its first frame.
  func variant() throws(UprightError) -> SegmentVariant {
    try withInput { (input) throws(UprightError) in
      let plan = input.plan
      let keepsRange = list.pieces.allSatisfy { $0.reason == nil } || !plan.mapsTones
      return SegmentVariant(
        peak: rate(of: .video, frameBytes).peak,
        average: rate(of: .video, usualFrameBytes).average,
        keyframesPeak: rate(of: .keyframes, frameBytes).peak, codecs: try codecs(plan),
        size: list.pieces[0].size, frameRate: plan.frameRate?.doubleValue,
        range: keepsRange ? plan.video.parameters.dynamicRange : nil,
        audio: audioTracks(input.tracks),
        captions: SegmentVariant.Track.all(SegmentCaptions.streams(plan), as: "Captions"))
    }
  }

  /// Returns the playlist of a track of captions.
  ///
  /// - Throws: `usage` if there is no such track.
  func captionsPlaylist(_ track: Int) throws(UprightError) -> String {
    try checkCaptions(track, 0)
    return list.captionsPlaylist(track)
  }

  /// Returns a track of captions as WebVTT, while a format lasts.
  ///
  /// - Throws: `usage` if there is no such track or format; the errors of reading.
  func captions(
    _ track: Int, _ format: Int, while isWanted: () -> Bool
  ) throws(UprightError) -> String {
    try checkCaptions(track, format)
    return try withInput { (input) throws(UprightError) in
      let captions = try SegmentCaptions(
        input.plan, SegmentCaptions.streams(input.plan)[track], zero: list.origin, while: isWanted)
      return captions.text(
        of: list.times(ofFormat: format),
        offset: OutputDescription.segmentOffset(earliestFrame, input.plan.videoTimeBase))
    }
  }

  private func checkCaptions(_ track: Int, _ format: Int) throws(UprightError) {
    guard (0..<captionTracks).contains(track), (0..<list.formats).contains(format) else {
      throw UprightError(
        .usage, "there is no track \(track) of captions", at: request.input,
        remedy: "see SegmentVariant.captions")
    }
  }

  /// Returns the rates of the segments, given the size of the frames of each.
  private func rate(
    of content: SegmentContent, _ frameBytes: (SegmentList.Piece, SegmentContent) -> Int
  ) -> SegmentRate {
    let longest = list.pieces.map { list.duration(of: $0) }.max() ?? .zero
    var rate = SegmentRate(targetDuration: longest)
    for piece in list.pieces {
      let duration = list.duration(of: piece)
      // The boxes of a fragment, and the entries of its frames.
      let boxes = 256 + 16 * (content == .keyframes ? 1 : piece.frames.count)
      rate.add(bytes: boxes + frameBytes(piece, content), duration: duration)
    }
    return rate
  }

  /// Returns the size of the frames of a segment, in bytes, or the most that they may have if they are encoded.
  func frameBytes(of piece: SegmentList.Piece, _ content: SegmentContent) -> Int {
    let source = sourceBytes(of: piece, content)
    if piece.reason == nil, let source { return source }
    // More than nearly all have at a constant quality: a segment that is encoded once more comes late.
    let bits =
      usualBits(piece.size)
      * (content == .keyframes ? 2 : 4 * list.duration(of: piece).seconds + 2)
    let most = Int(clamping: (bits / 8).rounded(.up))
    let smaller = source.flatMap { bytes(ofSmaller: piece, content, than: $0) } ?? most
    // No encoder reaches the rate of any input: a talk's slides may have next to nothing.
    return min(most, max(smaller, most / 8))
  }

  /// Returns the size of the frames of a segment, in bytes, or what is usual for frames that are encoded.
  private func usualFrameBytes(of piece: SegmentList.Piece, _ content: SegmentContent) -> Int {
    let most = frameBytes(of: piece, content)
    if piece.reason == nil { return most }
    let bits = usualBits(piece.size) * list.duration(of: piece).seconds
    return min(most, Int(clamping: (bits / 8).rounded(.up)))
  }

  private func usualBits(_ size: PixelSize) -> Double {
    if case .bitrate(let bits) = request.options.rate { return Double(bits) }
    return Rung(size: size).usualBits
  }

  /// Returns the size of the frames of a segment in the input; `nil` if it is unknown.
  private func sourceBytes(of piece: SegmentList.Piece, _ content: SegmentContent) -> Int? {
    let sizes = list.parts.inputSurvey.survey.sizes
    let frames = content == .keyframes ? piece.frames.prefix(1) : piece.frames
    guard sizes.count >= frames.upperBound else { return nil }
    return sizes[frames].reduce(0) { $0 + Int($1) }
  }

  /// Returns the most bytes for frames that are smaller than the input's: more would show nothing more.
  ///
  /// - Returns: `nil` for frames that aren't smaller.
  private func bytes(
    ofSmaller piece: SegmentList.Piece, _ content: SegmentContent, than source: Int
  ) -> Int? {
    let (own, size) = (piece.size, sourceSize)
    let share =
      Double(own.width) / Double(size.width) * Double(own.height) / Double(size.height)
    guard share <= 0.75 else { return nil }
    var bytes = source
    let first = piece.frames.lowerBound
    if list.start(of: first).frame != first {
      // It begins with a keyframe nevertheless.
      let largest = list.parts.inputSurvey.survey.sizes.max().map(Int.init) ?? 0
      bytes = content == .keyframes ? largest : bytes + largest
    }
    // The bits that a pixel needs rise as there are fewer of them.
    return Int(clamping: (Double(bytes) * 1.25 * share.squareRoot()).rounded(.up))
  }

  /// Returns the names of the formats: those of copied frames, or of the encoder of each size.
  private func codecs(_ plan: SessionPlan) throws(UprightError) -> [String] {
    var names: [String?] = []
    if isCopied || list.parts.join != nil {
      names = [shared.codecString]
    } else {
      let first = try plan.decodeFirstFrame()
      var settings = plan.encoderSettings(first: first, codec: list.parts.codec)
      for size in Set(list.pieces.map(\.size)).sorted(by: { $0.width < $1.width }) {
        settings.size = size
        names.append(try VideoEncoder(settings).parameters().codecString)
      }
    }
    let known = names.compactMap(\.self)
    guard known.count == names.count else { return [] }
    return known.enumerated().filter { !known[..<$0].contains($1) }.map(\.element)
  }

  private func audioTracks(_ tracks: [SideTrackWriter]) -> [SegmentVariant.Audio] {
    let names = SegmentVariant.Track.all(tracks.map(\.stream), as: "Audio")
    return zip(tracks, names).map { side, track in
      let parameters = side.description.parameters
      // An average; a few frames together have more.
      let bits = Double(parameters.bitRate ?? Self.usualAudio)
      return .init(
        track: track, channels: parameters.channels, codec: parameters.codecString,
        peak: bits * 1.5 + 8000, average: bits)
    }
  }

  /// The rate of audio whose own is unknown, in bits per second.
  private static let usualAudio = 256_000
}

extension SessionPlan {
  /// The audio tracks. The first is that which players choose by themselves.
  var audioTracks: [SideTrackWriter] {
    let tracks = sideTracks.filter { $0.stream.kind == .audio }
    let best = demuxer.bestStream(.audio)?.index
    return tracks.filter { $0.stream.index == best } + tracks.filter { $0.stream.index != best }
  }
}

extension SegmentVariant.Track {
  /// Returns how viewers know tracks of one kind.
  ///
  /// - Parameter kind: The name of a track that has neither a title nor a language.
  static func all(_ streams: [StreamInfo], as kind: String) -> [Self] {
    var tracks: [Self] = []
    for stream in streams {
      let language = stream.metadata["language"].flatMap { $0 == "und" ? nil : $0 }
      let own = stream.metadata["title"] ?? language ?? kind
      var (name, count) = (own, 1)
      while tracks.contains(where: { $0.name == name }) {
        count += 1
        name = "\(own) \(count)"
      }
      tracks.append(Self(name: name, language: language))
    }
    return tracks
  }
}
