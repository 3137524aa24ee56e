package import UprightPolicy

/// What has gone through a `PacketSession`.
public struct PacketCounters: Sendable, Hashable, Codable {
  /// The number of frames that were decoded.
  public var framesIn = 0
  /// The number of frames that were turned, encoded and put out.
  public var framesOut = 0
  /// The number of those that are keyframes.
  public var keyframes = 0
  /// The number of packets of audio that were put out.
  public var audioPackets = 0
  /// The number of bytes that were put out.
  public var bytesOut = 0
  /// The number of formats that were begun.
  public var formats = 0
  /// The number of events that made no sense in the policy.
  public var refusedEvents = 0

  /// Creates counters that are zero.
  init() {}

  /// Counts an element of the output.
  mutating func add(_ output: PacketOutput) {
    switch output {
    case .packet(let packet):
      bytesOut += packet.bytes.count
      if packet.track == .audio {
        audioPackets += 1
      } else {
        framesOut += 1
        if packet.isKey { keyframes += 1 }
      }
    case .format: formats += 1
    case .refused: refusedEvents += 1
    case .decision: break
    }
  }

  /// The counters by name.
  package var json: JSONValue {
    [
      "framesIn": .integer(framesIn), "framesOut": .integer(framesOut),
      "keyframes": .integer(keyframes), "audioPackets": .integer(audioPackets),
      "bytesOut": .integer(bytesOut), "formats": .integer(formats),
      "refusedEvents": .integer(refusedEvents),
    ]
  }
}
