package import RotationPolicy
package import UprightLive
package import UprightMediaIO
package import UprightPipeline

/// A live session as the service sees it; `LiveSession` is one.
package protocol Session: Sendable {
  /// Begins; `observe` is called from the session's own threads.
  func start(observe: @escaping @Sendable (LiveUpdate) -> Void)
  /// Waits until whoever sends may do so; false where that did not come in time. Blocks.
  func listens(within seconds: Double) -> Bool
  /// Events in the order they came; the decisions on those that the next frame obeys, when it has come.
  func post(_ events: [RotationEvent]) async throws(MediaError) -> [RotationDecision]
  var snapshot: LiveSnapshot { get }
  /// Closes every output so that it plays; returns at once.
  ///
  /// - Parameter comesBack: whether a later run of the service goes on with it.
  func stop(comesBack: Bool)
  /// Waits for the end; false where it did not come in time. Blocks.
  func join(timeout: Double) -> Bool
}

/// What makes sessions, and reads the command line's options by name.
package struct SessionEngine: Sendable {
  /// Checks a configuration; opens nothing yet.
  package var make: @Sendable (LiveConfiguration) throws(MediaError) -> any Session
  /// Reads words of the command line, as in `--size 720p`.
  package var options: @Sendable ([String]) throws(MediaError) -> TranscodeOptions

  package init(
    make: @escaping @Sendable (LiveConfiguration) throws(MediaError) -> any Session,
    options: @escaping @Sendable ([String]) throws(MediaError) -> TranscodeOptions
  ) {
    self.make = make
    self.options = options
  }
}

extension LiveSession: Session {}
