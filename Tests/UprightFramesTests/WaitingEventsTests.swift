import UprightPolicy
import Testing
import UprightFrames

@Suite("Events that wait for their frame")
struct WaitingEventsTests {
  private static func device(_ value: Int) -> RotationEvent.Action {
    .gravity(x: Double(value), y: 0, z: 0)
  }

  private func add(_ events: [StreamEvent], to queue: inout WaitingEvents<Int>) throws -> [Bool] {
    try events.map { try queue.add($0, sender(of: $0)) }
  }

  private func sender(of event: StreamEvent) -> Int {
    guard case .gravity(let x, _, _) = event.action else { return 0 }
    return Int(x)
  }

  @Test("Events are taken at their frame, those of one time in the order of posting")
  func order() throws {
    var queue = WaitingEvents<Int>()
    #expect(
      try add(
        [.at(0.5, Self.device(1)), .at(0.2, Self.device(2)), .at(0.5, Self.device(3))], to: &queue)
        == [false, false, false])
    #expect(queue.take(upTo: 0.1).isEmpty)
    // The first frame within a millisecond of the event's time has it.
    #expect(queue.take(upTo: 0.1995).map(\.sender) == [2])
    let due = queue.take(upTo: 0.6)
    #expect(due.map(\.sender) == [1, 3] && due.map(\.event.at) == [0.5, 0.5])
    #expect(queue.isEmpty)
  }

  @Test("Events for now and late ones take effect at the next frame, and have its time")
  func late() throws {
    var queue = WaitingEvents<Int>()
    #expect(try add([.now(Self.device(1))], to: &queue) == [true])
    #expect(queue.take(upTo: 5).map(\.event.at) == [5])
    let isNext = try add(
      [
        .at(3, Self.device(1)), .at(5.01, Self.device(2)), .now(Self.device(3)),
        .at(-1, Self.device(4)),
        .at(5, Self.device(5)), .at(6, Self.device(6)),
      ], to: &queue)
    #expect(isNext == [true, false, true, true, true, false])
    let due = queue.take(upTo: 5.04)
    #expect(due.map(\.sender) == [2, 1, 3, 4, 5])
    #expect(due.map(\.event.at) == [5.01, 5.04, 5.04, 5.04, 5.04])
    #expect(due.map(\.isNext) == [false, true, true, true, true])
    #expect(queue.take(upTo: 7).map(\.sender) == [6])
  }

  @Test("Times that are no times are refused, and so are too many events")
  func bounds() throws {
    var queue = WaitingEvents<Int>()
    for time in [Double.nan, .infinity, -.infinity, 1.1e9, -1.1e9] {
      let error = #expect(throws: UprightError.self) { try queue.add(.at(time, .dismiss), 0) }
      #expect(error?.code == .badData)
    }
    for _ in 0..<EventInbox.capacity { try queue.add(.now(.dismiss), 0) }
    let error = #expect(throws: UprightError.self) { try queue.add(.now(.dismiss), 0) }
    #expect(error?.code == .usage)
  }
}
