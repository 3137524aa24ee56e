internal import HTTPTypes
internal import Synchronization
internal import Upright

/// The publisher of a session whose input is WHIP. There is at most one at a time.
final class WHIPInput: Sendable {
  private struct State: Sendable {
    var publication: Publication?
    var isJoining = false
  }

  let feed = ForwardedFeed()
  private let server: WebRTCServer
  private let session: String
  /// The limit for the video, in bits per second; `nil` for none.
  private let bitrate: Int?
  private let state = Mutex(State())

  init(_ server: WebRTCServer, session: String, bitrate: Int?) {
    self.server = server
    self.session = session
    self.bitrate = bitrate
  }

  /// Connects a publisher.
  ///
  /// - Throws: `Problem` 409 if there is another one, 422 if the offer isn't accepted, 503 if Janus fails.
  func publish(_ offer: PublishOffer) async throws -> Publication {
    let reserved: Result<Publication?, Problem> = state.withLock { state in
      let current = state.publication.flatMap { $0.hasEnded ? nil : $0 }
      guard !state.isJoining, current?.isStalled ?? true else {
        return .failure(.conflict("the session has a publisher"))
      }
      state.isJoining = true
      return .success(current)
    }
    defer { state.withLock { $0.isJoining = false } }
    // A publisher that has lost its network comes back before Janus has noticed.
    try await reserved.get()?.end(because: "the publisher has connected again")
    guard !feed.isClosed else { throw Problem.conflict("the session has ended") }
    do {
      let publication = try await server.publish(
        offer, session: session, to: feed, bitrate: bitrate)
      state.withLock { $0.publication = publication }
      return publication
    } catch {
      let problem = Problem(error)
      if problem.status == .serviceUnavailable { feed.refuse(because: problem.detail) }
      throw error
    }
  }

  /// Returns the current publication.
  ///
  /// - Throws: `Problem` 404 if it isn't the one with this name.
  func find(_ id: String) throws(Problem) -> Publication {
    guard let publication = state.withLock({ $0.publication }), publication.id == id,
      !publication.hasEnded
    else { throw .notFound("there is no such publication, or it has ended") }
    return publication
  }

  /// Disconnects the publisher, if there is one.
  func end() async { await state.withLock { $0.publication }?.end() }
}
