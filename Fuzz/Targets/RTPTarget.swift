#if DEBUG
@testable import UprightSignals

extension FuzzTarget {
  /// A codec, then packets: whether an arrival time comes first, a length, the packet.
  static let rtp = FuzzTarget("rtp") { bytes in
    var input = FuzzInput(bytes)
    let codec = input.choice(RTPCodec.allCases)
    let shape = input.byte()
    var stream = RTPStream(
      codec: codec,
      orientation: OrientationExtension([
        1: "urn:3gpp:video-orientation", 3: "urn:3gpp:video-orientation:6",
      ]),
      redundancy: shape & 1 == 1 ? 100 : nil, capacity: shape & 2 == 2 ? 4 : 512,
      startingDepth: shape & 4 == 4 ? 1 : 16, longestWait: shape & 8 == 8 ? 300 : nil)
    var taken = 0
    var arrival: Int64 = 0
    var units: [AccessUnit] = []
    while !input.isEmpty {
      let isTimed = input.byte() & 3 == 0
      if isTimed { arrival += Int64(input.integer(UInt16.self)) << 8 }
      let packet = input.piece()
      taken += packet.count
      try check(packet)
      units += stream.receive(packet, arrival: isTimed ? arrival : nil)
    }
    units += stream.finish()
    let sum = units.reduce(0) { $0 + $1.bytes.count }
    // A start code is four bytes for a unit of two or more; a superframe index is even smaller.
    try expect(sum <= 4 * taken + 4, "\(sum) bytes of frames from \(taken) of packets")
    try expect(units.allSatisfy { !$0.bytes.isEmpty }, "an empty access unit")
    _ = OpusPacket.duration(units.last?.bytes ?? [])
  }

  private static func check(_ bytes: [UInt8]) throws {
    guard let packet = RTPPacket(bytes) else { return }
    try expect(packet.payload.count <= bytes.count - 12, "a payload longer than its packet")
    for element in packet.extensions.elements {
      try expect(packet.extensions[element.id] != nil, "an element that can't be found")
    }
  }
}
#endif
