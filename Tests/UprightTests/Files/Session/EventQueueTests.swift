import Testing
import UprightOrientation
import UprightPolicy

@testable import UprightFiles

@Suite struct EventQueueTests {
  private static let events = [0.0, 1, 1, 2.5].map { RotationEvent(at: $0, .lock(true)) }

  /// A class around the feed, because the expectation macro doesn't support mutating calls.
  private final class Feed {
    private var feed: EventQueue

    init(_ source: EventSource, offset: Double) { feed = EventQueue(source, offset: offset) }

    func times(upTo seconds: Double = .infinity) throws -> [Double] {
      try feed.take(upTo: seconds).map(\.at)
    }
  }

  @Test("Events are returned up to a time, once each, in order")
  func due() throws {
    let feed = Feed(.list(Self.events), offset: 0)
    #expect(try feed.times(upTo: -1) == [])
    #expect(try feed.times(upTo: 0) == [0])
    #expect(try feed.times(upTo: 0.999) == [])
    #expect(try feed.times(upTo: 1) == [1, 1])
    #expect(try feed.times() == [2.5])
    #expect(try feed.times() == [])
  }

  @Test("An offset moves events, and those before the start apply at the start")
  func offset() throws {
    let later = Feed(.list(Self.events), offset: 2)
    #expect(try later.times(upTo: 3) == [2, 3, 3])
    let earlier = Feed(.list(Self.events), offset: -2)
    #expect(try earlier.times(upTo: 0) == [0, 0, 0])
    #expect(try earlier.times() == [0.5])
  }

  @Test("No events")
  func none() throws {
    #expect(try Feed(.none, offset: 5).times() == [])
  }
}
