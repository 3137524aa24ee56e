#if DEBUG
import UprightMediaIO
import UprightOrientation

@testable import UprightSignals

extension FuzzTarget {
  /// One SEI NAL unit or the payload of one message. The first byte selects the codec.
  static let sei = FuzzTarget("sei") { bytes in
    var input = FuzzInput(bytes)
    let codec = input.choice(DisplayOrientationTracker.Codec.allCases)
    let body = Array(input.rest)
    var messages = DisplayOrientationMessage.messages(inNAL: body, codec: codec)
    if let message = DisplayOrientationMessage(payload: body, codec: codec) {
      messages.append(message)
    }
    for message in messages {
      let payload = message.payload(for: codec)
      try expect(
        DisplayOrientationMessage(payload: payload, codec: codec) == message,
        "the payload of \(message) is read back as another message")
      try expect(
        DisplayOrientationMessage.messages(inNAL: message.nal(for: codec), codec: codec)
          == [message], "the unit of \(message) is read back as another message")
      if case .set(let values, _) = message { _ = DisplayOrientationSignal(values).orientation }
    }
    let escaped = EmulationPrevention.escaped(body)
    try expect(
      EmulationPrevention.unescaped(escaped.span, escaped.indices) == body,
      "emulation prevention is not removed")
  }

  /// Packets of H.264 or HEVC in decoding order: tracked and rewritten.
  static let packets = FuzzTarget("packets") { bytes in
    var input = FuzzInput(bytes)
    let codec = input.choice(DisplayOrientationTracker.Codec.allCases)
    let orientation = input.choice(ImageOrientation.allCases)
    let configuration = input.piece()
    var tracker = DisplayOrientationTracker(codec: codec, configuration: configuration)
    var remover = DisplayOrientationRewriter(
      codec: codec, configuration: configuration, orientation: nil)
    var rewriter = DisplayOrientationRewriter(
      codec: codec, configuration: configuration, orientation: orientation)
    var sets = StreamParameterSets(codec: codec, configuration: configuration)
    let framing = NALFraming(configuration: configuration, codec: codec)
    while !input.isEmpty {
      let kind = input.byte()
      let pts = kind & 1 == 0 ? input.ticks() : nil
      let isKey = kind & 2 == 2
      let packet = input.piece()
      tracker.read(packet, pts: pts)
      if kind & 4 == 4 { _ = tracker.signal(at: kind & 8 == 8 ? pts : input.ticks()) }
      packet.withUnsafeBytes { sets.read($0) }
      _ = packet.withUnsafeBytes { DecodingEntry($0, codec: codec, framing: framing) }
      let inserted = rewriter.inserted
      let clean = packet.withUnsafeBytes { remover.rewrite($0, isKey: isKey) } ?? packet
      let stated = packet.withUnsafeBytes { rewriter.rewrite($0, isKey: isKey) } ?? packet
      // Bytes before the first unit are kept, and can make the result look like the other framing.
      guard isWellFormed(packet, framing.actual(in: packet.span)) else { continue }
      // Lengths of 0 and 1 can't be distinguished from a start code.
      guard
        [clean, stated].allSatisfy({
          framing.actual(in: $0.span) == framing.actual(in: packet.span)
        })
      else { continue }
      try expect(
        messages(clean, codec, framing).isEmpty, "messages remain in \(clean), from \(packet)")
      let found = messages(stated, codec, framing)
      try expect(
        found.count == rewriter.inserted - inserted,
        "\(found.count) messages in \(stated), from \(packet)")
      try expect(
        found.allSatisfy { $0 == DisplayOrientationMessage(standing: orientation) },
        "messages other than the one inserted")
    }
    try expect(tracker.heldPictures <= PictureOrder.capacity, "\(tracker.heldPictures) pictures")
  }

  private static func isWellFormed(_ packet: [UInt8], _ framing: NALFraming) -> Bool {
    guard case .lengths(let size) = framing else {
      return packet.starts(with: [0, 0, 1]) || packet.starts(with: [0, 0, 0, 1])
    }
    var place = 0
    while place + size < packet.count {
      place += size + packet[place..<place + size].reduce(0) { $0 << 8 | Int($1) }
    }
    return place == packet.count
  }

