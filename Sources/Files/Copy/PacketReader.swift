internal import UprightOrientation
internal import UprightMediaIO

/// Reads packets to the end and skips damaged parts, up to a limit.
struct PacketReader {
  /// The number of damaged parts that were skipped.
  private(set) var damaged = 0
  /// The error that ended reading early; `nil` if everything was read.
  private(set) var error: UprightError?
  /// Whether reading was cancelled.
  private(set) var isStopped = false
  private let demuxer: any PacketSource

  init(_ demuxer: any PacketSource) { self.demuxer = demuxer }

  /// Returns the next packet; `nil` at the end, after an error or if cancelled.
  mutating func next() -> Packet? {
    var failures = 0
    while true {
      do throws(UprightError) {
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
