internal import CFFmpeg
internal import Synchronization

/// Ends blocking reads and writes from another thread or a signal handler. Once raised, it stays.
package final class Interrupt: Sendable {
  private let flag = Atomic(false)

  package init() {}

  package func raise() { flag.store(true, ordering: .releasing) }

  package var isRaised: Bool { flag.load(ordering: .acquiring) }

  /// What libavformat polls from inside blocking calls. It holds no reference: whoever owns the
  /// context keeps this alive.
  var callback: AVIOInterruptCB {
    AVIOInterruptCB(
      callback: { opaque in
        guard let opaque else { return 0 }
        return Unmanaged<Interrupt>.fromOpaque(opaque).takeUnretainedValue().isRaised ? 1 : 0
      }, opaque: Unmanaged.passUnretained(self).toOpaque())
  }
}
