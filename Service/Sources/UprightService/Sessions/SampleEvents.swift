internal import CUprightConsole
internal import UprightPolicy
internal import Upright

/// Posts the events of the sample's file to its session, each time that the file is repeated.
struct SampleEvents: Sendable {
  private let events: [RotationEvent]
  /// The duration of the file, in seconds.
  private static let duration = 10.0
  /// The time by which an event is posted before it is due, in seconds.
  private static let lead = 0.5

  init() {
    let text = unsafe upright_sample_events.content
    events = (try? RotationEvent.parse(jsonLines: text)) ?? []
  }

  /// Posts events until the session has ended, or the task is cancelled.
  func run(_ hosted: HostedSession) async {
    guard !events.isEmpty else { return }
    var next = 0
    while !Task.isCancelled, !hosted.hasEnded {
      let now = hosted.snapshot.seconds
      let (repetition, index) = next.quotientAndRemainder(dividingBy: events.count)
      let at = events[index].at + Self.duration * Double(repetition)
      if at < now {
        // It was due before this began.
        next += 1
      } else if at <= now + Self.lead {
        _ = try? await hosted.session.post([.at(at, events[index].action)])
        next += 1
      } else {
        // A session that is slower than its input is looked at again.
        try? await Task.sleep(for: .seconds(max(0.05, at - Self.lead - now)))
      }
    }
  }
}
