internal import CFFmpegShims

/// Ends blocking reads and writes from another thread or a signal handler. Once raised, it stays.
package final class Interrupt: @unchecked Sendable {
  let flag: OpaquePointer

  package init() {
    guard let flag = upright_interrupt_new() else { fatalError("out of memory") }
    self.flag = flag
  }

  deinit { upright_interrupt_free(flag) }

  package func raise() { upright_interrupt_raise(flag) }

  package var isRaised: Bool { upright_interrupt_raised(flag) != 0 }
}
