import UprightOrientation

@testable import UprightMediaIO

/// Returns an empty packet, for tests that only use its times.
func packet(
  pts: Int64?, dts: Int64? = nil, duration: Int64 = 0, key: Bool = false,
  base: Rational = Rational(1, 1000)
) throws -> Packet {
  var packet = try Packet()
  packet.pts = pts
  packet.dts = dts ?? pts
  packet.timeBase = base
  packet.duration = duration
  packet.isKey = key
  return packet
}
