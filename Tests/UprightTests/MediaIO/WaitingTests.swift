import Glibc
import Synchronization
import Testing
import UprightOrientation
import UprightTestSupport

@testable import UprightMediaIO
@testable import UprightMedia

/// Waits end when they are woken. A wait that isn't would end after two minutes here.
@Suite struct WaitingTests {
  /// Runs `wait` on a thread, and `wake` when it has begun. Returns what `wait` returned; `nil` if it took a minute.
  private func woken<Value: Sendable>(
    _ wait: @escaping @Sendable () -> Value, by wake: () -> Void
  ) -> Value? {
    let thread = WorkThread(name: "waiting", wait)
    Latch().wait(until: .now + .milliseconds(30))
    let begin = ContinuousClock.now
    wake()
    let value = thread.join()
    return begin.secondsUntilNow < 60 ? value : nil
  }

  @Test("A condition's deadline passes, however often it is woken before")
  func deadline() {
    let condition = WaitCondition()
    let begin = ContinuousClock.now
    let isOver = woken {
      condition.withLock { !condition.wait(while: true, until: begin + .milliseconds(200)) }
    } by: {
      for _ in 0..<5 { condition.withLock { condition.broadcast() } }
    }
    #expect(isOver == true && begin.secondsUntilNow >= 0.2)
    #expect(condition.withLock { condition.wait(while: false, until: begin) })
    #expect(!condition.withLock { condition.wait(while: true, until: begin) })
  }

  @Test("A latch lets its waiters through, then and later")
  func latch() {
    let latch = Latch()
    #expect(!latch.wait(until: .now + .milliseconds(10)))
    #expect(
      woken {
        latch.wait(until: .after(seconds: .infinity))
      } by: {
        latch.open()
      } == true)
    #expect(latch.isOpen && latch.wait())
  }

  @Test("An interrupt ends a pause, a wait for bytes, and a poll")
  func interrupt() {
    let pause = Interrupt()
    #expect(
      woken {
        pause.wait(until: .now + .seconds(120))
        return pause.isRaised
      } by: {
        pause.raise()
      } == true)
    let pipe = BytePipe(capacity: 10)
    let reading = Interrupt()
    let read: [UInt8]?? = woken {
      pipe.take(reading)
    } by: {
      reading.raise()
    }
    #expect(read == .some(nil))
    let polling = Interrupt()
    #expect(
      woken {
        var requests: [pollfd] = []
        return polling.poll(&requests)
      } by: {
        polling.raise()
      } == false)
    // Raised before the first poll.
    var requests: [pollfd] = []
    let raised = Interrupt()
    raised.raise()
    #expect(!raised.poll(&requests) && requests.isEmpty)
    let begin = ContinuousClock.now
    #expect(!Interrupt().poll(&requests, until: begin + .milliseconds(20)))
    #expect(begin.secondsUntilNow >= 0.02)
  }

  @Test("A queue's wait for an item is woken once")
  func queue() {
    let queue = BoundedQueue<Int>(capacity: 1)
    #expect(
      woken {
        queue.take(by: .now + .seconds(120)) == nil
      } by: {
        queue.wake()
      } == true)
    let begin = ContinuousClock.now
    #expect(queue.take(by: begin + .milliseconds(20)) == nil && begin.secondsUntilNow >= 0.02)
    #expect(
      woken {
        queue.take(by: .now + .seconds(120))
      } by: {
        _ = queue.put(7)
      } == .some(.some(7)))
  }

  @Test("An interrupt ends the wait for the other end of a named pipe")
  func pipe() throws {
    let scratch = try Scratch()
    let path = scratch.path("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let writing = Interrupt()
    let code = woken {
      Self.failure { try NamedPipe.openForWriting(path, writing) }
    } by: {
      writing.raise()
    }
    #expect(code == .cancelled)
    let reading = Interrupt()
    let other = woken {
      Self.failure { try NamedPipe.openForReading(path, reading) }
    } by: {
      reading.raise()
    }
    #expect(other == .cancelled)
  }

  private static func failure<Value>(_ body: () throws -> Value) -> UprightError.Code? {
    do { _ = try body() } catch { return (error as? UprightError)?.code }
    return nil
  }
}
