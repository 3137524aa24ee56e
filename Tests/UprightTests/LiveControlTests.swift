import Synchronization
import Testing

@testable import UprightLive

/// What the threads of a live session share.
@Suite struct LiveControlTests {
  /// Where the stack is that the caller runs on.
  @inline(never)
  private static func stack() -> UInt {
    var here: UInt8 = 0
    return withUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
  }

  /// A session tells something at every turn, for months: each time must cost what the first one cost.
  @Test("The thousandth thing is told as the first was")
  func tells() throws {
    let control = LiveControl()
    let depths = Mutex<[UInt]>([])
    control.observe { _ in depths.withLock { $0.append(Self.stack()) } }
    for _ in 0..<1000 { control.tell(.state(.live, reason: nil)) }
    let seen = depths.withLock { $0 }
    #expect(seen.count == 1000)
    #expect(try #require(seen.first) == #require(seen.last))
  }
}
