internal import UprightOrientation
internal import UprightSignals
internal import UprightMediaIO

/// Combines the parameter sets of two encoders in one H.264 or HEVC stream.
struct ParameterSetMerger: Sendable {
  /// How the encoder gets parameter set IDs that the source doesn't use.
  private enum Numbering {
    /// The encoder is given an ID for both kinds of set (libx264).
    case told(Int)
    /// The encoder uses only 0, and its output is rewritten (libx265).
    case corrected(ParameterSetNumbers)
  }

  /// The parameters in the source's sets.
  let sequence: SequenceParameters
  private let configuration: DecoderConfiguration
  private let sets: [ParameterSet]
  private let numbering: Numbering

  init(_ found: StreamParameterSets, _ codec: VideoCodec) throws(CopyRefusal) {
    switch found.flaw {
    case .unreadable: throw .init(reason: "its parameter sets cannot be read")
    case .changing: throw .init(reason: "its parameter sets change")
    case .layered: throw .init(reason: "it has more than one layer")
    case nil: break
    }
    guard let configuration = found.configuration, let sequence = Self.sequence(found.sets),
      found.sets.contains(where: { $0.kind == .picture })
    else { throw .init(reason: "its parameter sets cannot be read") }
    if sequence.mayHoldFields { throw .init(reason: "its frames may be coded as fields") }
    if case .lengths(let size) = configuration.framing, size < 4 {
      throw .init(reason: "its NAL unit lengths have \(size) bytes")
    }
    if codec == .h264, Self.profiles[sequence.profile] == nil {
      throw .init(reason: "there is no encoder for its profile (\(sequence.profile))")
    }
    guard let numbering = Self.numbering(found.sets, codec) else {
      throw .init(reason: "all parameter set IDs are in use")
    }
    self.sequence = sequence
    self.configuration = configuration
    self.numbering = numbering
    sets = found.sets
  }

  /// Returns the parameters that all of the source's sequence parameter sets share; `nil` if a set can't be
  /// read or they differ.
  private static func sequence(_ sets: [ParameterSet]) -> SequenceParameters? {
    let all = sets.filter { $0.kind == .sequence }.map { try? SequenceParameters($0) }
    guard let first = all.first, let first else { return nil }
    var reordering = first.reordering
    for other in all {
      guard let other, other.profile == first.profile, other.chroma == first.chroma,
        other.lumaDepth == first.lumaDepth, other.chromaDepth == first.chromaDepth,
        other.size == first.size, other.mayHoldFields == first.mayHoldFields
      else { return nil }
      if let depth = reordering, let own = other.reordering {
        reordering = min(depth, own)
      } else {
        reordering = nil
      }
    }
    var common = first
    common.reordering = reordering
    return common
  }

  private static func numbering(_ sets: [ParameterSet], _ codec: VideoCodec) -> Numbering? {
    if codec == .hevc { return ParameterSetNumbers(besides: sets).map { .corrected($0) } }
    // avcC stores the counts in 5 and 8 bits.
    guard sets.count(where: { $0.kind == .sequence }) < 31,
      sets.count(where: { $0.kind == .picture }) < 255
    else { return nil }
    let taken = Set(sets.map(\.number))
    return (0..<32).first { !taken.contains($0) }.map { .told($0) }
  }

  // MARK: - The encoder

  /// libx264's profile names by `profile_idc`.
  private static let profiles = [
    66: "baseline", 77: "main", 100: "high", 110: "high10", 122: "high422", 244: "high444",
  ]
  /// The levels that libx264 knows (ISO/IEC 14496-10, table A-1).
  private static let levels: Set = [
    10, 11, 12, 13, 20, 21, 22, 30, 31, 32, 40, 41, 42, 50, 51, 52, 60, 61, 62,
  ]

  /// Sets the source's profile and level, and limits reordering to the source's depth.
  func match(_ settings: inout VideoEncoder.Settings, reordering: Int) {
    var words = ["open-gop=0", "annexb=1", "repeat-headers=1"]
    switch numbering {
    case .told(let number):
      settings.options["profile"] = Self.profiles[sequence.profile]
      // Larger frames than the copied ones may need a higher level, which the encoder finds.
      let (own, other) = (settings.size, sequence.size)
      if Self.levels.contains(sequence.level), own.width * own.height <= other.width * other.height
      {
        settings.options["level"] = "\(sequence.level)"
      }
      words += ["sps-id=\(number)"]
      if reordering < 2 { words.append("b-pyramid=none") }
      if reordering < 1 { words.append("bframes=0") }
      Self.append(words, to: "x264-params", &settings)
    case .corrected:
      if reordering < 2 { words.append("b-pyramid=0") }
      if reordering < 1 { words.append("bframes=0") }
      Self.append(words, to: "x265-params", &settings)
    }
  }

  /// If an option is given twice, the last one applies.
  private static func append(
    _ words: [String], to key: String, _ settings: inout VideoEncoder.Settings
  ) {
    let given = settings.options[key].map { [$0] } ?? []
    settings.options[key] = (given + words).joined(separator: ":")
  }

  // MARK: - Output

  /// Returns the source's configuration with the encoder's sets appended to the source's.
  ///
  /// - Parameter extradata: The encoder's extradata, with start codes.
  func configuration(with extradata: [UInt8]) throws(UprightError) -> [UInt8] {
    do throws(MalformedSyntax) {
      var all = sets
      for set in try DecoderConfiguration(extradata, codec: configuration.codec).sets {
        let unit = try numbered(set.unit)
        guard let own = try ParameterSet(unit: unit, codec: configuration.codec),
          !all.contains(where: { $0.kind == own.kind && $0.number == own.number })
        else { throw MalformedSyntax() }
        all.append(own)
      }
      guard all.count > sets.count else { throw MalformedSyntax() }
      return try configuration.with(all)
    } catch {
      throw UprightError(.fault, "the encoder's parameter sets are not as expected")
    }
  }

  /// Converts a packet of the encoder, which has start codes, to the source's form; `nil` if it needs no
  /// change.
  func adapted(_ packet: UnsafeRawBufferPointer) throws(MalformedSyntax) -> [UInt8]? {
    if case .told = numbering, configuration.framing == .startCodes { return nil }
    return try unsafe configuration.framing.framed(packet, from: .startCodes) {
      (unit) throws(MalformedSyntax) in try numbered(unit)
    }
  }

  /// Returns a copied keyframe with the source's sets in it; `nil` if it has sets, or start codes.
  func completed(_ packet: UnsafeRawBufferPointer) -> [UInt8]? {
    unsafe configuration.framing.adding(
      sets.map(\.unit), to: packet, codec: configuration.codec)
  }

  private func numbered(_ unit: [UInt8]) throws(MalformedSyntax) -> [UInt8] {
    switch numbering {
    case .told: unit
    case .corrected(let numbers): try numbers.applied(to: unit)
    }
  }
}
