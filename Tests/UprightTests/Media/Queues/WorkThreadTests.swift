import Synchronization
import Testing

@testable import UprightMedia

@Suite struct WorkThreadTests {
  private final class Captured: Sendable {}

  @Test("What a job captured is released when its thread is joined, and its result is kept")
  func released() {
    for number in 0..<200 {
      var captured: Captured? = Captured()
      weak let seen = captured
      let thread = WorkThread(name: "a name of more than 15 bytes") { [captured] in
        captured == nil ? -1 : number
      }
      captured = nil
      #expect(thread.join() == number && thread.join() == number)
      #expect(seen == nil)
    }
  }
}
