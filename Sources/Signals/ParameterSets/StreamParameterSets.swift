/// The parameter sets of a whole H.264 or HEVC stream, from its configuration and its packets, each
/// identifier once.
package struct StreamParameterSets: Sendable {
  /// The reason why one list of sets can't describe a stream.
  package enum Flaw: Sendable, Hashable {
    /// A set is truncated or damaged.
    case unreadable
    /// An identifier is used for different sets.
    case changing
    /// The stream contains more than one layer: further views, depth, transparency, enhancement.
    case layered
  }

  private struct Key: Hashable {
    let kind: ParameterSet.Kind
    let number: Int
  }

  /// The container's configuration; `nil` if it can't be read.
  package let configuration: DecoderConfiguration?
  /// The sets, in the order in which they were found.
  package private(set) var sets: [ParameterSet] = []
  /// The first flaw found.
  package private(set) var flaw: Flaw?
  private var known: [Key: [UInt8]] = [:]
  private let codec: DisplayOrientationTracker.Codec
  private let framing: NALFraming

  /// Creates a collector for one stream.
  ///
  /// - Parameters:
  ///   - configuration: as for `DecoderConfiguration`.
  ///   - hasItsSets: Whether the stream begins with the sets of the configuration.
  package init(
    codec: DisplayOrientationTracker.Codec, configuration bytes: [UInt8], hasItsSets: Bool = true
  ) {
    self.codec = codec
    configuration = try? DecoderConfiguration(bytes, codec: codec)
    framing = configuration?.framing ?? .startCodes
    if configuration == nil { flaw = .unreadable }
    guard hasItsSets else { return }
    for set in configuration?.sets ?? [] { add(set) }
  }

  /// Whether there is a set of each kind, and no flaw.
  package var isComplete: Bool {
    flaw == nil
      && ParameterSet.Kind.allCases.allSatisfy { kind in sets.contains { $0.kind == kind } }
  }

  /// Whether no picture can be made of fields. `false` if that isn't known.
  package var areProgressive: Bool {
    let sequences = sets.filter { $0.kind == .sequence }
    return flaw == nil && !sequences.isEmpty
      && sequences.allSatisfy { (try? SequenceParameters($0))?.mayHoldFields == false }
  }

  /// Adds a set by its NAL unit, as if it had been in a packet. Returns `false` if it isn't a parameter set.
  package mutating func add(unit: [UInt8]) -> Bool {
    guard let set = try? ParameterSet(unit: unit, codec: codec) else { return false }
    add(set)
    return true
  }

  /// Processes one packet. O(size). Only new sets are retained.
  package mutating func read(_ packet: UnsafeRawBufferPointer) {
    unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      read(unsafe bytes.span)
    }
  }

  private mutating func read(_ packet: Span<UInt8>) {
    guard flaw == nil else { return }
    var units = NALUnits(framing.actual(in: packet))
    while let range = units.next(in: packet) {
      guard range.count >= codec.headerLength, packet[range.lowerBound] < 0x80 else { continue }
      switch kind(of: packet, at: range.lowerBound) {
      case .set:
        let unit = range.map { packet[$0] }
        guard let set = try? ParameterSet(unit: unit, codec: codec) else {
          flaw = .unreadable
          return
        }
        add(set)
      case .layer: flaw = flaw ?? .layered
      case .other: break
      }
    }
  }

  private enum UnitKind { case set, layer, other }

  private func kind(of packet: Span<UInt8>, at place: Int) -> UnitKind {
    switch codec {
    case .h264:
      // ISO/IEC 14496-10, table 7-1: sets and slices of annexes F to I, auxiliary pictures.
      switch packet[place] & 0x1F {
      case 7, 8: return .set
      case 2...4, 13, 15, 19, 20, 21: return .layer
      default: return .other
      }
    case .hevc:
      // nuh_layer_id, and the types 62 and 63 that Dolby Vision uses (unspecified by ISO/IEC
      // 23008-2).
      let layer = (packet[place] & 1) << 5 | packet[place + 1] >> 3
      switch packet[place] >> 1 {
      case _ where layer > 0: return .layer
      case 62, 63: return .layer
      case 32...34: return .set
      default: return .other
      }
    }
  }

  private mutating func add(_ set: ParameterSet) {
    // The length field in avcC and hvcC has 16 bits.
    guard set.unit.count <= Int(UInt16.max) else {
      flaw = flaw ?? .unreadable
      return
    }
    let key = Key(kind: set.kind, number: set.number)
    if let present = known[key] {
      if present != set.unit { flaw = flaw ?? .changing }
      return
    }
    known[key] = set.unit
    sets.append(set)
  }
}
