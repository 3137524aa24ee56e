import Synchronization
import Testing

@testable import UprightLive
import UprightTestSupport

/// The state shared by the threads of a live session.
@Suite(.tags(.waits)) struct LiveControlTests {
  /// Returns the address of the caller's stack.
  @inline(never)
  private static func stack() -> UInt {
    var here: UInt8 = 0
    return withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
  }

  /// A session reports updates for months. Every report must have the cost of the first.
  @Test("The thousandth update uses as much stack as the first")
  func tells() throws {
    let control = LiveControl()
    let depths = Mutex<[UInt]>([])
    control.observe { _ in depths.withLock { $0.append(Self.stack()) } }
    for _ in 0..<1000 { control.notify(.state(.live, reason: nil)) }
    let seen = depths.withLock { $0 }
    #expect(seen.count == 1000)
    #expect(try #require(seen.first) == #require(seen.last))
  }
}
