internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Synchronization
internal import Upright

/// `GET /v1/sessions/{id}/thumbnail`: a small picture of what a session sends now.
final class Thumbnails: Sendable {
  private struct Entry: Sendable {
    let session: ObjectIdentifier
    let made: ContinuousClock.Instant
    let bytes: [UInt8]
  }

  /// The time for which a picture is shown to everyone who asks. Making one takes the session about a millisecond.
  private static let age = Duration.seconds(2)
  private static let most = 256

  private let sessions: Sessions
  /// By the session's name.
  private let entries = Mutex<[String: Entry]>([:])

  init(sessions: Sessions) { self.sessions = sessions }

  func add(to router: Router<ServiceContext>) {
    router.get("/v1/sessions/:id/thumbnail") { [self] request, context in
      let bytes = try await picture(of: sessions.find(context))
      let headers: HTTPFields = [
        .contentType: "image/jpeg", .cacheControl: "private, max-age=2",
        // Pages of other origins must not show it, whatever cookie the browser sends.
        .crossOriginResourcePolicy: "same-origin",
      ]
      return Response(
        status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
  }

  private func picture(of hosted: HostedSession) async throws -> [UInt8] {
    let session = ObjectIdentifier(hosted)
    let known = entries.withLock { $0[hosted.id] }
    if let known, known.session == session, known.made + Self.age > .now { return known.bytes }
    guard !hosted.hasEnded else { throw Problem.conflict("the session has ended") }
    guard let picture = await hosted.session.picture() else {
      throw Problem(.notFound, "Not found", "the session has no frame yet", retryAfter: 2)
    }
    let bytes = try picture.jpeg()
    entries.withLock { entries in
      if entries.count >= Self.most { entries = [:] }
      entries[hosted.id] = Entry(session: session, made: .now, bytes: bytes)
    }
    return bytes
  }
}

extension HTTPField.Name {
  /// Fetch, 3.7.
  static let crossOriginResourcePolicy = Self.known("Cross-Origin-Resource-Policy")
}