  private static func messages(
    _ packet: [UInt8], _ codec: DisplayOrientationTracker.Codec, _ framing: NALFraming
  ) -> [DisplayOrientationMessage] {
    var found: [DisplayOrientationMessage] = []
    var units = NALUnits(framing.actual(in: packet.span))
    while let range = units.next(in: packet.span) {
      found += DisplayOrientationMessage.messages(inNAL: packet[range], codec: codec)
    }
    return found
  }

  /// A decoder configuration, followed by further parameter sets.
  static let parameters = FuzzTarget("parameters") { bytes in
    var input = FuzzInput(bytes)
    let codec = input.choice(DisplayOrientationTracker.Codec.allCases)
    let record = input.piece()
    var sets: [ParameterSet] = []
    while !input.isEmpty {
      let unit = input.piece()
      if let set = try? ParameterSet(unit: unit, codec: codec) { sets.append(set) }
      if let numbers = ParameterSetNumbers(besides: sets) {
        if let applied = try? numbers.applied(to: unit), applied != unit,
          let set = try? ParameterSet(unit: applied, codec: .hevc)
        {
          try expect(
            [numbers.video, numbers.sequence, numbers.picture].contains(set.number),
            "\(set.number) is not one of \(numbers)")
        }
      }
    }
    for set in sets {
      if set.kind == .sequence, let parameters = try? SequenceParameters(set) {
        try expect(
          parameters.size.width > 0 && parameters.size.height > 0, "a frame without a size")
      }
    }
    let configuration = try DecoderConfiguration(record, codec: codec)
    // avcC has 5-bit and 8-bit counts.
    sets = Array((configuration.sets + sets).prefix(30))
    guard sets.allSatisfy({ $0.unit.count <= Int(UInt16.max) }) else { return }
    let written = try configuration.with(sets)
    let again = try DecoderConfiguration(written, codec: codec)
    guard configuration.framing != .startCodes else { return }
    try expect(
      Set(again.sets) == Set(sets).filter { codec == .hevc || $0.kind != .video },
      "the sets are not read back as written")
  }

  /// The start of a VP9 packet, of an AV1 packet and of a JPEG image.
  static let keyframes = FuzzTarget("keyframes") { bytes in
    _ = DecodingEntry(vp9: bytes)
    _ = DecodingEntry(av1: bytes)
    if let size = VP9Keyframe.size(bytes) {
      try expect((1...65536).contains(size.width), "a width of \(size.width)")
    }
    _ = EXIFOrientation.orientation(inJPEG: bytes)
  }

  /// The movie box with a timed orientation track, and a sample of it.
  static let mebx = FuzzTarget("mebx") { bytes in
    var input = FuzzInput(bytes)
    let sample = input.piece()
    let movie = Array(input.rest)
    for track in TimedOrientationTrack.tracks(inMovie: movie) { _ = track.value(of: sample) }
    var fragments = MovieFragments(inMovie: movie)
    fragments.add(sample)
    for track in TrackTimes.tracks(inMovie: movie) {
      for times in [track.samples(), track.samples(in: fragments)] {
        guard let times, let map = PresentationMap(track, mediaEnd: times.end) else { continue }
        _ = PresentedSamples(map, times)?.isPlain
      }
    }
    if let box = MP4Box(header: movie), let size = box.size {
      try expect(size >= box.payload.lowerBound, "a box shorter than its header")
    }
  }

  /// An FLV file, or the body of a script tag.
  static let flv = FuzzTarget("flv") { bytes in
    for said in [FLVOrientation(script: bytes), FLVOpening(bytes)?.first].compactMap({ $0 }) {
      _ = said.senseless
      if let turn = said.turn {
        try expect((0..<360).contains(turn.clockwiseDegrees), "a rotation of \(turn)")
      }
    }
    for kind in [FLVTrackTag.Kind.audio, .video] {
      for part in FLVTrackTag.parts(of: kind, bytes) {
        try expect(part.body.upperBound <= bytes.count, "\(part.body)")
      }
    }
    let pipe = BytePipe(capacity: .max)
    _ = pipe.write(bytes)
    pipe.end()
    do {
      let source = try FLVSource(pipe, interrupt: Interrupt())
      while let packet = try source.read() {
        try expect(source.stream(packet.streamIndex) != nil, "stream \(packet.streamIndex)")
      }
    } catch let error as UprightError where error.code == .badData {}
  }
}
#endif
