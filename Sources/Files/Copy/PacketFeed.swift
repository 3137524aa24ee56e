internal import UprightMediaIO

/// Reads packets to the end and goes on over damage, as far as that leads somewhere.
struct PacketFeed {
  /// Damaged stretches that were passed over.
  private(set) var damaged = 0
  /// What ended reading before the end; nil where all was read.
  private(set) var error: MediaError?
  /// Whether the caller stopped it.
  private(set) var isStopped = false
  private let demuxer: any PacketSource

  init(_ demuxer: any PacketSource) { self.demuxer = demuxer }

  /// The next packet; nil at the end, however it came.
  mutating func next() -> Packet? {
    var failures = 0
    while true {
      do throws(MediaError) {
        return try demuxer.read()
      } catch {
        if error.code == .badData, failures < 100 {
          failures += 1
          damaged += 1
          continue
        }
        if error.code == .cancelled { isStopped = true } else { self.error = error }
        return nil
      }
    }
  }
}
