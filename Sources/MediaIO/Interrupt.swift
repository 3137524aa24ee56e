internal import CUprightFFmpeg
internal import Synchronization

/// Ends blocking reads and writes from another thread or a signal handler. Once raised, it stays raised.
package final class Interrupt: Sendable {
  private let flag = Atomic(false)

  package init() {}

  package func raise() { flag.store(true, ordering: .releasing) }

  package var isRaised: Bool { flag.load(ordering: .acquiring) }

  /// The callback that libavformat polls during blocking calls. It holds no reference: the owner of the
  /// context must keep this object alive.
  var callback: AVIOInterruptCB {
    AVIOInterruptCB(
      callback: { opaque in
        guard let opaque else { return 0 }
        return Unmanaged<Interrupt>.fromOpaque(opaque).takeUnretainedValue().isRaised ? 1 : 0
      }, opaque: Unmanaged.passUnretained(self).toOpaque())
  }
}
