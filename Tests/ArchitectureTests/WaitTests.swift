import Testing
import UprightTestSupport

/// A wait ends when what it waits for happens, or at a deadline of a monotonic clock: ARCHITECTURE.md, "One wait".
@Suite("One wait")
struct WaitTests {
  /// What sleeps in slices, or waits by the wall clock on Linux.
  private static let forbidden = [
    "NSCondition", "Thread.sleep", "usleep(", "nanosleep(", " sleep(", "wait(timeout:",
    "wait(wallTimeout:", "wallDeadline:", "sem_timedwait(",
  ]
  /// What only one file has: the condition, and the date.
  private static let single = ["pthread_cond_timedwait(": 1, "CLOCK_REALTIME": 1]

  @Test("Nothing in the sources sleeps in slices or waits by the wall clock")
  func waits() throws {
    let files = try SourceFile.all(in: ["Sources", "Service/Sources"])
    #expect(files.count > 300)
    for file in files {
      for line in file.lines where !line.contains("//") {
        for word in Self.forbidden where line.contains(word) {
          Issue.record("\(file.path): \(line)")
        }
      }
    }
    for (word, count) in Self.single {
      let users = files.filter { $0.lines.contains { $0.contains(word) } }.map(\.path)
      #expect(users.count <= count, "\(users)")
    }
  }
}
