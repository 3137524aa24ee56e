internal import Synchronization
internal import Upright
internal import UprightPolicy

/// The updates of all sessions. Whoever needs them subscribes once, when the service is made.
final class SessionUpdates: Sendable {
  enum Update: Sendable {
    case live(LiveUpdate)
    /// A recording is finished or has failed.
    case recording(JSONValue)
    /// The input led to a forbidden address.
    case refused(String)
  }

  typealias Subscriber = @Sendable (_ session: String, Update) -> Void

  private let subscribers = Mutex<[Subscriber]>([])

  func subscribe(_ body: @escaping Subscriber) { subscribers.withLock { $0.append(body) } }

  /// Calls the subscribers, in the order of their subscription, on the calling thread.
  func publish(_ update: Update, of session: String) {
    for subscriber in subscribers.withLock({ $0 }) { subscriber(session, update) }
  }
}
