/// The parameter sets of a whole H.264 or HEVC stream: those of its configuration and those in its
/// packets, each number once.
public struct StreamParameterSets: Sendable {
  /// Why a stream cannot be described by one list of sets.
  public enum Flaw: Sendable, Hashable {
    /// A set is cut short or damaged.
    case unreadable
    /// A number stands for one set here and for another there.
    case changing
    /// There is more in it than one layer of pictures: further views, depth, transparency, enhancement.
    case layered
  }

  private struct Key: Hashable {
    let kind: ParameterSet.Kind
    let number: Int
  }

  /// What the container says; nil where it cannot be read.
  public let configuration: DecoderConfiguration?
  /// In the order they were met.
  public private(set) var sets: [ParameterSet] = []
  /// The first one met.
  public private(set) var flaw: Flaw?
  private var known: [Key: [UInt8]] = [:]
  private let codec: DisplayOrientationTracker.Codec
  private let framing: NALFraming

  /// - Parameter configuration: as for `DecoderConfiguration`.
  public init(codec: DisplayOrientationTracker.Codec, configuration bytes: [UInt8]) {
    self.codec = codec
    configuration = try? DecoderConfiguration(bytes, codec: codec)
    framing = configuration?.framing ?? .startCodes
    if configuration == nil { flaw = .unreadable }
    for set in configuration?.sets ?? [] { add(set) }
  }

  /// Looks at one packet. O(size); nothing is kept of it but new sets.
  public mutating func note(_ packet: UnsafeRawBufferPointer) {
    unsafe packet.withMemoryRebound(to: UInt8.self) { bytes in
      note(unsafe bytes.span)
    }
  }

  private mutating func note(_ packet: Span<UInt8>) {
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
      // nuh_layer_id; and what Dolby Vision puts into 62 and 63 (unspecified by ISO/IEC 23008-2).
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
    // avcC and hvcC have 16 bits for its length.
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
